import HeapModule

/// The history of the attempts at an item, a node with a single request, or a release, from its first step
/// to its end in the launch.
struct AttemptHistory: Sendable {
  /// The time of the first attempt in this launch, from which `timeout_for_resource` is counted; `nil` for
  /// items, whose time is measured from their queueing.
  var startedAt: Instant?
  /// The number of retries in this launch, counted for all steps together. Progress of a transfer in several
  /// requests, or of a download, resets the number.
  var retries = 0
  /// The number of times the current step was replaced because its token was rejected.
  var replacements = 0
  /// Whether a fetch is sent without a validator because a request with a validator was refused.
  var isUnconditional = false
  /// The queues of the later steps, if only a capture determined the origins of these steps.
  var hostQueues: [Step.Kind: Int] = [:]
  /// The number of transferred bytes of the file that count as useful; 0 after the upload has started over.
  var usefulBytes: Int64 = 0
  /// Those of them that were transferred before the present window of the budget.
  var earlierBytes: Int64 = 0
  /// The greatest offset in the file that a transfer or a download has reached in this launch.
  var greatestOffset: Int64 = 0
  /// The bytes that the transfer has sent in several requests, and that no response has confirmed, by
  /// the number of the upload resource.
  var unconfirmedBytes: [Int: Int64] = [:]
  /// The size of the body of a single request, in bytes; 0 until it is known that it is not small.
  var bodySize: Int64 = 0
  /// Under a hard budget: the number of times that a request may send its body, because of redirects.
  var bodyCopies: Int64 = 1
  /// The number of requests of the transfer that are being sent, if the transfer takes several requests.
  var requestsInFlight = 0
  /// Whether one of these requests was interrupted, so that no further one starts.
  var isInterrupted = false
  /// The earliest time at which the response to a probe may have been generated: the end of the last commit that the
  /// server may have executed, or of the last probe; `nil` if this launch has sent no such commit.
  var probeNotBefore: Instant?
  /// The time at which a probe showed that the commit was not executed, if the next commit may still rely on this.
  var commitDeniedAt: Instant?
  /// The results that have consequences once all of these requests have ended.
  var postponed: [Landing] = []
  /// The failed attempts so far; of more than `mostFailures`, the first and the last ones.
  private(set) var failures: [AttemptFailure] = []
  /// The number of requests that have ended.
  var requests: UInt32 = 0

  /// The maximum number of failed attempts that are kept. Progress allows further attempts, so their number depends on the
  /// server.
  static let mostFailures = 100

  mutating func add(_ failure: AttemptFailure) {
    if failures.count == Self.mostFailures { failures.remove(at: Self.mostFailures / 2) }
    failures.append(failure)
  }
}

/// The end of an attempt.
struct Landing: Sendable {
  var flight: Scheduler.Flight
  var result: AttemptResult
  var verdict: Verdict
}

/// One upload in a launch.
struct UploadState: Sendable {
  let node: NodeID
  var items: ItemTable
  /// The number of items at the start of the table that are sorted by path. The remaining items were submitted
  /// during the launch.
  var listedCount: Int
  /// The items submitted during the launch, by path.
  var further: [[UInt8]: Int] = [:]
  /// The priority; 0 is the highest.
  let priority: UInt16
  /// The index at which the next batch begins.
  var handedOver = 0
  /// Items of the batch that have not begun.
  var pending = PendingItems()
  /// Items that the resume delay holds, and the time at which the delay ends.
  var delayed: (items: PendingItems, until: Instant)?
  /// Items for which the remaining budget was too small, smallest first.
  var skipped = Heap<SkippedItem>()
  /// The record that must be synced before the batch starts (background sessions).
  var heldUntil: UInt64 = 0
  /// The first item that waits for this sync. Earlier items are already on disk.
  var heldFrom = 0
  /// The record that queues the latest items.
  var queuedBy: UInt64 = 0
  /// Sent items that wait until every item of the batch has been sent or has ended.
  var sent: [Ready] = []
  /// Whether the batch's completions were passed to the session, to be handled at a resume.
  var isHandled = false
  /// The items that have begun and have not ended.
  var active = ActiveItems()
  /// The sums of the contributions of all items in their current state.
  var tally: LifecycleCounts
  /// The number of items by outcome.
  var counts = ItemCounts()
  /// For an upload that other processes have skipped: the reason why it remains for a later launch if it can open.
  var remaining: RecordedFailure?
  let rules: ItemRules
  /// The maximum number of items in progress, so that IDs are allocated as late as the queue allows.
  var window = 1
  var aheadLimit = 1
  /// Whether the whole upload waits because the current conditions do not allow it.
  var isHeld = false
  /// Whether the upload's discretionary items wait because the current conditions do not allow them.
  var holdsDiscretionary = false
  /// The discretionary items of the batch that have to wait and have not begun.
  var held = PendingItems()
  /// The token nodes that the upload's steps use.
  let tokens: [Int]
  /// The work of this launch on each item that succeeded on the first attempt, if the report lists every item.
  var spans = ItemSpans()
  /// The largest file sent.
  var largest: TransferSample?
  /// The upload's unused upload IDs.
  var releases = Releases()
  /// How much of the upload's listing is known. An upload whose list has not been read has only the items in
  /// the journal.
  var list = ListState.read
  /// The failure with which `ferry cancel` ends the files that are not listed yet.
  var cancellation: RecordedFailure?

