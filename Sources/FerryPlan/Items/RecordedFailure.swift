import FerryManifest

/// The reason why an item or node did not succeed, or is waiting, as recorded and reported.
package struct RecordedFailure: Hashable, Codable, Sendable {
  /// A stable code.
  package var code: FailureCode
  /// The HTTP status, if there was a response.
  package var status: Int?
  /// A message for users, which contains no secrets.
  package var message: String
  /// The time at which the reason ends without an event; `nil` if only an event ends it.
  package var until: Instant?
  /// The figures for a budget reason.
  package var budget: BudgetFigures?
  /// The details of the request that failed, which are not stored in the journal.
  package var detail: FailureDetail?

  package init(
    code: FailureCode, status: Int? = nil, message: String, until: Instant? = nil,
    budget: BudgetFigures? = nil, detail: FailureDetail? = nil
  ) {
    self.code = code
    self.status = status
    self.message = message
    self.until = until
    self.budget = budget
    self.detail = detail
  }

  /// The failure with the details of its request.
  package func with(_ detail: FailureDetail?) -> RecordedFailure {
    var failure = self
    failure.detail = detail
    return failure
  }
}

extension RecordedFailure {
  private enum Key: String, CodingKey {
    case code, status, message, until, budget, method, url, proxy, reasonPhrase, body
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    code = try container.decode(FailureCode.self, forKey: .code)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    message = try container.decode(String.self, forKey: .message)
    until = try container.decodeIfPresent(String.self, forKey: .until).flatMap { Instant(rfc3339: $0) }
    budget = try container.decodeIfPresent(BudgetFigures.self, forKey: .budget)
    detail = FailureDetail(
      method: try container.decodeIfPresent(String.self, forKey: .method),
      url: try container.decodeIfPresent(String.self, forKey: .url),
      proxy: try container.decodeIfPresent(String.self, forKey: .proxy),
      reasonPhrase: try container.decodeIfPresent(String.self, forKey: .reasonPhrase),
      body: try container.decodeIfPresent(String.self, forKey: .body))
    if detail == FailureDetail() { detail = nil }
  }

  /// Encodes `until` as RFC 3339, in UTC with milliseconds.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(code, forKey: .code)
    try container.encodeIfPresent(status, forKey: .status)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(until?.rfc3339, forKey: .until)
    try container.encodeIfPresent(budget, forKey: .budget)
    try container.encodeIfPresent(detail?.method, forKey: .method)
    try container.encodeIfPresent(detail?.url, forKey: .url)
    try container.encodeIfPresent(detail?.proxy, forKey: .proxy)
    try container.encodeIfPresent(detail?.reasonPhrase, forKey: .reasonPhrase)
    try container.encodeIfPresent(detail?.body, forKey: .body)
  }
}

/// The use of a budget, in bytes.
package struct BudgetFigures: Hashable, Codable, Sendable {
  package var network: Budget.Scope
  package var usedBytes: Int64
  package var limitBytes: Int64

  package init(network: Budget.Scope, usedBytes: Int64, limitBytes: Int64) {
    self.network = network
    self.usedBytes = usedBytes
    self.limitBytes = limitBytes
  }
}

extension RecordedFailure {
  /// The message for a response with an unexpected status.
  package static func statusMessage(_ status: Int, to method: String) -> String {
    "the server responded with \(status) to \(method)"
  }

  /// The reason recorded for work that a stopped launch leaves.
  package static let stopped = RecordedFailure(code: .stopped, message: "the launch was stopped")
  /// The reason recorded for work that a launch leaves when its deadline passes.
  package static let maxDuration = RecordedFailure(
    code: .maxDuration, message: "the launch reached its --max-duration")
  /// The reason recorded for requests of default sessions when the launch's execution window ends.
  package static let expired = RecordedFailure(
    code: .expired, message: "the launch's execution window has ended")
  /// The reason recorded for items that `ferry cancel` ends.
  package static let cancelled = RecordedFailure.cancelled(nil)

  /// The reason recorded for items that `ferry cancel` ends.
  ///
  /// - Parameters:
  ///   - reason: the text of `--reason`.
  ///   - removesSession: whether the session is removed too (`force_quit: remove_session`).
  package static func cancelled(_ reason: CancelReason?, removesSession: Bool = false) -> RecordedFailure {
    let message = "canceled by ferry cancel" + (removesSession ? " under force_quit: remove_session" : "")
    return RecordedFailure(
      code: removesSession ? .sessionRemoved : .cancelled,
      message: message + (reason.map { ": \($0.text)" } ?? ""))
  }

  /// Whether `ferry cancel` ended the work.
  package var isCancellation: Bool { code == .cancelled || code == .sessionRemoved }

  /// The codes of reasons that end with a change of conditions, a budget's next window, or the end of a
  /// delay.
  private static let deferrals: Set<FailureCode> = [.network, .power, .budget, .delay]

  /// Whether remaining work failed in this launch, rather than waiting for something or being stopped.
  var isTemporary: Bool { !isDeferral && ![.maxDuration, .expired, .stopped].contains(self) }

  /// Whether the work is waiting for the machine's conditions, a budget or a delay (exit code 8).
  package var isDeferral: Bool { Self.deferrals.contains(code) }
}
