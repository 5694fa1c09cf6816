/// The cause of a launch. The raw values are persisted and must never be reused.
package enum LaunchKind: String, Codable, Sendable, CaseIterable {
  /// A person started the launch at a terminal.
  case foreground = "foreground"
  /// Cron, CI or a timer started the launch.
  case background = "background"
  /// The launch was started to run fetches that are due.
  case fetch = "fetch"
  /// The launch was started in response to an event.
  case event = "event"
  /// The launch is a long-running service.
  case continuous = "continuous"
}
