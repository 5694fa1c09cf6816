import FerryManifest

/// An upload's orphans (unused upload IDs) in a launch.
struct Releases: Sendable {
  /// The number of orphans. The orphans found at the start have the lowest numbers, and the orphans created
  /// during the launch have the next ones.
  private(set) var count = 0
  /// Orphans whose release has not been attempted in this launch.
  private var waiting: Set<Int> = []
  /// Orphans that are being released.
  var active: [Int: AttemptHistory] = [:]
  /// Orphans whose release was sent, but without a response that shows whether the server has executed it. The server
  /// may still execute it.
  private var unanswered: Set<Int> = []
  /// The number of orphans that this launch created.
  private(set) var dropped: Int
  var released = 0
  var failed = 0
  /// The reason for the last failed release.
  var failure: RecordedFailure?

  /// - Parameters:
  ///   - found: the number of orphans to release.
  ///   - dropped: the number of orphans that the launch created before the scheduler started.
  init(found: Int = 0, dropped: Int = 0) {
    count = found
    waiting = Set(0..<found)
    self.dropped = dropped
  }

  var areWaiting: Bool { !waiting.isEmpty }

  /// Removes an orphan whose ID the server has issued again. It is not released, even if its release was
  /// about to start.
  mutating func regain(_ orphan: Int) {
    active[orphan] = nil
    waiting.remove(orphan)
  }

  /// Records that the release of an orphan is being sent.
  mutating func send(_ orphan: Int) { unanswered.insert(orphan) }

  /// Records that the server has executed the release of an orphan, or will not execute it.
  mutating func settle(_ orphan: Int) { unanswered.remove(orphan) }

  func isUnanswered(_ orphan: Int) -> Bool { unanswered.contains(orphan) }

  /// Removes the waiting orphans and returns them in ascending order.
  mutating func takeWaiting() -> [Int] {
    defer { waiting = [] }
    return waiting.sorted()
  }

  /// Counts an orphan that this launch created. The orphan's number is the previous value of `count`.
  mutating func add(isReleased: Bool) {
    if isReleased { waiting.insert(count) }
    count += 1
    dropped += 1
  }

  /// The record for the report; `nil` if all of its numbers are 0.
  var record: RunRecord.OrphanRecord? {
    guard dropped + released + failed > 0 else { return nil }
    return .init(dropped: dropped, released: released, failed: failed, reason: failure)
  }
}

/// Unused upload IDs. They are recorded, and released once the launch has nothing else to do.
///
/// No item waits for a release, and a failed release does not change the exit code.
extension Scheduler {
  /// Handles orphans whose IDs the server has issued again and that are therefore in use.
  mutating func regain(_ orphans: [ItemRef]) {
    for ref in orphans {
      guard let upload = uploadIndex[ref.node.index], let orphan = ref.orphan else { continue }
      uploads[upload].releases.regain(orphan)
      entries.append(.orphanResolved(ref))
    }
  }

  /// Refuses an upload ID that the server has issued again although it may still execute the release of that ID, which
  /// would delete the file.
  ///
  /// - Returns: whether the ID was refused. If so, the step is sent again after a wait or, if it must not be
  ///   repeated, ends as ambiguous.
  mutating func refusesRegained(_ flight: Flight, _ step: Step, _ answer: AttemptResult.Answer) -> Bool {
    guard case .response(let response) = answer, response.regained.contains(where: isReleaseUnanswered) else {
      return false
    }
    let failure = RecordedFailure(
      code: .uploadIDExpired,
      message: "the server reissued an upload ID whose release it may still execute")
    if step.repeatability == .once {
      end(flight.attempt.ref, .ambiguous, failure)
    } else {
      retry(flight, failure, retryAfter: nil, scope: .item)
    }
    return true
  }

  private func isReleaseUnanswered(_ ref: ItemRef) -> Bool {
    guard let upload = uploadIndex[ref.node.index], let orphan = ref.orphan else { return false }
    return uploads[upload].releases.isUnanswered(orphan)
  }

  // MARK: Releasing orphans

  /// Starts the releases that may start when nothing else can continue. Returns whether any of them has not
  /// ended.
  mutating func releaseOrphans() -> Bool {
    while uploads.indices.contains(where: mayRelease) {
      // Wait until all rows of orphans are on disk: if a power failure lost a row, the item would use the ID
      // again.
      guard entries.isEmpty, synced >= recorded else {
        actions.append(.sync)
        return true
      }
      for upload in uploads.indices where mayRelease(upload) { beginReleases(of: upload) }
      fillHostQueues()
      guard flights.isEmpty, timers.isEmpty, !awaitsLease, hostQueues.allSatisfy(\.isIdle) else {
        return true
      }
    }
    return false
  }

