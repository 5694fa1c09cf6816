import HeapModule

/// The scheduler's state of an item, or of a node with a single request, from its first step to its end.
struct Progress: Sendable {
  enum Intent: Sendable {
    case none
    /// Recorded in this launch; used up once an attempt that relies on it may have reached the server.
    case recorded
    /// Recorded by an earlier launch, which was killed before it recorded the outcome.
    case inherited
  }

  var step: Step.Kind
  /// When its first attempt in this launch began. For everything except items, `timeout_for_resource` counts
  /// from then.
  var startedAt: Instant?
  /// The number of retries in this launch.
  var retries = 0
  /// How often the present step was replaced because its token was rejected.
  var replacements = 0
  /// Whether a fetch is sent without a validator because a request with one was refused.
  var isUnconditional = false
  var intent = Intent.none
  /// When its upload ID expires.
  var expires: Instant?
  var hasUploadID = false
  /// Whether it holds, or is about to allocate, an upload ID that no transfer uses yet.
  var isAhead = false
  /// Whether a commit may have been executed, perhaps in an earlier launch. Unless a commit succeeds, the
  /// outcome is then unknown; if there is a probe, it is sent first.
  var isCommitUnknown = false
  /// Whether the data under its upload ID may count: the request that makes it count was sent, perhaps by an
  /// earlier launch, and was not definitely refused.
  var mayCount = false
  /// Whether its transfer has ended, so that its batch no longer waits for it.
  var isSent = false
  /// The queues of its later steps, if only a capture determined their origins.
  var hostQueues: [Step.Kind: Int] = [:]
  /// The failed attempts so far.
  var attemptFailures: [AttemptFailure] = []

  init(step: Step.Kind) { self.step = step }
}

/// One upload in a launch.
struct UploadState: Sendable {
  let node: NodeID
  var items: ItemTable
  /// The number of items at the start of the table that are sorted by path. The items after them were added
  /// during the launch.
  let listedCount: Int
  /// The items added during the launch, by path.
  var further: [[UInt8]: Int] = [:]
  /// 0 is the highest.
  let priority: UInt16
  /// The index at which the next batch begins.
  var handedOver = 0
  /// Items of the batch that have not begun.
  var pending = PendingItems()
  /// Items of a batch that was started in the background; the resume delay holds them until this time.
  var delayed: (items: PendingItems, until: Instant)?
  /// Items for which the budget had no room, smallest first.
  var skipped = Heap<SkippedItem>()
  /// Nothing of the batch starts until this record is synced (background sessions).
  var heldUntil: UInt64 = 0
  /// The number of items of the batch that have not ended.
  var batchOpen = 0
  /// The number of items of the batch that have been neither sent nor ended.
  var batchSending = 0
  /// Sent items that wait until every item of the batch has been sent or has ended.
  var sent: [Ready] = []
  /// Whether the batch's completions were passed to the session, to be handled at a resume.
  var isHandled = false
  var active: [Int: Progress] = [:]
  /// The number of items that have begun and are not waiting for a retry.
  var inProgress = 0
  /// How many of those are ahead of their transfer (`isAhead`).
  var ahead = 0
  /// The number of items that have not ended, in all batches.
  var open: Int
  var counts = ItemCounts()
  /// The maximum number of items that have begun and not ended, so that IDs are allocated as late as the
  /// queue allows.
  var window = 1
  var aheadLimit = 1
  /// Whether the whole upload waits because the present conditions do not allow it.
  var isHeld = false
  /// Whether a budget decides when its transfers start, if the network has one.
  let isDiscretionary: Bool
  /// The token nodes that its steps use.
  let tokens: [Int]
  /// The largest file that was sent.
  var largest: TransferSample?
  /// Its upload IDs that will not be used.
  var releases = Releases()
}

/// An item for which the budget had no room.
struct SkippedItem: Comparable, Sendable {
  let size: Int64
  let item: Int

  static func < (a: Self, b: Self) -> Bool { (a.size, a.item) < (b.size, b.item) }
  static func == (a: Self, b: Self) -> Bool { (a.size, a.item) == (b.size, b.item) }
}

/// One session in a launch.
struct SessionState: Sendable {
  var delay = ResumeState()
  /// Completions that will be handled at the next resume.
  var unhandled: [Unhandled] = []
  /// When they are handled.
  var handlesAt: Instant?
  /// Whether `ferry cancel` has ended the whole session.
  var isCancelled = false
  /// The manifests whose work in the session has been canceled.
  var cancelled: Set<ManifestID> = []

  enum Unhandled: Sendable {
    /// An upload's batch has completed (`isBatchThrough`).
    case batch(Int)
    /// A node with a single request has ended.
    case node(Int, NodeOutcome)
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
  /// The number of responses; 0 before the first.
  var generation = 0
  var expires: Instant?
  var fetchedAt = Instant(nanoseconds: 0)
  /// Steps that wait for it.
  var waiters: [Ready] = []
}

/// A node in a launch.
struct NodeState: Sendable {
  enum Phase: Sendable {
    /// `--only` does not select it.
    case notSelected
    /// Waits for the nodes that it needs.
    case waiting
    case open
    /// It ended in the background; the next resume will handle that.
    case finished(NodeOutcome)
    /// It ended; its outcome is being synced.
    case settling(sequence: UInt64, NodeOutcome)
    case closed(NodeOutcome)
    /// Part of it remains for a later launch.
    case left(RecordedFailure)
  }

  var phase: Phase
  /// The progress of a node with a single request.
  var progress: Progress?
  var failure: RecordedFailure?
  /// Whether a fetch or request ended in an earlier launch of this round.
  var endedBefore = false
  /// When a fetch is due, if it is not due yet.
  var notBefore: Instant?
  /// The interval of a fetch until the next one, counted from the last successful fetch.
  var interval: Duration?
  var fetchResult: FetchResult?
}
