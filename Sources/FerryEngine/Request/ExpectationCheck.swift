import FerryManifest
import FerryTransfer

/// Whether an answer's header fields and body are as the manifest expects; its status is judged elsewhere.
package enum ExpectationCheck {
  /// What did not match, in words of the manifest and none of the answer; `nil` where all did.
  package static func mismatch(_ expectation: Expectation, _ answer: TransferAnswer) -> String? {
    headerMismatch(expectation, answer) ?? bodyMismatch(expectation, answer)
  }

  static func headerMismatch(_ expectation: Expectation, _ answer: TransferAnswer) -> String? {
    for header in expectation.headers {
      let name = header.name.lowercased()
      let fields = answer.headers.filter { $0.name.lowercased() == name }
      guard !fields.isEmpty else { return "no header '\(header.name)' in the answer" }
      if !fields.contains(where: { $0.value.utf8.elementsEqual(header.value.utf8) }) {
        return "the header '\(header.name)' is not as expected"
      }
    }
    return nil
  }

  private static func bodyMismatch(_ expectation: Expectation, _ answer: TransferAnswer) -> String? {
    var reader = AnswerReader(answer)
    for match in expectation.json {
      guard let json = reader.bodyJSON() else { return "the answer is not JSON" }
      guard let value = json.value(at: match.pointer) else {
        return "no \(match.pointer) in the answer's JSON"
      }
      if !isEqual(value, match.value) { return "\(match.pointer) in the answer's JSON is not as expected" }
    }
    if let pattern = expectation.regex {
      do {
        if try reader.firstMatch(pattern) == nil { return "the answer does not match the expected pattern" }
      } catch {
        return "the expected pattern does not compile"
      }
    }
    return nil
  }

  /// Whether JSON is asked for and the body is none: then it does not say no either.
  package static func isUnreadable(_ expectation: Expectation, _ answer: TransferAnswer) -> Bool {
    guard !expectation.json.isEmpty else { return false }
    var reader = AnswerReader(answer)
    return reader.bodyJSON() == nil
  }

  /// Scalars, by type and value: `1` is `1.0` and not `"1"`.
  private static func isEqual(_ value: JSONValue, _ expected: JSONTemplate) -> Bool {
    switch (value, expected) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): b.constant.map { $0.utf8.elementsEqual(a.utf8) } ?? false
    case (.number(let a), .integer(let b)): Int64(a).map { $0 == b } ?? (Double(a) == Double(b))
    case (.number(let a), .number(let b)): Double(a) == b
    case (.null, _), (.bool, _), (.string, _), (.number, _), (.array, _), (.object, _): false
    }
  }
}
