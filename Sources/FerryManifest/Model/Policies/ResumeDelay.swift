/// The delay of new transfers after a resume in the background.
package struct ResumeDelay: Hashable, Codable, Sendable {
  package enum Policy: String, CaseIterable, Codable, Sendable {
    case none
    /// A transfer that is created after a resume waits for the delay before it starts (iOS 8 and later).
    case beforeStart = "before_start"
    /// A completed transfer waits for the delay before it is handled (iOS 7).
    case afterCompletion = "after_completion"
  }

  /// The event that resets the period to `initial`, in addition to the first resume of a session.
  package enum Reset: String, CaseIterable, Codable, Sendable {
    /// A foreground launch only, as in URLSession.
    case foreground
    /// A foreground launch, or no resume for more than one period after the end of the last delay.
    case idle
  }

  package var policy: Policy
  /// The delay after the first resume. Default 60 s.
  package var initial: Duration
  /// The factor by which each resume multiplies the delay. Default 2.
  package var factor: Double
  /// The maximum delay. Default 6 h.
  package var max: Duration
  /// The event that resets the delay; `idle` by default, `foreground` with the profiles of iOS.
  package var reset: Reset

  package init(
    policy: Policy = .none, initial: Duration = .seconds(60), factor: Double = 2,
    max: Duration = .seconds(6 * 3_600), reset: Reset = .idle
  ) {
    self.policy = policy
    self.initial = initial
    self.factor = factor
    self.max = max
    self.reset = reset
  }
}
