import FerryManifest
import FerryPlan
import FerryTransfer

/// Extracts captures from a response.
package enum CaptureReader {
  /// The maximum total size of a response's captures in bytes, unless a single capture may be larger.
  static let sumLimit: Int64 = 256 << 10

  /// Extracts the captures.
  ///
  /// - Throws: a failure with the code `capture` that names the missing value, without content of the
  ///   response.
  package static func read(
    _ captures: [Capture], from answer: TransferResponse, _ patterns: Patterns
  ) throws(TransportFailure) -> [CapturedValue] {
    var reader = ResponseReader(answer, patterns)
    var values: [CapturedValue] = []
    values.reserveCapacity(captures.count)
    let total = max(sumLimit, captures.compactMap(\.maxSize).max() ?? 0)
    var room = total
    for capture in captures {
      if capture.isOptional, try isAbsent(capture, in: &reader) { continue }
      let value = try value(of: capture, in: &reader)
      let (size, limit) = (Int64(value.utf8.count), capture.maxSize ?? Capture.defaultMaxSize)
      guard size <= limit else {
        throw failure(
          "the size of '\(capture.name)' is \(size) bytes, which exceeds its 'max_size' of \(limit)")
      }
      room -= size
      guard room >= 0 else { throw failure("the captured values are larger than \(total) bytes in total") }
      values.append(CapturedValue(name: capture.name, value: value, isSecret: capture.isSecret))
    }
    return values
  }

  /// Whether the JSON of a response lacks an optional value.
  private static func isAbsent(
    _ capture: Capture, in reader: inout ResponseReader
  ) throws(TransportFailure) -> Bool {
    guard case .json(let pointer) = capture.source, let json = try? reader.bodyJSON() else { return false }
    switch json.value(at: pointer) {
    case .string, .number, .bool: return false
    case nil, .null, .array, .object: return true
    }
  }

  private static func value(
    of capture: Capture, in reader: inout ResponseReader
  ) throws(TransportFailure) -> String {
    switch capture.source {
    case .status: return String(reader.answer.status)
    case .header(let name):
      guard let value = reader.answer.header(name) else {
        throw failure("the response has no header '\(name)'")
      }
      return value
    case .json(let pointer):
      let json: JSONValue
      do throws(JSONProblem) {
        json = try reader.bodyJSON()
      } catch {
        throw failure(error.message)
      }
      return try scalar(json.value(at: pointer), pointer: pointer)
    case .xml(let path):
      let xml: XMLValue
      do throws(XMLProblem) {
        xml = try reader.bodyXML()
      } catch {
        throw failure(error.message)
      }
      return try text(xml.first(at: path), path: path)
    case .regex(let pattern):
      let match: Pattern.Match?
      do throws(SearchFailure) {
        match = try reader.firstMatch(pattern)
      } catch {
        switch error {
        case .malformed: throw failure("the pattern of '\(capture.name)' does not compile")
        case .tooMuchWork:
          throw failure("searching this response for the pattern of '\(capture.name)' takes too many steps")
        }
      }
      guard let group = match?.firstGroup else {
        throw failure("the pattern of '\(capture.name)' does not match the response")
      }
      return group
    }
  }

  private static func scalar(_ value: JSONValue?, pointer: String) throws(TransportFailure) -> String {
    let place = pointer.isEmpty ? "the root value" : pointer
    switch value {
    case .string(let text), .number(let text): return text
    case .bool(let flag): return flag ? "true" : "false"
    case .null?: throw failure("\(place) in the response's JSON is null")
    case .array: throw failure("\(place) in the response's JSON is an array")
    case .object: throw failure("\(place) in the response's JSON is an object")
    case nil: throw failure("there is no \(place) in the response's JSON")
    }
  }

  private static func text(_ element: XMLValue?, path: String) throws(TransportFailure) -> String {
    guard let element else { throw failure("there is no element \(path) in the response's XML") }
    guard let text = element.text else {
      throw failure("the element \(path) in the response's XML contains elements")
    }
    return text
  }

  private static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.capture, message, mayHaveReachedServer: true)
  }
}
