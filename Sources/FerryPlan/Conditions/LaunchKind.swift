/// The cause of a launch. The raw values are persisted and must never be reused.
package enum LaunchKind: String, Codable, Sendable, CaseIterable {
  /// Started by a person at a terminal.
  case foreground = "foreground"
  /// Started by cron, CI or a timer.
  case background = "background"
  /// Started to run fetches that are due.
  case fetch = "fetch"
  /// Started in response to an event.
  case event = "event"
  /// A long-running service.
  case continuous = "continuous"
}
