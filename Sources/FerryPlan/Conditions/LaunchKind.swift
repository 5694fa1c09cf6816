/// What started a launch. Raw values are persisted; never reuse one.
package enum LaunchKind: String, Codable, Sendable, CaseIterable {
  /// Someone is watching.
  case foreground = "foreground"
  /// Cron, CI or a timer.
  case background = "background"
  /// To run fetches that are due.
  case fetch = "fetch"
  /// In reaction to an event.
  case event = "event"
  /// A long-running service.
  case continuous = "continuous"
}
