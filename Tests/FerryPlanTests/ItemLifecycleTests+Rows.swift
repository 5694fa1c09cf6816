import FerryManifest

@testable import FerryPlan

/// The rules of an item's lifecycle, stated independently of the code.
extension ItemLifecycleTests {
  static let rows = rows(false, hasAllocate: true, keepsUploadID: true)

  /// - Parameters:
  ///   - hasAllocate: whether the upload has an `allocate` step.
  ///   - keepsUploadID: whether the commit needs the upload ID.
  static func rows(_ isCommitAsked: Bool, hasAllocate: Bool, keepsUploadID: Bool) -> [Row] {
    waits + intents(isCommitAsked, hasAllocate: hasAllocate) + uploadIDs(hasAllocate, keepsUploadID) + doubts
      + ends(isCommitAsked)
  }

  private static let waits = [
    Row(
      transition: "begin", samples: [.begin], state: "queued", isPossible: { $0.queued != nil },
      newState: "begun, in progress",
      after: { state, _ in state.mapProgress { $0.activity = .inProgress } }, journal: "–",
      entries: { _, _ in [] }),
    Row(
      transition: "wait", samples: [.wait], state: "begun, in progress",
      isPossible: { $0.begun?.activity == .inProgress }, newState: "begun, waiting",
      after: { state, _ in state.mapProgress { $0.activity = .waiting } }, journal: "–",
      entries: { _, _ in [] }),
    Row(
      transition: "proceed", samples: [.proceed], state: "begun, waiting",
      isPossible: { $0.begun?.activity == .waiting }, newState: "begun, in progress",
      after: { state, _ in state.mapProgress { $0.activity = .inProgress } }, journal: "–",
      entries: { _, _ in [] }),
  ]

  private static func intents(_ isCommitAsked: Bool, hasAllocate: Bool) -> [Row] {
    [
      Row(
        transition: "recordIntent", samples: [.recordIntent(.commit), .recordIntent(.transfer)],
        state: "begun, without an intent", isPossible: { $0.begun?.intent == ItemProgress.Intent.none },
        newState: "the same, with a recorded intent",
        after: { state, _ in state.mapProgress { $0.intent = .recorded } }, journal: "`intentRecorded`",
        entries: { _, transition in
          if case .recordIntent(let step) = transition { [.intentRecorded(ref, step)] } else { [] }
        }),
      Row(
        transition: "withdrawIntent", samples: [.withdrawIntent],
        state:
          "begun, with a recorded intent; no commit is in doubt, and the upload is certainly not complete",
        isPossible: {
          $0.begun?.intent == .recorded && $0.begun?.isInDoubt(.none) == true && !mayBeComplete($0)
        },
        newState: "the same, without an intent",
        after: { state, _ in state.mapProgress { $0.intent = .none } }, journal: "`intentWithdrawn`",
        entries: { _, _ in [.intentWithdrawn(ref)] }),
      Row(
        transition: "withdrawIntent", samples: [.withdrawIntent],
        state: "transferred, with a recorded intent; the doubt is *possible*",
        isPossible: { $0.begun?.intent == .recorded && $0.begun?.isInDoubt(.possible) == true },
        newState: "the same, without an intent",
        after: { state, _ in state.mapProgress { $0.intent = .none } },
        journal: "`intentRecorded` as `commitDeferred`, or as `commitAgain` if the user asked for the commit",
        entries: { _, _ in [.intentRecorded(ref, isCommitAsked ? .commitAgain : .commitDeferred)] }),
      Row(
        transition: "useIntent", samples: [.useIntent], state: "begun, without an inherited intent",
        isPossible: { $0.begun.map { $0.intent != .inherited } ?? false },
        newState: "the same, without an intent, unless the transfer has an upload resource",
        after: { state, _ in
          state.mapProgress {
            let hasResource = !hasAllocate && $0.uploadID != nil && $0.transfer != nil
            if !hasResource { $0.intent = .none }
          }
        }, journal: "–",
        entries: { _, _ in [] }),
    ]
  }

