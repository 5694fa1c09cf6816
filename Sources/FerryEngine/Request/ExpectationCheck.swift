import FerryManifest
import FerryTransfer

/// Checks a response's header fields and body against the manifest. The status is checked elsewhere.
package enum ExpectationCheck {
  /// Why a response does not meet the expectation.
  package struct Mismatch: Equatable, Sendable {
    /// Quotes the manifest, and nothing of the response.
    package var message: String
    package var kind: Kind

    package enum Kind: Sendable {
      /// The response has another value.
      case different
      /// JSON is expected and the body could not be parsed, so the response is not a refusal either.
      case unreadable
      /// ferry stopped the search early: the response may meet the expectation.
      case undecided
    }
  }

  /// The header field that did not match; `nil` if all did.
  static func headerMismatch(_ expectation: Expectation, _ answer: TransferResponse) -> String? {
    for header in expectation.headers {
      let fields = answer.headers.filter { $0.name.isField(named: header.name) }
      guard !fields.isEmpty else { return "no header '\(header.name)' in the response" }
      if !fields.contains(where: { $0.value.utf8.elementsEqual(header.value.utf8) }) {
        return "the header '\(header.name)' is not as expected"
      }
    }
    return nil
  }

  /// What did not match; `nil` if everything did.
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

  /// A header field does not match. Also check whether the body can be parsed, because that decides what a probe's
  /// response means.
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

  /// Every number that a manifest can contain has fewer characters than this.
  private static let longestNumber = 1_000

  /// Compares scalars by type and value: `1` equals `1.0` and not `"1"`.
  private static func isEqual(_ value: JSONValue, _ expected: JSONTemplate) -> Bool {
    switch (value, expected) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): b.constant.map { $0.utf8.elementsEqual(a.utf8) } ?? false
    // Do not convert a million digits.
    case (.number(let a), _) where a.utf8.count > longestNumber: false
    case (.number(let a), .integer(let b)): Int64(a).map { $0 == b } ?? (Double(a) == Double(b))
    case (.number(let a), .number(let b)): Double(a) == b
    case (.null, _), (.bool, _), (.string, _), (.number, _), (.array, _), (.object, _): false
    }
  }
}