  private func mayRelease(_ upload: Int) -> Bool {
    guard uploads[upload].releases.areWaiting else { return false }
    let node = uploads[upload].node
    let step = step(node, .abandon)
    switch nodes[node.index].phase {
    case .notSelected: return false
    // The release refers to a request that has no response yet.
    case .waiting where step.request.references.contains(where: \.isOfRequest): return false
    case .waiting, .open, .finished, .settling, .closed, .left: break
    }
    let tokenSession = step.token.map { plan.nodes[$0.index].session }
    return [step.session, tokenSession].compactMap(\.self).allSatisfy { session in
      hold(on: session) == nil && holdOnNewTasks(of: session) == nil
    }
  }

  private mutating func beginReleases(of upload: Int) {
    for orphan in uploads[upload].releases.takeWaiting() {
      uploads[upload].releases.active[orphan] = AttemptHistory()
      enqueue(.orphan(orphan, of: uploads[upload].node), .abandon)
    }
  }

  mutating func finishRelease(
    _ flight: Flight, _ step: Step, _ answer: AttemptResult.Answer, _ verdict: Verdict
  ) {
    let ref = flight.attempt.ref
    if let upload = uploadIndex[ref.node.index], let orphan = ref.orphan,
      verdict.excludesLaterExecution || !answer.mayHaveActed
    {
      uploads[upload].releases.settle(orphan)
    }
    switch verdict {
    case .succeeded, .partial, .unchanged, .uploadIDGone, .uploadIDRefused:
      if case .response(let response) = answer, response.isFollowedByRelease {
        return enqueue(ref, .abandon)
      }
      entries.append(.orphanResolved(ref))
      metrics.idsReleased += 1
      endRelease(ref) { $0.released += 1 }
    case .unauthorized(let failure):
      let replacements = (self[attempts: ref]?.replacements ?? 0) + 1
      self[attempts: ref]?.replacements = replacements
      guard replacements <= 2, stop == nil else { return refuseRelease(ref, failure) }
      if let token = step.token {
        _ = invalidate(token: token, generation: flight.attempt.tokenGeneration)
      }
      enqueue(ref, .abandon)
    case .transient(let failure, let retryAfter, let scope, _):
      retry(flight, failure, retryAfter: retryAfter, scope: scope)
    case .permanent(let failure) where answer.hasRunOut: leaveRelease(ref, failure)
    case .permanent(let failure), .otherServer(let failure), .conditionRefused(let failure),
      .answerLost(let failure),
      .notCommitted(let failure),
      .integrity(let failure), .limited(let failure):
      refuseRelease(ref, failure)
    case .cancelled: leaveRelease(ref, flight.interruption == .expired ? .expired : stopReason)
    }
  }

  /// Ends a release for this launch. If the server does not respond, or reports that it is temporarily
  /// unable to respond, the upload's other releases are not attempted either; the next launch begins with them.
  mutating func leaveRelease(_ ref: ItemRef, _ failure: RecordedFailure) {
    guard failure.isTemporary else {
      return endRelease(ref) { _ in }
    }
    refuseRelease(ref, failure)
    for ready in takeWaiting(where: { $0.ref.orphan != nil && $0.ref.node == ref.node }) {
      endRelease(ready.ref) { $0.failed += 1 }
    }
  }

  private mutating func refuseRelease(_ ref: ItemRef, _ failure: RecordedFailure) {
    entries.append(.orphanReleaseFailed(ref, failure, at: now))
    endRelease(ref) {
      $0.failed += 1
      $0.failure = failure
    }
  }

  private mutating func endRelease(_ ref: ItemRef, _ count: (inout Releases) -> Void) {
    releaseReservation(ref)
    guard let upload = uploadIndex[ref.node.index], let orphan = ref.orphan,
      uploads[upload].releases.active.removeValue(forKey: orphan) != nil
    else { return }
    count(&uploads[upload].releases)
  }

  /// Whether a step other than a release or an optional request waits for a token, or no step waits for it.
  func isWantedByItems(_ token: NodeID) -> Bool {
    let waiters = tokens[token.index]?.waiters ?? []
    return waiters.isEmpty || waiters.contains { $0.ref.orphan == nil && !plan.isOptional($0.ref.node) }
  }
}

extension Verdict {
  /// Whether the server has executed the request, has stated that it will not, or did not receive it.
  fileprivate var excludesLaterExecution: Bool {
    switch self {
    case .succeeded, .unchanged, .uploadIDGone, .uploadIDRefused, .transient(_, _, _, .refused),
      .transient(_, _, _, .notSent):
      true
    case .partial, .conditionRefused, .unauthorized, .otherServer, .transient, .permanent, .answerLost,
      .notCommitted, .integrity, .cancelled, .limited:
      false
    }
  }
}

extension Reference {
  fileprivate var isOfRequest: Bool {
    switch self {
    case .request: true
    case .secret, .file, .item, .token, .allocate, .transfer, .run: false
    }
  }
}