  private static func mayBeComplete(_ state: ItemLifecycle) -> Bool {
    switch state.begun?.stage {
    case .allocated(let id): id?.mayBeComplete == true
    case .transferring(let id, let transfer): id != nil && transfer.mayBeComplete
    case .unallocated, .transferred, nil: false
    }
  }

  private static func uploadIDs(_ hasAllocate: Bool, _ keepsUploadID: Bool) -> [Row] {
    let start: ItemProgress.Stage = hasAllocate ? .unallocated : .allocated(nil)
    return [
      Row(
        transition: "allocate", samples: [.allocate(expires: expires), .allocate(expires: nil)],
        state: "unallocated",
        isPossible: { $0.begun?.stage == .unallocated }, newState: "allocated",
        after: { state, transition in
          guard case .allocate(let expires) = transition else { return state }
          return state.mapProgress { $0.stage = .allocated(.init(expires: expires)) }
        }, journal: "`uploadIDAllocated`",
        entries: { _, transition in
          if case .allocate(let expires) = transition {
            [.uploadIDAllocated(ref, expires: expires)]
          } else {
            []
          }
        }),
      Row(
        transition: "awaitUploadID", samples: [.awaitUploadID],
        state: "allocated or transferring, with an upload ID",
        isPossible: {
          ["allocated", "transferring"].contains($0.begun?.stageName) && $0.begun?.uploadID != nil
        },
        newState: "the same, with a recorded upload ID",
        after: { state, _ in
          state.mapProgress { progress in
            switch progress.stage {
            case .allocated(var id?):
              id.isRecorded = true
              progress.stage = .allocated(id)
            case .transferring(var id?, let transfer):
              id.isRecorded = true
              progress.stage = .transferring(id, transfer)
            case .unallocated, .allocated, .transferring, .transferred: break
            }
          }
        }, journal: "–", entries: { _, _ in [] }),
      Row(
        transition: "startTransfer", samples: [.startTransfer], state: "allocated or transferring",
        isPossible: { ["allocated", "transferring"].contains($0.begun?.stageName) }, newState: "transferring",
        after: { state, _ in
          state.mapProgress { progress in
            guard case .allocated(let id) = progress.stage else { return }
            var state = TransferState(isUncertain: id?.isInherited ?? true, hasResource: id != nil)
            state.mayBeComplete = id?.mayBeComplete == true
            progress.stage = .transferring(id, state)
          }
        }, journal: "–",
        entries: { _, _ in [] }),
      Row(
        transition: "assignResource",
        samples: [.assignResource(expires: expires), .assignResource(expires: nil)],
        state: "transferring, without an upload ID or an inherited intent",
        isPossible: {
          $0.begun?.stageName == "transferring" && $0.begun?.uploadID == nil && $0.begun?.intent != .inherited
        },
        newState: "transferring, with an upload ID and the same intent",
        after: { state, transition in
          guard case .assignResource(let expires) = transition else { return state }
          return state.mapProgress { progress in
            guard case .transferring(nil, var transfer) = progress.stage else { return }
            (transfer.hasResource, transfer.isUncertain, transfer.sentThrough) = (true, true, 0)
            progress.stage = .transferring(.init(expires: expires), transfer)
          }
        }, journal: "`uploadIDAllocated`",
        entries: { _, transition in
          if case .assignResource(let expires) = transition {
            [.uploadIDAllocated(ref, expires: expires)]
          } else {
            []
          }
        }),
      Row(
        transition: "updateUploadID",
        samples: [.updateUploadID(expires: expires), .updateUploadID(expires: nil)],
        state: "transferring, with an upload ID",
        isPossible: { $0.begun?.stageName == "transferring" && $0.begun?.uploadID != nil },
        newState: "the same, with the new expiry of its upload ID",
        after: { state, transition in
          guard case .updateUploadID(let expires) = transition else { return state }
          return state.mapProgress { progress in
            guard case .transferring(var id?, let transfer) = progress.stage else { return }
            id.expires = expires
            progress.stage = .transferring(id, transfer)
          }
        }, journal: "`uploadIDUpdated`",
        entries: { _, transition in
          if case .updateUploadID(let expires) = transition {
            [.uploadIDUpdated(ref, expires: expires)]
          } else {
            []
          }
        }),
      Row(
        transition: "updateTransfer",
        samples: [.updateTransfer(.init(isUncertain: true)), .updateTransfer(advanced)],
        state: "transferring",
        isPossible: { $0.begun?.stageName == "transferring" },
        newState: "transferring, with the new state of the transfer",
        after: { state, transition in
          guard case .updateTransfer(let transfer) = transition else { return state }
          return state.mapProgress { $0.stage = .transferring($0.uploadID, transfer) }
        }, journal: "`transferAdvanced`, if the server has stated another offset",
        entries: { state, transition in
          guard case .updateTransfer(let transfer) = transition,
            transfer.confirmedOffset != state.begun?.transfer?.confirmedOffset
          else { return [] }
          return [.transferAdvanced(ref, bytes: transfer.confirmedOffset)]
        }),
      Row(
        transition: "finishTransfer", samples: [.finishTransfer], state: "transferring",
        isPossible: { $0.begun?.stageName == "transferring" },
        newState: "transferred, without a recorded intent; without an upload ID, unless the commit needs it",
        after: { state, _ in
          state.mapProgress {
            $0.stage = .transferred(keepsUploadID ? $0.uploadID : nil)
            if $0.intent == .recorded { $0.intent = .none }
          }
        },
        journal: "`fileTransferred`", entries: { _, _ in [.fileTransferred(ref)] }),
      Row(
        transition: "discardUploadID", samples: [.discardUploadID(nil)],
        state: "begun, with an upload ID that the server no longer knows",
        isPossible: { $0.begun?.uploadID != nil },
        newState: "unallocated (without `allocate`: allocated, without an ID), without intent or doubt",
        after: { state, _ in state.mapProgress { $0 = .init(stage: start, activity: $0.activity) } },
        journal: "`uploadIDDiscarded`", entries: { _, _ in [.uploadIDDiscarded(ref)] }),
      Row(
        transition: "discardUploadID", samples: [.discardUploadID(.expired), .discardUploadID(.startedOver)],
        state: "begun, with an upload ID", isPossible: { $0.begun?.uploadID != nil },
        newState: "unallocated (without `allocate`: allocated, without an ID), without intent or doubt",
        after: { state, _ in state.mapProgress { $0 = .init(stage: start, activity: $0.activity) } },
        journal: "`uploadIDOrphaned`, `uploadIDDiscarded`",
        entries: { state, transition in
          guard case .discardUploadID(let reason?) = transition else { return [] }
          return [orphaned(state, reason), .uploadIDDiscarded(ref)]
        }),
      Row(
        transition: "discardTransfer", samples: [.discardTransfer],
        state: "transferred, without an upload ID",
        isPossible: { $0.begun?.stageName == "transferred" && $0.begun?.uploadID == nil },
        newState: "allocated, without intent or doubt",
        after: { state, _ in state.mapProgress { $0 = .init(stage: .allocated(nil), activity: $0.activity) }
        },
        journal: "`uploadIDDiscarded`", entries: { _, _ in [.uploadIDDiscarded(ref)] }),
    ]
  }

