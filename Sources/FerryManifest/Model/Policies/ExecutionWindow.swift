/// The time limits for requests of default sessions, by kind of launch; `nil` means no limit.
package struct ExecutionWindow: Hashable, Codable, Sendable {
  /// The limit for a foreground launch, counted from a hangup (SIGHUP). Before a hangup, there is no limit.
  package var foreground: Duration?
  package var background: Duration?
  package var fetch: Duration?
  package var event: Duration?
  package var continuous: Duration?
  /// The limit after a resume in the background, which opens its own window; `nil` means that a resume opens
  /// none.
  package var resume: Duration?
  /// The command to start when the window ends; empty for no command.
  package var onExpiry: [String]

  package init(
    foreground: Duration? = nil, background: Duration? = nil, fetch: Duration? = nil, event: Duration? = nil,
    continuous: Duration? = nil, resume: Duration? = nil, onExpiry: [String] = []
  ) {
    self.foreground = foreground
    self.background = background
    self.fetch = fetch
    self.event = event
    self.continuous = continuous
    self.resume = resume
    self.onExpiry = onExpiry
  }
}
