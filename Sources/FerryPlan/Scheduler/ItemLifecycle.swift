import FerryManifest

/// The state of an upload's item in one launch.
///
/// `applying(_:to:)` is the only function that changes it, and returns the entries that the change writes to
/// the journal. The upload's counters are sums over its items (`counts`). `docs/internals/item-lifecycle.md`
/// contains a table of all changes, which a test compares with this file.
enum ItemLifecycle: Hashable, Sendable {
  /// The item is part of a later batch.
  case listed
  /// The item is waiting in its batch, in its initial state or in the state in which an earlier launch left
  /// it.
  case queued(ItemProgress)
  /// The item has begun in this launch.
  case begun(ItemProgress)
  /// The item has ended in this round.
  case closed(ItemState)
  /// The item remains for a later launch.
  case remaining
}

/// The known state of an item that has begun.
struct ItemProgress: Hashable, Sendable {
  var stage: Stage
  var intent = Intent.none
  var doubt = Doubt.none
  var activity = Activity.inProgress

  /// The progress of the item on the server.
  enum Stage: Hashable, Sendable {
    /// The item has no upload ID yet: `allocate` is next.
    case unallocated
    /// No transfer of this launch uses the upload ID yet: `transfer` is next. Without `allocate`, there is no ID.
    case allocated(UploadID?)
    /// A transfer was started in this launch. Indirect, because the state of every item is copied often, and that of a
    /// transfer is large.
    indirect case transferring(UploadID?, TransferState)
    /// The server has the whole file: `commit` or its probe is next.
    case transferred(UploadID?)
  }

  struct UploadID: Hashable, Sendable {
    /// The time at which the ID expires; `nil` if it does not expire.
    var expires: Instant?
    /// Whether an earlier launch allocated the ID, and may have sent a part of the file.
    var isInherited = false
    /// Whether an earlier launch may have sent the whole file to an upload resource that must not be created again.
    var mayBeComplete = false
    /// Whether the journal has the ID, or a step is waiting until it has.
    var isRecorded = false
  }

  /// The journal's record that an unrepeatable step or a commit is about to be sent.
  enum Intent: Hashable, Sendable {
    case none
    /// The intent was recorded in this launch, or is equally valid. It is used up when an attempt that relies
    /// on it may have reached the server.
    case recorded
    /// The intent was recorded by an earlier launch, which was killed before it recorded the outcome.
    case inherited
  }

  /// Whether the server may have executed the request that delivers the file: the commit, or the transfer if
  /// there is no commit.
  enum Doubt: Int, Comparable, Sendable {
    /// The request was not sent, or was definitely refused.
    case none
    /// The server did not definitely refuse the request: it is sent again, but the upload ID is not
    /// released.
    case possible
    /// The request may have been executed, perhaps in an earlier launch. Unless a commit succeeds, the
    /// item's outcome is unknown; if there is a probe, it is sent first.
    case unknown

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  enum Activity: Hashable, Sendable {
    /// One of the item's requests is being sent, or waits for a connection, a token, an intent or the
    /// budget.
    case inProgress
    /// The item is waiting for a time or for the end of its batch, and does not count towards the upload's
    /// window.
    case waiting
  }

  var uploadID: UploadID? {
    switch stage {
    case .unallocated: nil
    case .allocated(let id), .transferring(let id, _), .transferred(let id): id
    }
  }

  /// The state of the current transfer; `nil` if none was started.
  var transfer: TransferState? {
    switch stage {
    case .transferring(_, let state): state
    case .unallocated, .allocated, .transferred: nil
    }
  }

  /// The state of the current transfer, or of the one that starts next; `nil` if another step precedes or follows it.
  var nextTransfer: TransferState? {
    switch stage {
    case .allocated(let id): TransferState(under: id)
    case .transferring(_, let state): state
    case .unallocated, .transferred: nil
    }
  }

  /// Whether the server may have completed the item's upload resource although ferry has not received the response.
  /// Without a resource, the rules for requests that must not be repeated apply.
  var mayBeComplete: Bool {
    switch stage {
    case .unallocated, .transferred: false
    case .allocated(let id): id?.mayBeComplete ?? false
    case .transferring(let id, let state): id != nil && state.mayBeComplete
    }
  }

