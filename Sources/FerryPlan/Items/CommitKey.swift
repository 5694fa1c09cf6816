/// The idempotency key that a commit carries: a header field. The journal keeps it with the commit's intent, because
/// the server recognizes a repetition only by the same field with the same value.
package struct CommitKey: Hashable, Sendable {
  /// The field's name.
  package var header: String
  package var value: String

  package init(header: String, value: String) {
    self.header = header
    self.value = value
  }

  /// Whether the key is in a field of this name; field names are case-insensitive (RFC 9110 §5.1).
  package func isIn(_ header: String) -> Bool { self.header.lowercased() == header.lowercased() }
}
