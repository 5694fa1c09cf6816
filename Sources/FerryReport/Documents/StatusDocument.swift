import FerryPlan

/// The state of sessions, as written by `ferry status --format json`. The JSON keys are a stable public
/// interface.
package struct StatusDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// The time at which the state was read.
  package var at: String
  package var sessions: [SessionEntry]
  /// The published progress of the runs that hold one of the sessions; absent if there is none.
  package var runs: [RunProgress]?
  package var manifests: [ManifestEntry]

  /// Whether each session's journal could be read.
  package var isWhole: Bool { sessions.allSatisfy { $0.problem == nil } }

  /// Whether a process holds one of the sessions.
  package var isHeld: Bool { sessions.contains { $0.holder != nil } }

  package struct SessionEntry: Encodable, Sendable {
    package var identifier: String
    /// The process that holds the session; absent if the session is not held.
    package var holder: Holder?
    /// The last run of a manifest in the session, if it was interrupted and its round is open; absent if a process
    /// holds the session.
    package var interruptedRun: InterruptedRun?
    /// The execution window of the run that holds the session; absent if there is none.
    package var window: Window?
    package var nodes: [NodeEntry]
    /// The resume delay; absent if nothing is delayed.
    package var delay: Delay?
    /// Whether the session's `on_events` still has to be started.
    package var eventsPending: Bool
    package var notes: [NoteEntry]
    /// The removal of the session by `ferry cancel`; absent if the session was not removed, or if a run has
    /// used it since.
    package var removed: Removal?
    /// The reason why the rest of the session's state is unknown: its journal cannot be read.
    package var problem: String?

    package init(
      identifier: String, holder: Holder? = nil, interruptedRun: InterruptedRun? = nil,
      window: Window? = nil, nodes: [NodeEntry],
      delay: Delay? = nil, eventsPending: Bool, notes: [NoteEntry], removed: Removal? = nil,
      problem: String? = nil
    ) {
      self.identifier = identifier
      self.holder = holder
      self.interruptedRun = interruptedRun
      self.window = window
      self.nodes = nodes
      self.delay = delay
      self.eventsPending = eventsPending
      self.notes = notes
      self.removed = removed
      self.problem = problem
    }
  }

  /// The removal of a session together with its journal (`force_quit: remove_session`).
  package struct Removal: Encodable, Sendable {
    /// A stable code.
    package var code: FailureCode
    package var message: String
    /// The number of items that were canceled.
    package var items: Int
    package var removedAt: String

    package init(code: FailureCode, message: String, items: Int, removedAt: String) {
      self.code = code
      self.message = message
      self.items = items
      self.removedAt = removedAt
    }
  }

  package struct Holder: Encodable, Sendable {
    package var pid: Int32?
    package var since: String?

    package init(pid: Int32? = nil, since: String? = nil) {
      self.pid = pid
      self.since = since
    }
  }

  /// The execution window of a running launch, as estimated from the start of its run and the session's last resume.
  package struct Window: Encodable, Sendable {
    package var endsAt: String
    /// The remaining seconds; 0 if the window has ended.
    package var remainingSeconds: Double

    package init(endsAt: String, remainingSeconds: Double) {
      self.endsAt = endsAt
      self.remainingSeconds = remainingSeconds
    }
  }

  /// One upload, download batch, fetch or request in the session.
  package struct NodeEntry: Encodable, Sendable {
    package var manifest: String
    package var name: String
    package var kind: Node.Kind
    package var origin: String?
    /// The open round, or the last round.
    package var round: Int64
    /// For a fetch or request in that round: its state, with the same values as for items; absent until the fetch or
    /// request has ended.
    package var state: ReportState?
    /// For an upload or download batch: the items in the journal, counted relative to that round.
    package var items: Items?
    /// For an upload or download batch: why items of that round were canceled; absent if none were.
    package var cancellations: [RunRecord.CancellationRecord]?
    /// The reason why the remaining work is waiting; absent if a process holds the session or nothing is
    /// waiting.
    package var reason: RecordedFailure?
    /// The time at which a fetch becomes due, if it is not due yet.
    package var notBefore: String?
    /// The requests that the user must resolve: at most a hundred entries, with items sorted by path.
    package var ambiguous: [AmbiguousEntry]?
    /// For an upload: the number of unused upload IDs, as listed by `ferry orphans`; absent if there are
    /// none.
    package var orphans: Int?

    package init(
      manifest: String, name: String, kind: Node.Kind, origin: String? = nil, round: Int64,
      state: ReportState? = nil, items: Items? = nil, reason: RecordedFailure? = nil,
      notBefore: String? = nil,
      ambiguous: [AmbiguousEntry]? = nil, orphans: Int? = nil
    ) {
      self.manifest = manifest
      self.name = name
      self.kind = kind
      self.origin = origin
      self.round = round
      self.state = state
      self.items = items
      self.reason = reason
      self.notBefore = notBefore
      self.ambiguous = ambiguous
      self.orphans = orphans
    }
  }

  package struct AmbiguousEntry: Encodable, Sendable {
    /// The path of an item, relative to `root`.
    package var path: String?
    /// The bytes of a path that is not UTF-8.
    package var pathBase64: String?
    package var ambiguity: Ambiguity

    package init(path: String? = nil, pathBase64: String? = nil, ambiguity: Ambiguity) {
      self.path = path
      self.pathBase64 = pathBase64
      self.ambiguity = ambiguity
    }
  }

  package struct Items: Encodable, Sendable {
    package var queued = 0
    package var allocated = 0
    package var transferred = 0
    package var done = 0
    package var failed = 0
    package var ambiguous = 0
    package var cancelled = 0
    /// Items delivered in earlier rounds.
    package var doneBefore = 0
    /// The number of files that a run would send, including files that are not in the journal yet; absent if the
    /// manifest cannot be read.
    package var toSend: Int?
    /// The number of delivered files that a run would read to determine whether they changed; absent if there are none.
    package var toCompare: Int?
    /// The number of paths, or of elements of the list of a download batch, that a run would not transfer because
    /// they cannot be listed; absent if there are none.
    package var unlisted: Int?
    /// The number of delivered files of any round that still have to be deleted or moved; absent if there are none.
    package var owedAfter: Int?

    package init(
      queued: Int = 0, allocated: Int = 0, transferred: Int = 0, done: Int = 0, failed: Int = 0,
      ambiguous: Int = 0, cancelled: Int = 0, doneBefore: Int = 0, toSend: Int? = nil,
      toCompare: Int? = nil, owedAfter: Int? = nil
    ) {
      self.queued = queued
      self.allocated = allocated
      self.transferred = transferred
      self.done = done
      self.failed = failed
      self.ambiguous = ambiguous
      self.cancelled = cancelled
      self.doneBefore = doneBefore
      self.toSend = toSend
      self.toCompare = toCompare
      self.owedAfter = owedAfter
    }
  }

  package struct Delay: Encodable, Sendable {
    package var periodSeconds: Double
    package var resumedAt: String
    package var endsAt: String

    package init(periodSeconds: Double, resumedAt: String, endsAt: String) {
      self.periodSeconds = periodSeconds
      self.resumedAt = resumedAt
      self.endsAt = endsAt
    }
  }

  package struct NoteEntry: Encodable, Sendable {
    package var id: Int64
    package var kind: String
    package var manifest: String?
    package var node: String?
    package var files: Int
    /// The first hundred paths.
    package var paths: [String]
    /// The text of `ferry cancel --reason`.
    package var reason: String?
    package var createdAt: String

    package init(
      id: Int64, kind: String, manifest: String? = nil, node: String? = nil, files: Int, paths: [String],
      reason: String? = nil, createdAt: String
    ) {
      self.id = id
      self.kind = kind
      self.manifest = manifest
      self.node = node
      self.files = files
      self.paths = paths
      self.reason = reason
      self.createdAt = createdAt
    }
  }

  package struct ManifestEntry: Encodable, Sendable {
    package var name: String
    package var path: String?
    package var round: Int64?
    package var roundOpenedAt: String?
    /// The time at which the round was closed; absent while it is open.
    package var roundClosedAt: String?
    package var conditions: DeviceConditions?
    package var budgets: [BudgetUse]?
    /// The reason why budgets and reasons are missing: the manifest cannot be read, or its files cannot be
    /// listed.
    package var problem: String?

    package init(
      name: String, path: String? = nil, round: Int64? = nil, roundOpenedAt: String? = nil,
      roundClosedAt: String? = nil, conditions: DeviceConditions? = nil, budgets: [BudgetUse]? = nil,
      problem: String? = nil
    ) {
      self.name = name
      self.path = path
      self.round = round
      self.roundOpenedAt = roundOpenedAt
      self.roundClosedAt = roundClosedAt
      self.conditions = conditions
      self.budgets = budgets
      self.problem = problem
    }
  }

  package init(state: String, at: String, sessions: [SessionEntry], manifests: [ManifestEntry]) {
    self.state = state
    self.at = at
    self.sessions = sessions
    self.manifests = manifests
  }
}

extension StatusDocument.Items {
  package mutating func count(_ state: ItemState, _ count: Int) {
    switch state {
    case .queued: queued += count
    case .allocated: allocated += count
    case .transferred: transferred += count
    case .done: done += count
    case .failed: failed += count
    case .ambiguous: ambiguous += count
    case .cancelled: cancelled += count
    }
  }
}
