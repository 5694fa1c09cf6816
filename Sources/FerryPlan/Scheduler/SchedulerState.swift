import HeapModule

/// What is kept of the attempts at an item, a node with a single request, or a release, from its first step to its
/// end in the launch.
struct AttemptHistory: Sendable {
  /// When the first attempt in this launch began, from which `timeout_for_resource` counts; `nil` for items,
  /// whose time counts from when they were queued.
  var startedAt: Instant?
  /// The number of retries in this launch.
  var retries = 0
  /// How often the present step was replaced because its token was rejected.
  var replacements = 0
  /// Whether a fetch is sent without a validator because a request with one was refused.
  var isUnconditional = false
  /// The queues of its later steps, if only a capture determined their origins.
  var hostQueues: [Step.Kind: Int] = [:]
  /// The bytes of the file in the transfer that succeeded last, as long as its upload has not started over.
  var usefulBytes: Int64 = 0
  /// The failed attempts so far.
  var failures: [AttemptFailure] = []
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
  /// Sent items that wait until every item of the batch has been sent or has ended.
  var sent: [Ready] = []
  /// Whether the batch's completions were passed to the session, to be handled at a resume.
  var isHandled = false
  /// The items that have begun and have not ended.
  var active: [Int: ActiveItem] = [:]
  /// The sums over all items of how each one counts in its present state.
  var tally: LifecycleCounts
  /// How the items have ended.
  var counts = ItemCounts()
  let rules: ItemRules
  /// The maximum number of items that have begun and not ended, so that IDs are allocated as late as the
  /// queue allows.
  var window = 1
  var aheadLimit = 1
  /// Whether the whole upload waits because the present conditions do not allow it.
  var isHeld = false
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

  /// Whether the completion of an upload's batch waits to be handled.
  func owesBatch(of upload: Int) -> Bool {
    unhandled.contains { if case .batch(upload) = $0 { true } else { false } }
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
  /// The attempts at a node with a single request, once it is open.
  var attempts: AttemptHistory?
  /// The intent of a node with a single request.
  var intent = ItemProgress.Intent.none
  var failure: RecordedFailure?
  /// Whether a fetch or request ended in an earlier launch of this round.
  var endedBefore = false
  /// When a fetch is due, if it is not due yet.
  var notBefore: Instant?
  /// The interval of a fetch until the next one, counted from the last successful fetch.
  var interval: Duration?
  var fetchResult: FetchResult?
}
