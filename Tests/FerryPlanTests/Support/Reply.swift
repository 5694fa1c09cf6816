import FerryPlan

/// A request as the simulated server sees it.
struct Call {
  var attempt: Attempt
  /// Which attempt at this step of this place, in this launch; from 1.
  var number: Int
  var node: String
  var path: String
  /// The upload ID that it carries.
  var uploadID: Int?
  var now: Instant

  var step: Step.Kind { attempt.step }
}

/// What becomes of a request.
struct Reply {
  var answer: AttemptResult.Answer
  var after: Duration
  /// What an allocation gives out.
  var uploadID: Int?

  static func status(
    _ status: Int, after: Duration = .milliseconds(10), retryAfter: Duration? = nil, expires: Instant? = nil,
    origins: [Step.Kind: Origin] = [:]
  ) -> Reply {
    Reply(
      answer: .response(.init(status: status, retryAfter: retryAfter, expires: expires, origins: origins)),
      after: after)
  }

  static func fails(
    _ code: TransportFailure.Code, reached: Bool, after: Duration = .milliseconds(10)
  ) -> Reply {
    Reply(answer: .failure(.init(code, "made up", mayHaveReachedServer: reached)), after: after)
  }

  static var lost: Reply { fails(.connectionLost, reached: true) }
  static var refused: Reply { fails(.connect, reached: false) }
}
