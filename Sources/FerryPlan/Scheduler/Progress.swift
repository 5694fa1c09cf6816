import HeapModule

/// What the scheduler knows of an item, or of a node of a single request, from its first step to its end.
struct Progress: Sendable {
  enum Intent: Sendable {
    case none
    /// Recorded in this launch; spent once an attempt that carries it may have reached the server.
    case recorded
    /// Recorded by an earlier launch, which did not live to tell its outcome.
    case inherited
  }

  var step: Step.Kind
  /// When its first attempt of this launch began: `timeout_for_resource` of what is no item counts from then.
  var startedAt: Instant?
  /// Retries of this launch.
  var retries = 0
  /// Replacements of the present step for a refused token.
  var replacements = 0
  /// Of a fetch: a request with a validator was refused, so it is sent without.
  var isUnconditional = false
  var intent = Intent.none
  /// When its upload ID ends.
  var expires: Instant?
  var hasUploadID = false
  /// It is about to get, or holds, an upload ID that no transfer uses yet.
  var isAhead = false
  /// A commit may have been carried out, perhaps for an earlier launch: nothing but its success is an end that is
  /// known, and where there is a probe, that is asked first.
  var isCommitUnknown = false
  /// What the server has under its upload ID may count: what makes it count was sent, perhaps by an earlier launch,
  /// and not refused for certain.
  var mayCount = false
  /// Its transfer has ended: its batch does not wait for it any more.
  var isSent = false
  /// Where its later steps go, where only a capture told.
  var hostQueues: [Step.Kind: Int] = [:]
  /// What went wrong so far.
  var attemptFailures: [AttemptFailure] = []

  init(step: Step.Kind) { self.step = step }
}

/// An attempt that did not go well.
package struct AttemptFailure: Hashable, Codable, Sendable {
  package var step: Step.Kind
  package var code: String
  package var status: Int?
  package var message: String
  package var endedAt: Instant
  package var duration: Duration
}

/// One upload in a launch.
struct UploadState: Sendable {
  let node: NodeID
  var items: ItemTable
  /// The first so many are sorted by path; those behind them came during the launch.
  let listedCount: Int
  /// These, by their paths.
  var further: [[UInt8]: Int] = [:]
  /// 0 is the highest.
  let priority: UInt16
  /// Where the next batch begins.
  var handedOver = 0
  /// Handed over and not begun yet.
  var pending = PendingItems()
  /// Handed over in the background: the resume delay keeps them until then.
  var delayed: (items: PendingItems, until: Instant)?
  /// What its budget had no room for, smallest first.
  var skipped = Heap<SkippedItem>()
  /// Until that record is synced nothing of the batch starts (background sessions).
  var heldUntil: UInt64 = 0
  /// Of the batch: not yet ended.
  var batchOpen = 0
  /// Of the batch: neither sent nor ended.
  var batchSending = 0
  /// Sent items that wait until the whole batch is through.
  var sent: [Ready] = []
  /// The batch's completions were handled.
  var isHandled = false
  var active: [Int: Progress] = [:]
  /// Begun, and not waiting for a retry.
  var inProgress = 0
  /// How many of those are ahead of their transfer.
  var ahead = 0
  /// Not ended, in all batches.
  var open: Int
  var counts = ItemCounts()
  /// At most so many items begun and not ended, so that IDs are allocated as late as the queue allows.
  var window = 1
  var aheadLimit = 1
  /// It waits as a whole for other conditions than the launch's.
  var isHeld = false
  /// A budget decides when its transfers start, where the network has one.
  let isDiscretionary: Bool
  /// The token nodes of its steps.
  let tokens: [Int]
  /// The largest file that was sent.
  var largest: TransferSample?
  /// Its upload IDs that will not be used.
  var releases = Releases()
}

/// An item that its budget had no room for.
struct SkippedItem: Comparable, Sendable {
  let size: Int64
  let item: Int

  static func < (a: Self, b: Self) -> Bool { (a.size, a.item) < (b.size, b.item) }
  static func == (a: Self, b: Self) -> Bool { (a.size, a.item) == (b.size, b.item) }
}

/// One session in a launch.
struct SessionState: Sendable {
  var delay = ResumeState()
  /// Something of it has ended and is handled at the next resume.
  var unhandled: [Unhandled] = []
  /// When that is.
  var handlesAt: Instant?
  /// `ferry cancel` has ended it.
  var isCancelled = false
  /// Of these manifests it has ended what lives in the session.
  var cancelled: Set<ManifestID> = []

  enum Unhandled: Sendable {
    /// Of an upload: its batch is through.
    case batch(Int)
    /// Of a node of a single request.
    case node(Int, NodeOutcome)
  }
}

/// How many items ended how.
package struct ItemCounts: Hashable, Codable, Sendable {
  package var done = 0
  package var failed = 0
  package var ambiguous = 0
  package var cancelled = 0
  /// Not ended: left for a later launch.
  package var waiting = 0
  /// Delivered before, and not to be delivered again.
  package var unchanged = 0

  package init() {}

  package static func += (a: inout ItemCounts, b: ItemCounts) {
    a.done += b.done
    a.failed += b.failed
    a.ambiguous += b.ambiguous
    a.cancelled += b.cancelled
    a.waiting += b.waiting
    a.unchanged += b.unchanged
  }
}

/// One token step in a launch.
struct TokenState: Sendable {
  enum Phase: Sendable {
    case absent
    case fetching
    case valid
    case failed(RecordedFailure)
  }

  var phase = Phase.absent
  /// Counts the answers; 0 before the first.
  var generation = 0
  var expires: Instant?
  var fetchedAt = Instant(nanoseconds: 0)
  /// Steps that wait for it.
  var waiters: [Ready] = []
}

/// A node in a launch.
struct NodeState: Sendable {
  enum Phase: Sendable {
    /// `--only` names others.
    case notSelected
    /// For what it needs.
    case waiting
    case open
    /// It ended in the background; a resume will handle that.
    case finished(NodeOutcome)
    /// It ended; its outcome is being synced.
    case settling(sequence: UInt64, NodeOutcome)
    case closed(NodeOutcome)
    /// Something of it is left for a later launch.
    case left(RecordedFailure)
  }

  var phase: Phase
  /// Of a node of a single request.
  var progress: Progress?
  var failure: RecordedFailure?
  /// Of a fetch or request: it ended in an earlier launch of this round.
  var endedBefore = false
  /// Of a fetch: not due before this moment.
  var notBefore: Instant?
  /// Of a fetch: how long the next one waits, from the last that ended well.
  var interval: Duration?
  var fetchResult: FetchResult?
}

/// How a node ended.
package enum NodeOutcome: String, Codable, Sendable {
  case succeeded
  case failed
  case ambiguous
  /// It did not run: what it needs did not end as its `when` asks.
  case skipped
}

/// What a fetch brought. The names are UIBackgroundFetchResult's.
package enum FetchResult: String, Codable, Sendable {
  case newData = "new_data"
  case noData = "no_data"
  case failed
}