  /// A transfer for which the server has already received some bytes.
  private static let advanced: TransferState = {
    var state = TransferState(isUncertain: false)
    state.confirmedOffset = 100
    return state
  }()

  private static let doubts = [
    Row(
      transition: "doubt", samples: [.doubt(.possible), .doubt(.unknown)], state: "begun",
      isPossible: { $0.begun != nil }, newState: "the same, with the greater of both doubts",
      after: { state, transition in
        guard case .doubt(let doubt) = transition else { return state }
        return state.mapProgress { if !$0.isInDoubt(.unknown) { $0.doubt = doubt } }
      }, journal: "–", entries: { _, _ in [] }),
    Row(
      transition: "clearDoubt", samples: [.clearDoubt], state: "transferred",
      isPossible: { $0.begun?.stageName == "transferred" }, newState: "the same, without doubt",
      after: { state, _ in state.mapProgress { $0.doubt = .none } }, journal: "–", entries: { _, _ in [] }),
  ]

  private static func ends(_ isCommitAsked: Bool) -> [Row] {
    [
      Row(
        transition: "close", samples: [.close(.done, nil), .close(.ambiguous, failure)],
        state: "queued or begun", isPossible: { $0.progress != nil },
        newState: "closed as `done` or `ambiguous`",
        after: closed, journal: "`itemClosed`", entries: { _, transition in closing(transition) }),
      Row(
        transition: "close", samples: [.close(.failed, failure), .close(.cancelled, failure)],
        state: "queued or begun, without an upload ID",
        isPossible: { $0.progress.map { $0.uploadID == nil } ?? false },
        newState: "closed as `failed` or `cancelled`", after: closed, journal: "`itemClosed`",
        entries: { _, transition in closing(transition) }),
      Row(
        transition: "close", samples: [.close(.failed, failure), .close(.cancelled, failure)],
        state: "queued or begun, with an upload ID", isPossible: { $0.progress?.uploadID != nil },
        newState: "closed as `failed` or `cancelled`", after: closed,
        journal: "`uploadIDOrphaned`, `itemClosed`",
        entries: { state, transition in
          let isFailure = transition == .close(.failed, failure)
          return [orphaned(state, isFailure ? .failed : .cancelled)] + closing(transition)
        }),
      Row(
        transition: "leave", samples: [.leave], state: "begun",
        isPossible: { $0.begun != nil }, newState: "remaining", after: { _, _ in .remaining },
        journal: "as for `withdrawIntent`, if that is possible",
        entries: { state, _ in
          guard let begun = state.begun, begun.intent == .recorded, !mayBeComplete(state) else { return [] }
          if begun.isInDoubt(.possible) {
            return [.intentRecorded(ref, isCommitAsked ? .commitAgain : .commitDeferred)]
          }
          return begun.isInDoubt(.none) ? [.intentWithdrawn(ref)] : []
        }),
    ]
  }

