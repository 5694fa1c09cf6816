/// The reason why a launch stops early. The raw values are persisted and must never be reused.
package enum StopCause: String, Codable, Sendable {
  /// SIGINT: nothing more is started, running requests may use the grace period, and the state is saved.
  case interrupt = "interrupt"
  /// SIGTERM: as for SIGINT.
  case terminate = "terminate"
  /// The launch's deadline has passed: as for SIGINT.
  case maxDuration = "max_duration"
  /// A second signal, or an internal error in ferry: requests are canceled immediately.
  case now = "now"
}