  /// Whether the server has the whole file, so that the batch no longer waits for the item.
  var isTransferred: Bool {
    switch stage {
    case .unallocated, .allocated, .transferring: false
    case .transferred: true
    }
  }

  /// Whether the item holds, or is about to allocate, an upload ID that no transfer uses yet.
  var isAhead: Bool {
    switch stage {
    case .unallocated: true
    case .allocated(let id): id != nil
    case .transferring, .transferred: false
    }
  }
}

/// A change of an item's state.
enum ItemTransition: Hashable, Sendable {
  /// The item's first step in this launch may be sent.
  case begin
  /// The item is waiting for a time or for its batch.
  case wait
  /// The wait has ended.
  case proceed
  /// An intent is written before the step is sent.
  case recordIntent(ItemStep?)
  /// The announced request was certainly not sent, or the server refused it.
  case withdrawIntent
  /// The announced request has completed.
  case useIntent
  /// The server issued an upload ID. `expires` is `nil` if the ID does not expire.
  case allocate(expires: Instant?)
  /// The next step waits until the upload ID is in the journal.
  case awaitUploadID
  case startTransfer
  /// The server has assigned an upload resource to the transfer. The resource is the item's upload ID.
  /// `expires` is `nil` if the resource does not expire.
  case assignResource(expires: Instant?)
  /// A response to a transfer has stated another expiry of its upload ID.
  case updateUploadID(expires: Instant?)
  /// A response has stated the server's offset, or a request has failed.
  indirect case updateTransfer(TransferState)
  case finishTransfer
  /// The upload ID is no longer used, and the item starts over at its allocation or, without `allocate`, at
  /// its transfer. With a reason, the ID becomes an orphan; the reason is `nil` if the ID no longer exists on
  /// the server.
  case discardUploadID(OrphanReason?)
  /// Without `allocate`: the file that the server has cannot be committed, and the item starts over at its transfer.
  case discardTransfer
  /// The server may have executed the request that delivers the file.
  case doubt(ItemProgress.Doubt)
  /// The probe found that the commit was not executed.
  case clearDoubt
  case close(ItemState, RecordedFailure?)
  case leave
}

/// The values that journal entries of a transition need.
struct ItemContext: Sendable {
  var ref: ItemRef
  var now: Instant
  /// The number of the upload's next orphan.
  var orphan: Int
  /// Whether the user has asked for the item's commit to be sent again.
  var isCommitAsked: Bool
  /// Whether the upload has an `allocate` step. Without one, an upload ID is an upload resource that the server assigns
  /// to a transfer.
  var hasAllocate = true
  /// Whether the upload ID is still needed once the server has the whole file.
  var keepsUploadID = true
}

/// The result of a transition.
struct ItemChange: Hashable, Sendable {
  var state: ItemLifecycle
  var entries: [JournalEntry] = []
  /// The reason and state of the item's orphaned upload ID, if there is one.
  var orphaning: Orphaning?
}

extension ItemLifecycle {
  /// Returns the state after a transition, and its journal entries; `nil` if the transition is impossible in
  /// this state.
  func applying(_ transition: ItemTransition, in context: ItemContext) -> ItemChange? {
    switch (self, transition) {
    case (.queued(var progress), .begin):
      progress.activity = .inProgress
      return ItemChange(state: .begun(progress))
    case (.queued(let progress), .close(let state, let failure)),
      (.begun(let progress), .close(let state, let failure)):
      return progress.closing(as: state, failure, in: context)
    case (.begun(let progress), .leave): return progress.leaving(in: context)
    case (.begun(let progress), .discardUploadID(let reason)):
      return progress.discardingUploadID(reason, in: context)
    case (.begun(let progress), .discardTransfer):
      guard progress.stage == .transferred(nil) else { return nil }
      return ItemChange(
        state: .begun(ItemProgress(stage: .allocated(nil), activity: progress.activity)),
        entries: [.uploadIDDiscarded(context.ref)])
    case (.begun(var progress), _):
      guard let entries = progress.apply(transition, in: context) else { return nil }
      return ItemChange(state: .begun(progress), entries: entries)
    case (.listed, _), (.queued, _), (.closed, _), (.remaining, _): return nil
    }
  }
}

extension ItemProgress {
  /// Applies a transition after which the item is still in progress. Returns its journal entries; `nil` if
  /// the transition is impossible.
  fileprivate mutating func apply(_ transition: ItemTransition, in context: ItemContext) -> [JournalEntry]? {
    switch (transition, stage) {
    case (.wait, _) where activity == .inProgress: activity = .waiting
    case (.proceed, _) where activity == .waiting: activity = .inProgress
    case (.recordIntent(let step), _) where intent == .none:
      intent = .recorded
      return [.intentRecorded(context.ref, step)]
    case (.withdrawIntent, _) where intent == .recorded && doubt != .unknown && !mayBeComplete:
      intent = .none
      return [withdrawal(in: context)]
    // The intent remains while the server may complete the upload resource. Otherwise, a command that knows only the
    // journal would consider the file as certainly not delivered.
    case (.useIntent, .transferring(.some, _)) where !context.hasAllocate && intent != .inherited: break
    case (.useIntent, _) where intent != .inherited: intent = .none
    case (.allocate(let expires), .unallocated):
      stage = .allocated(UploadID(expires: expires))
      return [.uploadIDAllocated(context.ref, expires: expires)]
    case (.startTransfer, .allocated(let id)):
      stage = .transferring(id, TransferState(under: id))
    case (.awaitUploadID, .allocated(var id?)):
      id.isRecorded = true
      stage = .allocated(id)
    case (.awaitUploadID, .transferring(var id?, let state)):
      id.isRecorded = true
      stage = .transferring(id, state)
    case (.assignResource(let expires), .transferring(nil, var state)) where intent != .inherited:
      state.hasResource = true
      state.isUncertain = true
      // Only this request can have sent bytes to the resource.
      state.sentThrough = 0
      stage = .transferring(UploadID(expires: expires), state)
      return [.uploadIDAllocated(context.ref, expires: expires)]
    case (.updateUploadID(let expires), .transferring(var id?, let state)):
      id.expires = expires
      stage = .transferring(id, state)
      return [.uploadIDUpdated(context.ref, expires: expires)]
    case (.startTransfer, .transferring): break
    case (.updateTransfer(let state), .transferring(let id, let before)):
      stage = .transferring(id, state)
      guard state.confirmedOffset != before.confirmedOffset else { break }
      return [.transferAdvanced(context.ref, bytes: state.confirmedOffset)]
    case (.finishTransfer, .transferring(let id, _)):
      // A completed upload resource is no longer needed.
      stage = .transferred(context.keepsUploadID ? id : nil)
      if intent == .recorded { intent = .none }
      return [.fileTransferred(context.ref)]
    case (.doubt(let more), _): doubt = max(doubt, more)
    case (.clearDoubt, .transferred): doubt = .none
    default: return nil
    }
    return []
  }

