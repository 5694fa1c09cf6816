/// Why a launch stops early. Raw values are persisted; never reuse one.
package enum StopCause: String, Codable, Sendable {
  /// SIGINT: start nothing, let running requests use the grace period, save.
  case interrupt = "interrupt"
  /// SIGTERM: the same.
  case terminate = "terminate"
  /// The launch's deadline has passed: the same.
  case maxDuration = "max_duration"
  /// A second signal, or an internal error in ferry: cancel requests immediately.
  case now = "now"
}
