import FerryPlan

/// The outcome of a simulated request.
package struct Reply: Sendable {
  package var answer: AttemptResult.Answer
  package var after: Duration
  /// The upload ID that an allocation returns.
  package var uploadID: Int?
  /// The upload resource that the server assigns to a transfer, and the time until the client learns of it. If the request
  /// ends earlier, the client learns of it only from a response.
  package var resource: (id: Int, after: Duration)?
  /// The origins of the resource, by the steps that use it; empty if it is at the server of the request.
  package var resourceOrigins: [Step.Kind: Origin] = [:]
  /// The limits that the server states with the resource.
  package var limit: UploadLimit?
  /// The expiry that the server states with the resource.
  package var expires: Instant?
  /// The body bytes transferred before the request ends.
  package var sent: Int64 = 0
  package var received: Int64 = 0
  /// The bytes of the file that the request has sent; `nil` for all.
  package var sentOfFile: Int64?
  /// The state of the download's part after the request; `nil` if there is no part.
  package var part: PartProgress?
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
    origins: [Step.Kind: Origin] = [:], offset: Int64? = nil, transfer: TransferReading = .other
  ) -> Reply {
    var response = AttemptResult.Response(
      status: status, retryAfter: retryAfter, expires: expires, origins: origins,
      condition: status == 304 ? .recorded(isNamed: true) : .absent)
    response.transfer = offset.map { .offset($0) } ?? transfer
    return Reply(answer: .response(response), after: after)
  }

  /// A response to a part that does not begin at the server's offset.
  package static var offsetRefused: Reply { .status(409, transfer: .refused) }

  package static func fails(
    _ code: TransportFailure.Code, reached: Bool, after: Duration = .milliseconds(10)
  ) -> Reply {
    Reply(answer: .failure(.init(code, "made up", mayHaveReachedServer: reached)), after: after)
  }

  package static var lost: Reply { fails(.connectionLost, reached: true) }
  package static var refused: Reply { fails(.connect, reached: false) }
}