  fileprivate func discardingUploadID(_ reason: OrphanReason?, in context: ItemContext) -> ItemChange? {
    guard uploadID != nil else { return nil }
    let stage = context.hasAllocate ? Stage.unallocated : .allocated(nil)
    var change = ItemChange(
      state: .begun(ItemProgress(stage: stage, activity: activity)),
      entries: [.uploadIDDiscarded(context.ref)])
    if let reason { change.orphan(self, reason, in: context) }
    return change
  }

  /// The entry that replaces an intent whose request was not sent or was refused.
  ///
  /// A commit may nonetheless have been executed if the server only reported that it was temporarily unable
  /// to execute it, or if the user decided to send it again. The journal then keeps this doubt: the commit
  /// is sent again, but its upload ID is not released.
  private func withdrawal(in context: ItemContext) -> JournalEntry {
    guard isTransferred, doubt > .none else { return .intentWithdrawn(context.ref) }
    return .intentRecorded(context.ref, context.isCommitAsked ? .commitAgain : .commitDeferred)
  }

  fileprivate func closing(
    as state: ItemState, _ failure: RecordedFailure?, in context: ItemContext
  ) -> ItemChange? {
    guard state.isClosed else { return nil }
    var change = ItemChange(
      state: .closed(state), entries: [.itemClosed(context.ref, state, failure, at: context.now)])
    switch state {
    case .failed: change.orphan(self, .failed, in: context)
    case .cancelled: change.orphan(self, .cancelled, in: context)
    case .queued, .allocated, .transferred, .done, .ambiguous: break
    }
    return change
  }

