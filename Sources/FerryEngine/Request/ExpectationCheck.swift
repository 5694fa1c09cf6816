import FerryManifest
import FerryTransfer

/// Whether an answer's header fields and body are as the manifest expects; its status is judged elsewhere.
package enum ExpectationCheck {
  /// Why an answer is not what is expected.
  package struct Mismatch: Equatable, Sendable {
    /// In words of the manifest and none of the answer.
    package var message: String
    package var kind: Kind

    package enum Kind: Sendable {
      /// The answer says something else.
      case different
      /// JSON is asked for and the body could not be read as such: then it does not say no either.
      case unreadable
      /// ferry gave the search up: the answer may be what is expected.
      case undecided
    }
  }

  /// Which header field did not match; `nil` where all did.
  static func headerMismatch(_ expectation: Expectation, _ answer: TransferResponse) -> String? {
    for header in expectation.headers {
      let name = header.name.lowercased()
      let fields = answer.headers.filter { $0.name.lowercased() == name }
      guard !fields.isEmpty else { return "no header '\(header.name)' in the response" }
      if !fields.contains(where: { $0.value.utf8.elementsEqual(header.value.utf8) }) {
        return "the header '\(header.name)' is not as expected"
      }
    }
    return nil
  }

  /// What did not match; `nil` where all did.
  package static func mismatch(
    _ expectation: Expectation, _ answer: TransferResponse, _ patterns: Patterns
  ) -> Mismatch? {
    if let message = headerMismatch(expectation, answer) { return different(message, expectation, answer) }
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
          message: "the pattern of 'expect' takes too many steps on this response", kind: .undecided)
      }
    }
  }

  /// A header field is another; whether the body could be read is still asked, as that decides what a probe's answer means.
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
        return "no \(match.pointer) in the response's JSON"
      }
      if !isEqual(value, match.value) { return "\(match.pointer) in the response's JSON is not as expected" }
    }
    return nil
  }

  /// A number that the manifest can name has fewer characters than this.
  private static let longestNumber = 1_000

  /// Scalars, by type and value: `1` is `1.0` and not `"1"`.
  private static func isEqual(_ value: JSONValue, _ expected: JSONTemplate) -> Bool {
    switch (value, expected) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): b.constant.map { $0.utf8.elementsEqual(a.utf8) } ?? false
    // A million digits are not converted.
    case (.number(let a), _) where a.utf8.count > longestNumber: false
    case (.number(let a), .integer(let b)): Int64(a).map { $0 == b } ?? (Double(a) == Double(b))
    case (.number(let a), .number(let b)): Double(a) == b
    case (.null, _), (.bool, _), (.string, _), (.number, _), (.array, _), (.object, _): false
    }
  }
}
