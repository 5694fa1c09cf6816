import FerryManifest
import FerryPlan
import FerryTransfer

/// Takes captures out of an answer.
package enum CaptureReader {
  /// - Throws: a failure of code `capture` that says what is missing; it holds nothing of the answer.
  package static func read(
    _ captures: [Capture], from answer: TransferAnswer
  ) throws(TransportFailure) -> [CapturedValue] {
    var reader = AnswerReader(answer)
    var values: [CapturedValue] = []
    values.reserveCapacity(captures.count)
    for capture in captures {
      let value = try value(of: capture, in: &reader)
      values.append(CapturedValue(name: capture.name, value: value, isSecret: capture.isSecret))
    }
    return values
  }

  private static func value(
    of capture: Capture, in reader: inout AnswerReader
  ) throws(TransportFailure) -> String {
    switch capture.source {
    case .status: return String(reader.answer.status)
    case .header(let name):
      guard let value = reader.answer.header(name) else { throw failure("no header '\(name)' in the answer") }
      return value
    case .json(let pointer):
      guard let json = reader.bodyJSON() else { throw failure("the answer is not JSON") }
      return try scalar(json.value(at: pointer), pointer: pointer)
    case .xml: throw failure("captures from XML are not built yet")
    case .regex(let pattern):
      let match: Regex<AnyRegexOutput>.Match?
      do {
        match = try reader.firstMatch(pattern)
      } catch {
        throw failure("the pattern of '\(capture.name)' does not compile")
      }
      guard let match, match.output.count > 1, let group = match.output[1].substring else {
        throw failure("the pattern of '\(capture.name)' does not match the answer")
      }
      return String(group)
    }
  }

  private static func scalar(_ value: JSONValue?, pointer: String) throws(TransportFailure) -> String {
    let place = pointer.isEmpty ? "the whole" : pointer
    switch value {
    case .string(let text), .number(let text): return text
    case .bool(let flag): return flag ? "true" : "false"
    case .null?: throw failure("\(place) in the answer's JSON is null")
    case .array: throw failure("\(place) in the answer's JSON is an array")
    case .object: throw failure("\(place) in the answer's JSON is an object")
    case nil: throw failure("no \(place) in the answer's JSON")
    }
  }

  private static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.capture, message, mayHaveReachedServer: true)
  }
}
