/// The properties of an upload's steps that determine the possible transitions of its items.
struct ItemRules: Hashable, Sendable {
  let hasAllocate: Bool
  /// Whether the upload ID of a file is still needed once the server has the whole file.
  let keepsUploadID: Bool
  /// Whether items can have upload IDs, which `allocate` requests or the server assigns.
  let hasUploadIDs: Bool
  /// The commit's repeatability; `nil` if there is no commit.
  let commit: Step.Repeatability?
  /// The header field without which a repetition of the commit is not recognized; `nil` if none is necessary.
  let keyHeader: String?
  let hasAbandon: Bool
  /// Whether a transfer must not be sent twice under the same upload ID.
  let transferStartsOver: Bool
  /// Whether the server assigns an upload resource to a transfer that must not be sent again. The resource shows which
  /// bytes the server has.
  let transfersOnceToResource: Bool
  /// Whether a launch that does not know an upload ID would deliver the file again under another one.
  let deliversAgainUnderNewID: Bool
  let transferProtocol: TransferProtocol
  /// The step that transfers the file.
  let transferStep: Step.Kind
  /// The point from which the data of an item begun by an earlier launch may count as delivered.
  private let countingPoint: CountingPoint

  init(_ work: UploadWork, recorded: CountingPoint?) {
    hasAllocate = work.allocate != nil
    hasUploadIDs = work.hasUploadIDs
    keepsUploadID = work.keepsUploadID
    commit = work.commit?.repeatability
    keyHeader = work.commit?.necessaryKeyHeader
    hasAbandon = work.abandon != nil
    transferStartsOver = work.transfer.repeatability == .startsOver
    transfersOnceToResource = work.transfersOnceToResource
    deliversAgainUnderNewID = work.deliversAgainUnderNewID
    transferProtocol = work.transferProtocol
    transferStep = work.transfer.kind
    countingPoint = work.countingPoint(recorded: recorded)
  }

  /// The state of an item before its first step in this launch.
  ///
  /// - Parameters:
  ///   - begun: the state in which an earlier launch left the item; `nil` if no launch has begun it.
  ///   - size: the size of its file, in bytes.
  func progress(resuming begun: ItemTable.Begun?, size: Int64) -> ItemProgress {
    if transferProtocol.isDeliveredByTransfer(size: size) { return ItemProgress(stage: .allocated(nil)) }
    guard let begun else { return ItemProgress(stage: hasAllocate ? .unallocated : .allocated(nil)) }
    var progress = ItemProgress(stage: stage(resuming: begun))
    progress.doubt = countingPoint.mayCount(state: begun.state, intent: begun.intent) ? .possible : .none
    switch begun.intent {
    case nil, .commitDeferred: break
    case .commitAgain where dropsKey(begun): progress.intent = .inherited
    case .commitAgain: if progress.isTransferred, commit == .afterProbe { progress.doubt = .unknown }
    case .commit where commit == .afterProbe && progress.isTransferred || isRecognized(begun):
      // An earlier launch may have sent the commit. It is sent again, or the probe shows whether to send it again.
      progress.doubt = .unknown
      progress.intent = .recorded
    case .transfer where transfersOnceToResource && progress.uploadID != nil:
      // An earlier launch may have sent the whole file. The upload resource shows whether it is complete.
      progress.intent = .recorded
    case .allocate, .transfer, .commit: progress.intent = .inherited
    }
    return progress
  }

  /// Whether a repetition of the commit is harmless, because the server recognizes it. The server does not recognize
  /// it if the commit was sent without the key, or with the key in another header field.
  private func isRecognized(_ begun: ItemTable.Begun) -> Bool {
    guard commit == .repeatable else { return false }
    return keyHeader.map { begun.commitKey?.isIn($0) ?? false } ?? true
  }

  /// Whether the commit was sent with a key that the next commit would not carry. The user's decision to send
  /// the commit again applies only to the commit with that key.
  private func dropsKey(_ begun: ItemTable.Begun) -> Bool {
    guard let sent = begun.commitKey else { return false }
    switch commit {
    case .once: return true
    case .repeatable: return keyHeader.map { !sent.isIn($0) } ?? false
    case .afterProbe, .startsOver, nil: return false
    }
  }