  @Sendable private static func closed(_ state: ItemLifecycle, _ transition: ItemTransition) -> ItemLifecycle
  {
    if case .close(let end, _) = transition { .closed(end) } else { state }
  }

  private static func closing(_ transition: ItemTransition) -> [JournalEntry] {
    guard case .close(let end, let failure) = transition else { return [] }
    return [.itemClosed(ref, end, failure, at: now)]
  }

  private static func orphaned(_ state: ItemLifecycle, _ reason: OrphanReason) -> JournalEntry {
    let isInDoubt = state.progress.map { $0.doubt != .none } ?? false
    return .uploadIDOrphaned(ref, as: 3, .init(reason, isInDoubt: isInDoubt), at: now)
  }
}

extension ItemLifecycle {
  fileprivate var queued: ItemProgress? { if case .queued(let progress) = self { progress } else { nil } }
  fileprivate var begun: ItemProgress? { if case .begun(let progress) = self { progress } else { nil } }
  fileprivate var progress: ItemProgress? { queued ?? begun }

  fileprivate func mapProgress(_ change: (inout ItemProgress) -> Void) -> ItemLifecycle {
    guard var progress else { return self }
    change(&progress)
    return .begun(progress)
  }
}

extension ItemProgress {
  fileprivate var stageName: String {
    switch stage {
    case .unallocated: "unallocated"
    case .allocated: "allocated"
    case .transferring: "transferring"
    case .transferred: "transferred"
    }
  }

  /// Before the file is transferred, its commit cannot be in doubt, so only `unknown` matters.
  fileprivate func isInDoubt(_ doubt: Doubt) -> Bool {
    switch self.doubt {
    case .unknown: doubt == .unknown
    case .possible: doubt == (stageName == "transferred" ? .possible : .none)
    case .none: doubt == .none
    }
  }
}
