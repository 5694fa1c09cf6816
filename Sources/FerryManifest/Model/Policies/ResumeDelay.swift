/// The delay of new transfers after a resume in the background.
package struct ResumeDelay: Hashable, Codable, Sendable {
  package enum Policy: String, CaseIterable, Codable, Sendable {
    case none
    /// A transfer that is created after a resume waits for the delay before it starts (iOS 8 and later).
    case beforeStart = "before_start"
    /// A completed transfer waits for the delay before it is handled (iOS 7).
    case afterCompletion = "after_completion"
  }

  package var policy: Policy
  /// Default 60 s.
  package var initial: Duration
  /// The factor by which each resume multiplies the delay. Default 2.
  package var factor: Double
  /// Default 6 h.
  package var max: Duration

  package init(
    policy: Policy = .none, initial: Duration = .seconds(60), factor: Double = 2,
    max: Duration = .seconds(6 * 3_600)
  ) {
    self.policy = policy
    self.initial = initial
    self.factor = factor
    self.max = max
  }

  package init(_ profile: Profile) {
    switch profile {
    case .server: self.init(policy: .none)
    case .ios: self.init(policy: .beforeStart)
    case .ios7: self.init(policy: .afterCompletion)
    }
  }
}
