/// Why an item or node did not succeed, or waits: as it is written down and reported.
package struct RecordedFailure: Hashable, Codable, Sendable {
  /// A stable code.
  package var code: String
  /// The HTTP status, where there was an answer.
  package var status: Int?
  /// For people; holds no secret.
  package var message: String
  /// When it ends by itself; `nil` where only an event ends it.
  package var until: Instant?
  /// What a reason of the budget counts.
  package var budget: BudgetFigures?

  package init(
    code: String, status: Int? = nil, message: String, until: Instant? = nil, budget: BudgetFigures? = nil
  ) {
    self.code = code
    self.status = status
    self.message = message
    self.until = until
    self.budget = budget
  }
}

extension RecordedFailure {
  private enum Key: String, CodingKey { case code, status, message, until, budget }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    code = try container.decode(String.self, forKey: .code)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    message = try container.decode(String.self, forKey: .message)
    until = try container.decodeIfPresent(String.self, forKey: .until).flatMap { Instant(rfc3339: $0) }
    budget = try container.decodeIfPresent(BudgetFigures.self, forKey: .budget)
  }

  /// `until` as RFC 3339, in UTC with milliseconds.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(code, forKey: .code)
    try container.encodeIfPresent(status, forKey: .status)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(until?.rfc3339, forKey: .until)
    try container.encodeIfPresent(budget, forKey: .budget)
  }
}

/// How far a budget is used, in bytes.
package struct BudgetFigures: Hashable, Codable, Sendable {
  package var network: DeviceConditions.Network
  package var usedBytes: Int64
  package var limitBytes: Int64

  package init(network: DeviceConditions.Network, usedBytes: Int64, limitBytes: Int64) {
    self.network = network
    self.usedBytes = usedBytes
    self.limitBytes = limitBytes
  }
}

extension RecordedFailure {
  /// What a stopped launch leaves things with.
  package static let stopped = RecordedFailure(code: "stopped", message: "the launch was stopped")
  /// What a launch leaves things with whose deadline has come.
  package static let maxDuration = RecordedFailure(
    code: "max_duration", message: "the launch reached its --max-duration")
  /// What a launch leaves requests of default sessions with when its execution window ends.
  package static let expired = RecordedFailure(
    code: "expired", message: "the launch's execution window has ended")
  /// What `ferry cancel` ends items with.
  package static let cancelled = RecordedFailure(code: "cancelled", message: "cancelled by ferry cancel")

  /// Codes of reasons that other conditions, a budget's next window or the end of a delay end.
  private static let deferrals: Set<String> = ["network", "power", "budget", "delay"]

  /// Whether it waits for the machine, a budget or a delay: exit code 8.
  package var isDeferral: Bool { Self.deferrals.contains(code) }
}
