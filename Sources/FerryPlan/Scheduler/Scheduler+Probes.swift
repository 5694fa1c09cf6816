import FerryManifest

/// Probes, which show whether a commit whose outcome is unknown was executed.
///
/// A negative response shows this only for the moment of the probe: the server may still execute the commit. Only a
/// commit that starts immediately afterwards relies on it. If the commit starts later, or is refused temporarily, its
/// outcome is unknown again, and another probe precedes the next commit.
extension Scheduler {
  /// The maximum time between the response to a probe and the start of the commit that relies on it.
  private static let validityOfProbe = Duration.seconds(1)

  /// The step to send instead of an interrupted or waiting one: the same one, or the probe that checks whether a commit
  /// was executed.
  func nextStep(of ref: ItemRef, _ kind: Step.Kind) -> Step.Kind {
    guard kind == .commit, hasProbe(ref), progress(of: ref)?.doubt == .unknown else { return kind }
    return .probe
  }

  private func hasProbe(_ ref: ItemRef) -> Bool {
    steps[ref.node, .commit].step.repeatability == .afterProbe
  }

  /// Sends the commit immediately after a probe that has shown that it was not executed.
  mutating func commitAgain(_ ref: ItemRef) {
    let now = now
    self[attempts: ref]?.commitDeniedAt = now
    again(ref, .commit, first: true)
  }

  /// Whether the step is a commit whose outcome is unknown, and that cannot rely on a probe.
  func needsProbe(_ ready: Ready) -> Bool {
    guard nextStep(of: ready.ref, ready.step) == .probe else { return false }
    guard let deniedAt = self[attempts: ready.ref]?.commitDeniedAt else { return true }
    return deniedAt.duration(to: now) > Self.validityOfProbe
  }

  /// Sends another probe instead of a commit.
  mutating func probe(before ready: Ready) {
    forgetProbe(ready.ref)
    enqueue(readyFirst(ready.ref, .probe, retries: 0))
  }

  /// Called when a commit starts.
  mutating func relyOnProbe(_ ref: ItemRef) {
    if nextStep(of: ref, .commit) == .probe { change(ref, .clearDoubt) }
  }

  /// Whether a commit that has ended relied on a probe.
  func reliedOnProbe(_ ref: ItemRef) -> Bool { self[attempts: ref]?.commitDeniedAt != nil }

  /// Called when the outcome of a commit is unknown. The next probe must be newer.
  mutating func doubtCommit(_ ref: ItemRef) {
    change(ref, .doubt(.unknown))
    forgetProbe(ref)
  }

  private mutating func forgetProbe(_ ref: ItemRef) {
    let now = now
    self[attempts: ref]?.commitDeniedAt = nil
    self[attempts: ref]?.probeNotBefore = now
  }

  /// Returns the verdict on the response to a probe, which is inconclusive if a cache may have stored it before the
  /// commit ended. Its `Age` is the time since the server generated or validated it (RFC 9111, section 5.1), rounded down,
  /// at a moment after the start of the probe.
  func current(_ verdict: Verdict, _ answer: AttemptResult.Answer, _ flight: Flight) -> Verdict {
    guard case .response(let response) = answer, let age = response.age else { return verdict }
    switch verdict {
    case .succeeded, .notCommitted: break
    default: return verdict
    }
    // An earlier launch ended before this one started.
    let commitEnded = self[attempts: flight.attempt.ref]?.probeNotBefore ?? startedAt
    guard commitEnded.duration(to: flight.startedAt) <= age + .seconds(1) else { return verdict }
    let failure = RecordedFailure(
      code: .unexpectedResponse, status: response.status,
      message: "a cache responded to the probe with a response that may be older than the commit "
        + "(Age: \(age.components.seconds)); exclude the URL of the probe from the cache")
    // A response without an age in whole seconds is new, but its age may be that of the commit.
    guard age == .zero else { return .transient(failure, retryAfter: nil, scope: .item, effect: .refused) }
    let wait = now.duration(to: commitEnded.advanced(by: .seconds(1))) + .milliseconds(1)
    return .transient(failure, retryAfter: max(.zero, wait), scope: .early, effect: .refused)
  }
}