  /// The reason why the key prevents a commit that may have been executed from being sent again; `nil` if the
  /// commit may be sent.
  func keyConflict(resuming begun: ItemTable.Begun?) -> String? {
    guard let begun else { return nil }
    let isSentAgain = begun.intent == .commitAgain
    guard isSentAgain ? dropsKey(begun) : begun.intent == .commit && keyHeader != nil && !isRecognized(begun)
    else { return nil }
    let sent =
      begun.commitKey.map { "with its key in '\($0.header)'" } ?? "without a key in '\(keyHeader ?? "")'"
    let help = isSentAgain ? "; restore that key in the manifest, or resolve the item as done" : ""
    return
      "commit may have been executed, and was sent \(sent): the server would not recognize a repeated commit\(help)"
  }

  private func stage(resuming begun: ItemTable.Begun) -> ItemProgress.Stage {
    // Without a commit, a transferred item has ended, and its upload ID is in use.
    let id =
      hasUploadIDs
      ? ItemProgress.UploadID(
        expires: begun.expires, isInherited: true, mayBeComplete: begun.intent == .transfer, isRecorded: true)
      : nil
    switch begun.state {
    case .allocated where hasUploadIDs: return .allocated(id)
    case .transferred: return .transferred(commit == nil || !keepsUploadID ? nil : id)
    case .queued, .allocated, .done, .failed, .ambiguous, .cancelled:
      return hasAllocate ? .unallocated : .allocated(nil)
    }
  }

  /// The first step of an item in this launch. For a transferred item of an upload without a commit, this is
  /// the transfer, which ends the item instead of being sent.
  func firstStep(of progress: ItemProgress) -> Step.Kind {
    switch progress.stage {
    case .unallocated: return .allocate
    case .allocated, .transferring: return transferStep
    case .transferred:
      guard let commit else { return transferStep }
      // A commit that was certainly not executed is sent without a probe: its response could be wrong, for example if the
      // server has removed the file that waits for the commit.
      return commit == .afterProbe && progress.doubt == .unknown ? .probe : .commit
    }
  }
}

/// The items' states. The states and the counters are changed only here.
extension UploadState {
  /// Inlined, because a call would copy the upload's state.
  @inline(__always)
  func lifecycle(of item: Int) -> ItemLifecycle {
    switch items.phases[item] {
    case .waiting:
      item < handedOver
        ? .queued(rules.progress(resuming: items.begun[item], size: items.files.sizes[item])) : .listed
    case .active: active.progress(of: item).map { .begun($0) } ?? .remaining
    case .done: .closed(.done)
    case .failed: .closed(.failed)
    case .ambiguous: .closed(.ambiguous)
    case .cancelled: .closed(.cancelled)
    case .left: .remaining
    }
  }

  /// Changes an item's state and the counters, and returns the journal entries.
  mutating func apply(_ transition: ItemTransition, to item: Int, at now: Instant) -> [JournalEntry] {
    let before = lifecycle(of: item)
    let context = ItemContext(
      ref: ItemRef(node, item), now: now, orphan: releases.count,
      isCommitAsked: items.begun[item]?.intent == .commitAgain, hasAllocate: rules.hasAllocate,
      keepsUploadID: rules.keepsUploadID)
    guard let change = before.applying(transition, in: context) else {
      preconditionFailure("\(transition) cannot follow \(before)")
    }
    tally -= before.counts
    tally += change.state.counts
    if let orphaning = change.orphaning {
      releases.add(isReleased: rules.hasAbandon && !orphaning.isInDoubt)
    }
    store(change.state, of: item)
    if case .begin = transition { active.set(begunAt: now, of: item) }
    return change.entries
  }

