/// How a launch came about. Raw values are written down; never reuse one.
package enum LaunchKind: String, Codable, Sendable, CaseIterable {
  /// Someone watches.
  case foreground = "foreground"
  /// Cron, CI, a timer.
  case background = "background"
  /// To fetch what is due.
  case fetch = "fetch"
  /// For something that happened.
  case event = "event"
  /// A service that stays.
  case continuous = "continuous"
}
