import FerryManifest

/// How far the delay of a session's resumes has grown: what its journal keeps from launch to launch.
package struct ResumeState: Hashable, Sendable {
  /// What the last resume made of the period; zero before the first, and after a reset.
  package var period: Duration
  /// When the last resume was; `nil` before the first, and after a reset.
  package var resumedAt: Instant?

  package init(period: Duration = .zero, resumedAt: Instant? = nil) {
    self.period = period
    self.resumedAt = resumedAt
  }

  /// When the delay of the last resume ends.
  package var endsAt: Instant? { resumedAt?.advanced(by: period) }

  /// The state after a resume at `now`: the first makes the period `initial`, each further one multiplies it with
  /// `factor`, up to `max`. A resume that comes more than one further period after the end of the last delay finds
  /// the delay reset: what was delayed starts when the delay ends, so only from then on can a period pass without
  /// a resume.
  ///
  /// With 60 s, ×2, at most 6 h, under `before_start`, each file taking 10 s and sent after the one before it:
  ///
  /// | resume | at | period | the next file starts at |
  /// |---|---|---|---|
  /// | 1 | 10 s | 60 s | 70 s |
  /// | 2 | 80 s | 120 s | 200 s |
  /// | 3 | 210 s | 240 s | 450 s |
  /// | 4 | 460 s | 480 s | 940 s |
  /// | 5 | 950 s | 960 s | 1910 s |
  /// | 6, after more than 2880 s | 5000 s | 60 s | 5060 s |
  package func resumed(at now: Instant, _ policy: ResumeDelay) -> ResumeState {
    let grown = isReset(at: now) ? .zero : period
    let next =
      grown == .zero
      ? policy.initial : .seconds(fraction: Swift.min(grown.seconds * policy.factor, policy.max.seconds))
    return ResumeState(period: Swift.min(next, policy.max), resumedAt: now)
  }

  /// Whether a period has passed without a resume since the delay of the last one ended.
  package func isReset(at now: Instant) -> Bool {
    guard let endsAt else { return true }
    return now > endsAt.advanced(by: period)
  }
}