  enum ListState: Sendable {
    /// The list is read when the upload opens, because a node that the upload needs may write the list.
    case later
    case requested
    /// The table has the first files. Further ones are requested when these are queued on disk.
    case partial
    /// Further files were requested.
    case continuing
    case read

    /// Whether further files follow while the first ones are sent.
    var hasMore: Bool {
      switch self {
      case .partial, .continuing: true
      case .later, .requested, .read: false
      }
    }
  }
}

/// An item for which the remaining budget was too small.
struct SkippedItem: Comparable, Sendable {
  let size: Int64
  let item: Int

  static func < (a: Self, b: Self) -> Bool { (a.size, a.item) < (b.size, b.item) }
  static func == (a: Self, b: Self) -> Bool { (a.size, a.item) == (b.size, b.item) }
}

/// One session in a launch.
struct SessionState: Sendable {
  var delay = ResumeState()
  /// The time up to which queued work is not inferred to be discretionary; `nil` before the first foreground
  /// launch.
  var foregroundAt: Instant?
  /// Completions that will be handled at the next resume.
  var unhandled: [Unhandled] = []
  /// The time at which the completions in `unhandled` are handled.
  var handlesAt: Instant?
  /// Whether `ferry cancel` has ended the whole session.
  var isCancelled = false
  /// The manifests whose work in the session has been canceled.
  var cancelled: Set<ManifestID> = []
  /// The manifests for which only the work that was already queued in the session is completed.
  var drained: Set<ManifestID> = []

  enum Unhandled: Sendable {
    /// An upload's batch has completed (`isBatchComplete`).
    case batch(Int)
    /// A node with a single request has ended.
    case node(Int, NodeOutcome)
    /// The server rejected the token of a transfer. The transfer is sent again.
    case rejection(Ready)
  }

  /// Whether a completion of an upload waits to be handled: of its batch, or of a transfer whose token was rejected.
  func hasUnhandled(of upload: Int, _ node: NodeID) -> Bool {
    unhandled.contains {
      switch $0 {
      case .batch(let index): index == upload
      case .rejection(let ready): ready.ref.node == node
      case .node: false
      }
    }
  }

  /// The transfers whose rejections wait to be handled.
  var rejected: [Ready] {
    unhandled.compactMap { if case .rejection(let ready) = $0 { ready } else { nil } }
  }

  /// Removes the matching rejections, and returns their transfers.
  mutating func takeRejected(where isWanted: (Ready) -> Bool) -> [Ready] {
    let taken = rejected.filter(isWanted)
    guard !taken.isEmpty else { return [] }
    unhandled.removeAll { if case .rejection(let ready) = $0 { isWanted(ready) } else { false } }
    if unhandled.isEmpty { handlesAt = nil }
    return taken
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
  /// Steps that wait for the token.
  var waiters: [Ready] = []
}

/// A node in a launch.
struct NodeState: Sendable {
  enum Phase: Sendable {
    /// The node is not selected by `--only`.
    case notSelected
    /// The node is waiting for its needs.
    case waiting
    case open
    /// The node ended in the background, and the next resume will handle its completion.
    case finished(NodeOutcome)
    /// The node ended, and its outcome is being synced.
    case settling(sequence: UInt64, NodeOutcome)
    case closed(NodeOutcome)
    /// Part of the node's work remains for a later launch.
    case left(RecordedFailure)
  }

  var phase: Phase
  /// The attempts at a node with a single request, once it is open.
  var attempts: AttemptHistory?
  /// The intent of a node with a single request.
  var intent = ItemProgress.Intent.none
  var failure: RecordedFailure?
  /// The time of the first failure in the round after which the node remained open. For a node with items, a launch
  /// without failures clears it (`endFailurePeriods()`).
  var failingSince: Instant?
  /// Whether the node has failed temporarily in this launch.
  var hasFailed = false
  /// Whether a fetch or request ended in an earlier launch of this round.
  var endedBefore = false
  /// The time at which a fetch becomes due, if it is not due yet.
  var notBefore: Instant?
  /// For a fetch: the interval until the next fetch, counted from the last successful one.
  var interval: Duration?
  var fetchResult: FetchResult?
}
