import FerryManifest

/// The resume delay of a session, which the journal keeps between launches.
package struct ResumeState: Hashable, Sendable {
  /// The delay period set by the last resume; zero before the first resume and after a reset.
  package var period: Duration
  /// The time of the last resume; `nil` before the first resume and after a reset.
  package var resumedAt: Instant?

  package init(period: Duration = .zero, resumedAt: Instant? = nil) {
    self.period = period
    self.resumedAt = resumedAt
  }

  /// The end of the last resume's delay.
  package var endsAt: Instant? { resumedAt?.advanced(by: period) }

  /// The state after a resume at `now`.
  ///
  /// The first resume sets the period to `initial`; each further resume multiplies it by `factor`, up to
  /// `max`. With `reset: idle`, a resume that occurs more than one further period after the end of the last
  /// delay sets the period to `initial` again. Delayed work starts only at the end of the delay, so a period
  /// without a resume can begin only then.
  ///
  /// With an `initial` period of 60 s, a `factor` of 2, a `max` of 6 h and `before_start`, if each file takes
  /// 10 s and is sent after the previous one:
  ///
  /// | resume | at | period | the next file starts at |
  /// |---|---|---|---|
  /// | 1 | 10 s | 60 s | 70 s |
  /// | 2 | 80 s | 120 s | 200 s |
  /// | 3 | 210 s | 240 s | 450 s |
  /// | 4 | 460 s | 480 s | 940 s |
  /// | 5 | 950 s | 960 s | 1910 s |
  /// | 6, after more than 2880 s, with `reset: idle` | 5000 s | 60 s | 5060 s |
  /// | 6, after more than 2880 s, with `reset: foreground` | 5000 s | 1920 s | 6920 s |
  package func resumed(at now: Instant, _ policy: ResumeDelay) -> ResumeState {
    let grown = policy.reset == .idle && isIdle(at: now) ? .zero : period
    let next =
      grown == .zero
      ? policy.initial : .seconds(fraction: Swift.min(grown.seconds * policy.factor, policy.max.seconds))
    return ResumeState(period: Swift.min(next, policy.max), resumedAt: now)
  }

  /// Whether a period without a resume has passed since the end of the last delay.
  private func isIdle(at now: Instant) -> Bool {
    guard let endsAt else { return true }
    return now > endsAt.advanced(by: period)
  }
}
