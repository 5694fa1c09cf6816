import FerryManifest
import FerryTransfer

/// Checks a response's header fields and body against the manifest. The status is checked elsewhere.
package enum ExpectationCheck {
  /// The reason why a response does not meet the expectation.
  package struct Mismatch: Equatable, Sendable {
    /// Quotes only the manifest, never the response.
    package var message: String
    package var kind: Kind

    package enum Kind: Sendable {
      /// The response has a different value.
      case different
      /// JSON is expected, but the body could not be parsed. The response is therefore not considered a
      /// refusal.
      case unreadable
      /// It is unknown whether the response meets the expectation, for example because ferry stopped a search early, or
      /// because an expected XML element is missing.
      case undecided
    }
  }

  /// A description of the first header mismatch; `nil` if all header fields match.
  static func headerMismatch(_ expectation: Expectation, _ answer: TransferResponse) -> String? {
    for header in expectation.headers {
      let fields = answer.headers.filter { $0.name.isField(named: header.name) }
      guard !fields.isEmpty else { return "the response has no header '\(header.name)'" }
      if !fields.contains(where: { $0.value.utf8.elementsEqual(header.value.utf8) }) {
        return "the header '\(header.name)' does not have the expected value"
      }
    }
    return nil
  }

  /// The reason why the body is not an XML document with this element and some text in it. S3 may respond with 200
  /// before it knows whether an upload can be completed, and then report an error in the body. Servers that imitate S3
  /// may spell the name of the error differently, such as `ErrorResponse`, or enclose it.
  private static func elementMismatch(_ path: String, _ answer: TransferResponse) -> Mismatch? {
    guard !answer.isBodyCut, let document = try? XMLReader.read(answer.body) else {
      return .init(message: "the response is not an XML document", kind: .undecided)
    }
    if reportsError(document) {
      return .init(message: "the response reports an error", kind: .undecided)
    }
    guard let element = document.first(at: path) else {
      return .init(message: "there is no element \(path) in the response's XML", kind: .undecided)
    }
    // An ETag has quotation marks around it.
    guard let text = element.text, text.utf8.contains(where: { $0 != UInt8(ascii: "\"") }) else {
      return .init(message: "the element \(path) in the response's XML is empty", kind: .undecided)
    }
    return nil
  }

  private static func reportsError(_ element: XMLValue) -> Bool {
    element.name.lowercased().hasPrefix("error") || element.children.contains(where: reportsError)
  }

  /// The first mismatch; `nil` if the response meets the expectation.
  package static func mismatch(
    _ expectation: Expectation, _ answer: TransferResponse, _ patterns: Patterns
  ) -> Mismatch? {
    if let message = headerMismatch(expectation, answer) { return different(message, expectation, answer) }
    if let path = expectation.element, let mismatch = elementMismatch(path, answer) { return mismatch }
    var reader = ResponseReader(answer, patterns)
    if !expectation.json.isEmpty {
      do throws(JSONProblem) {
        let json = try reader.bodyJSON()
        if let message = mismatch(expectation.json, json) { return .init(message: message, kind: .different) }
      } catch {
        return .init(message: error.message, kind: .unreadable)
      }
    }
    guard let pattern = expectation.regex else { return nil }
    do throws(SearchFailure) {
      if try reader.firstMatch(pattern) != nil { return nil }
      return .init(message: "the response does not match the expected pattern", kind: .different)
    } catch {
      switch error {
      case .malformed: return .init(message: "the expected pattern does not compile", kind: .undecided)
      case .tooMuchWork:
        return .init(
          message: "searching this response for the pattern of 'expect' takes too many steps",
          kind: .undecided)
      }
    }
  }

  /// The mismatch of a header field. If the body cannot be parsed, the response is unreadable, which changes
  /// how a probe's response is interpreted.
  private static func different(
    _ message: String, _ expectation: Expectation, _ answer: TransferResponse
  ) -> Mismatch {
    guard !expectation.json.isEmpty else { return .init(message: message, kind: .different) }
    let isReadable = (try? JSONParser.parse(answer.body)) != nil
    return .init(message: message, kind: isReadable ? .different : .unreadable)
  }

  private static func mismatch(_ matches: [Expectation.JSONMatch], _ json: JSONValue) -> String? {
    for match in matches {
      guard let value = json.value(at: match.pointer) else {
        return "there is no \(match.pointer) in the response's JSON"
      }
      if !isEqual(value, match.value) {
        return "\(match.pointer) in the response's JSON does not have the expected value"
      }
    }
    return nil
  }

  /// An upper limit for the length of any number in a manifest, in characters.
  private static let longestNumber = 1_000

  /// Compares scalars by type and value: `1` equals `1.0`, but not `"1"`.
  private static func isEqual(_ value: JSONValue, _ expected: JSONTemplate) -> Bool {
    switch (value, expected) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): b.constant.map { $0.utf8.elementsEqual(a.utf8) } ?? false
    // Do not convert a number with a million digits.
    case (.number(let a), _) where a.utf8.count > longestNumber: false
    case (.number(let a), .integer(let b)): Int64(a).map { $0 == b } ?? (Double(a) == Double(b))
    case (.number(let a), .number(let b)): Double(a) == b
    case (.null, _), (.bool, _), (.string, _), (.number, _), (.array, _), (.object, _): false
    }
  }
}