  private mutating func store(_ state: ItemLifecycle, of item: Int) {
    switch state {
    case .begun(let progress):
      items.phases[item] = .active
      active.set(progress, of: item)
      return
    case .closed(.done):
      counts.done += 1
      items.phases[item] = .done
    case .closed(.ambiguous):
      counts.ambiguous += 1
      items.phases[item] = .ambiguous
    case .closed(.cancelled):
      counts.cancelled += 1
      items.phases[item] = .cancelled
    case .closed(.failed), .closed(.queued), .closed(.allocated), .closed(.transferred):
      counts.failed += 1
      items.phases[item] = .failed
    case .remaining:
      counts.waiting += 1
      items.phases[item] = .left
    case .listed, .queued: preconditionFailure("no transition leads to \(state)")
    }
    active.remove(item)
  }

  // MARK: All items at once

  /// Moves the items before `end` to the batch.
  mutating func queue(until end: Int) {
    let count = end - handedOver
    handedOver = end
    tally.batch += count
    tally.untransferred += count
  }

  /// Adds listed files, which are in byte order of their paths.
  mutating func appendListed(_ more: ItemTable) {
    guard more.count > 0 else { return }
    let isSorted =
      items.count == 0
      || items.files.path(items.count - 1).lexicographicallyPrecedes(more.files.path(0))
    guard listedCount == items.count, isSorted else { return append(more) }
    items.append(contentsOf: more)
    listedCount = items.count
    tally.open += more.count
  }

  /// Adds items to a later batch.
  mutating func append(_ more: ItemTable) {
    let first = items.count
    items.append(contentsOf: more)
    for item in 0..<more.count { further[Array(more.files.path(item))] = first + item }
    tally.open += more.count
  }

  /// Skips the items of a node that is not opened: they remain for the next round.
  mutating func skipRest() {
    if tally.open > 0 {
      counts.skipped = (counts.skipped ?? 0) + tally.open
    }
    tally.open = 0
  }

  /// Leaves the items that other processes have skipped for a later launch.
  mutating func leaveSkipped() {
    counts.waiting += counts.skipped ?? 0
    counts.skipped = nil
  }

  /// Ends the launch: every item that has not ended remains for a later launch.
  mutating func leaveRest() {
    counts.waiting += tally.open
    tally = LifecycleCounts()
  }
}

extension UploadState {
  /// Contradictions between the counters and the items, for tests.
  var contradictions: [String] {
    var sum = LifecycleCounts()
    var begun = 0
    for item in 0..<items.count {
      let state = lifecycle(of: item)
      sum += state.counts
      guard case .begun(let progress) = state else { continue }
      begun += 1
      if let message = rules.contradiction(in: progress, size: items.files.sizes[item]) {
        return ["item \(item): \(message): \(progress)"]
      }
    }
    var found: [String] = []
    if sum != tally { found.append("the counters \(tally) are not the sum over the items, \(sum)") }
    if begun != active.count { found.append("\(active.count) items are active, but \(begun) have begun") }
    let unbegun = pending.count + held.count + (delayed?.items.count ?? 0) + skipped.count
    if unbegun != tally.batch - begun {
      found.append(
        "\(unbegun) items have not begun, but the batch has \(tally.batch) items, of which \(begun) have begun"
      )
    }
    return found
  }
}

extension ItemRules {
  fileprivate func contradiction(in progress: ItemProgress, size: Int64) -> String? {
    let hasAllocate = self.hasAllocate && !transferProtocol.isDeliveredByTransfer(size: size)
    switch progress.stage {
    case .unallocated: if !hasAllocate { return "it waits for an allocation that the upload does not have" }
    case .allocated(let id), .transferring(let id, _):
      if id == nil ? hasAllocate : !hasUploadIDs { return "its upload ID does not match the upload's steps" }
    case .transferred(let id): if id != nil, !keepsUploadID { return "its upload ID is no longer needed" }
    }
    if progress.doubt == .unknown, !progress.isTransferred {
      return "a commit may have been executed before the transfer ended"
    }
    if progress.intent == .recorded, progress.isTransferred, commit == nil {
      return "there is an intent for a commit that the upload does not have"
    }
    return nil
  }
}
