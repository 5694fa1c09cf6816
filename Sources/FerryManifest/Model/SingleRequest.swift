/// A single request in the graph, for example to send a notification, finalize a set or warm a cache.
package struct SingleRequest: Equatable, Sendable {
  package enum When: String, Codable, Sendable, CaseIterable {
    case succeeded
    case failed
    case always
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  /// The outcome of the nodes in `needs` that allows the request to run. Default succeeded.
  package var when: When
  package var request: RequestTemplate
  package var expect: Expectation
  package var capture: [Capture]
  package var retry: RetryPolicy
  /// Whether the run and the nodes that wait for the request continue as if the request had succeeded.
  /// Default false.
  package var isOptional = false
  /// Whether the request may be sent again although an earlier attempt may have been executed. Default false.
  package var isRepeatable = false
  /// The header field that identifies a repeated request to the server.
  package var idempotencyHeader: String?

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [],
    when: When = .succeeded, request: RequestTemplate, expect: Expectation = .init(), capture: [Capture] = [],
    retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.when = when
    self.request = request
    self.expect = expect
    self.capture = capture
    self.retry = retry
  }
}

extension SingleRequest {
  /// Whether the request is sent again after an unclear outcome.
  package var isRepeated: Bool { request.isIdempotent || isRepeatable || idempotencyHeader != nil }
}
