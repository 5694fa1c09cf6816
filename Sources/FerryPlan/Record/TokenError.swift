/// The error that an OAuth 2.0 server reports in its response to a request for an access token (RFC 6749, section 5.2).
package struct TokenError: Hashable, Sendable {
  /// The error code, such as `invalid_grant`, with the server's description and without secrets.
  package var text: String
  /// Whether the same request may succeed later.
  package var isTemporary: Bool
  /// The remedy; `nil` if none is known.
  package var remedy: String?

  package init(text: String, isTemporary: Bool, remedy: String? = nil) {
    self.text = text
    self.isTemporary = isTemporary
    self.remedy = remedy
  }

  /// The failure of the request.
  func failure(status: Int) -> RecordedFailure {
    RecordedFailure(
      code: .httpStatus, status: status,
      message: "the server reports \(text)" + (remedy.map { "; \($0)" } ?? ""))
  }
}
