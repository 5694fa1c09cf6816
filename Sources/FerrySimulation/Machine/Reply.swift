import FerryPlan

/// The outcome of a simulated request.
package struct Reply: Sendable {
  package var answer: AttemptResult.Answer
  package var after: Duration
  /// The upload ID that an allocation returns.
  package var uploadID: Int?
  /// The body bytes transferred before the request ends.
  package var sent: Int64 = 0
  package var received: Int64 = 0
  /// The bytes of header fields and other overhead, in both directions.
  package var overhead: Int64 = 0
  /// The time that a canceled request takes to end.
  package var lingers: Duration = .zero

  package init(answer: AttemptResult.Answer, after: Duration) {
    self.answer = answer
    self.after = after
  }

  package static func status(
    _ status: Int, after: Duration = .milliseconds(10), retryAfter: Duration? = nil, expires: Instant? = nil,
    origins: [Step.Kind: Origin] = [:], offset: Int64? = nil
  ) -> Reply {
    var response = AttemptResult.Response(
      status: status, retryAfter: retryAfter, expires: expires, origins: origins,
      condition: status == 304 ? .recorded(isNamed: true) : .absent)
    response.offset = offset
    return Reply(answer: .response(response), after: after)
  }

  package static func fails(
    _ code: TransportFailure.Code, reached: Bool, after: Duration = .milliseconds(10)
  ) -> Reply {
    Reply(answer: .failure(.init(code, "made up", mayHaveReachedServer: reached)), after: after)
  }

  package static var lost: Reply { fails(.connectionLost, reached: true) }
  package static var refused: Reply { fails(.connect, reached: false) }
}