  fileprivate func leaving(in context: ItemContext) -> ItemChange {
    let keepsIntent = intent != .recorded || doubt == .unknown || mayBeComplete
    return ItemChange(state: .remaining, entries: keepsIntent ? [] : [withdrawal(in: context)])
  }
}

extension ItemChange {
  /// Makes the item's upload ID, if any, an orphan. The orphan's entry precedes the entry that removes the ID.
  fileprivate mutating func orphan(_ item: ItemProgress, _ reason: OrphanReason, in context: ItemContext) {
    guard item.uploadID != nil else { return }
    let orphaning = Orphaning(reason, isInDoubt: item.doubt > .none)
    self.orphaning = orphaning
    entries.insert(.uploadIDOrphaned(context.ref, as: context.orphan, orphaning, at: context.now), at: 0)
  }
}

extension ItemLifecycle {
  /// The actual final state of the item: after a commit that may have been executed, a failure or a
  /// cancellation becomes ambiguous, because sending the file again might repeat the commit's effect.
  func end(as state: ItemState, _ failure: RecordedFailure?) -> (state: ItemState, failure: RecordedFailure?)
  {
    guard state == .failed || state == .cancelled else { return (state, failure) }
    switch self {
    case .queued(let progress) where progress.intent != .none: return (.ambiguous, failure)
    case .begun(let progress) where progress.intent == .inherited: return (.ambiguous, failure)
    case .begun(let progress) where progress.doubt == .unknown:
      let reason = failure.map { ": \($0.message)" } ?? ""
      return (
        .ambiguous,
        .init(
          code: .responseLost, status: failure?.status, message: "commit may have been executed\(reason)")
      )
    case .listed, .queued, .begun, .closed, .remaining: return (state, failure)
    }
  }
}

/// The contribution of an item to its upload's counters.
struct LifecycleCounts: Hashable, Sendable {
  /// Items that have not ended, in all batches.
  var open = 0
  /// Items of the batch that have not ended.
  var batch = 0
  /// Items of the batch that have neither been transferred nor ended.
  var untransferred = 0
  /// Items that have begun and are not waiting for a time or for their batch.
  var inProgress = 0
  /// Items that hold, or are about to allocate, an upload ID that no transfer uses yet.
  var ahead = 0

  static func += (a: inout Self, b: Self) {
    a.open += b.open
    a.batch += b.batch
    a.untransferred += b.untransferred
    a.inProgress += b.inProgress
    a.ahead += b.ahead
  }

  static func -= (a: inout Self, b: Self) {
    a.open -= b.open
    a.batch -= b.batch
    a.untransferred -= b.untransferred
    a.inProgress -= b.inProgress
    a.ahead -= b.ahead
  }
}

extension ItemLifecycle {
  var counts: LifecycleCounts {
    switch self {
    case .listed: LifecycleCounts(open: 1)
    case .queued: LifecycleCounts(open: 1, batch: 1, untransferred: 1)
    case .begun(let progress):
      LifecycleCounts(
        open: 1, batch: 1, untransferred: progress.isTransferred ? 0 : 1,
        inProgress: progress.activity == .inProgress ? 1 : 0, ahead: progress.isAhead ? 1 : 0)
    case .closed, .remaining: LifecycleCounts()
    }
  }
}

extension TransferState {
  /// The state of a transfer that starts under an upload ID; `nil` for none.
  fileprivate init(under id: ItemProgress.UploadID?) {
    self.init(isUncertain: id?.isInherited ?? true, hasResource: id != nil)
    mayBeComplete = id?.mayBeComplete ?? false
  }
}
