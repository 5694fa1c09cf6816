/// A step that fetches an authorization token.
package struct TokenStep: Equatable, Sendable {
  package var name: Located<String>
  package var session: Located<String>
  package var request: RequestTemplate
  package var expect: Expectation
  /// The captures. `expires_in` (seconds after the response) and `expires_at` (RFC 3339 or Unix seconds)
  /// determine the lifetime of the token.
  package var capture: [Capture]
  /// How the requests of nodes that name this token carry the token.
  package var apply: TokenApplication
  /// Origins to which the token may be sent, in addition to the origins of the manifest's own URLs.
  package var applyOrigins: [OriginPattern]
  package var refresh: Refresh
  package var retry: RetryPolicy

  package struct Refresh: Hashable, Codable, Sendable {
    /// The time before its expiry at which a token is refreshed. Default 30 s.
    package var beforeExpiry: Duration
    /// The status codes after which a token is refreshed; only 401 by default.
    package var onStatus: [Int]

    package init(beforeExpiry: Duration = .seconds(30), onStatus: [Int] = [401]) {
      self.beforeExpiry = beforeExpiry
      self.onStatus = onStatus
    }
  }

  package init(
    name: Located<String>, session: Located<String>, request: RequestTemplate, expect: Expectation = .init(),
    capture: [Capture], apply: TokenApplication, applyOrigins: [OriginPattern] = [],
    refresh: Refresh = .init(), retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.request = request
    self.expect = expect
    self.capture = capture
    self.apply = apply
    self.applyOrigins = applyOrigins
    self.refresh = refresh
    self.retry = retry
  }
}
