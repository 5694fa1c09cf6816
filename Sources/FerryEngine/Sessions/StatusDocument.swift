import FerryPlan

/// The state of sessions, as written by `ferry status --format json`. Its keys are an interface.
package struct StatusDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// When the state was read.
  package var at: String
  package var sessions: [SessionEntry]
  package var manifests: [ManifestEntry]

  /// Whether each session's journal could be read.
  package var isWhole: Bool { sessions.allSatisfy { $0.problem == nil } }

  package struct SessionEntry: Encodable, Sendable {
    package var identifier: String
    /// The process that holds the session; absent if none does.
    package var holder: Holder?
    package var nodes: [NodeEntry]
    /// Absent if nothing is delayed.
    package var delay: Delay?
    /// Whether the session's `on_events` still has to be started.
    package var eventsPending: Bool
    package var notes: [NoteEntry]
    /// Why nothing else is known about the session: its journal cannot be read.
    package var problem: String?
  }

  package struct Holder: Encodable, Sendable {
    package var pid: Int32?
    package var since: String?
  }

  /// One upload, fetch or request in the session.
  package struct NodeEntry: Encodable, Sendable {
    package var manifest: String
    package var name: String
    package var kind: Node.Kind
    package var origin: String?
    /// The open round, or the last one.
    package var round: Int64
    /// For a fetch or request in that round: a state as for items; absent until it is closed.
    package var state: String?
    /// For an upload: its items in the journal, of that round.
    package var items: Items?
    /// Why the remaining work waits; absent if a process holds the session or nothing waits.
    package var reason: RecordedFailure?
    /// For a fetch that is not due yet.
    package var notBefore: String?
    /// What the user must resolve: at most a hundred entries, items sorted by path.
    package var ambiguous: [AmbiguousEntry]?
    /// For an upload: the number of upload IDs that will not be used, as listed by `ferry orphans`; absent if there
    /// are none.
    package var orphans: Int?
  }

  package struct AmbiguousEntry: Encodable, Sendable {
    /// The path of an item, relative to `root`.
    package var path: String?
    /// The bytes of a path that is not UTF-8.
    package var pathBase64: String?
    package var ambiguity: Ambiguity
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
    /// Files that a run would send, including those that are not in the journal yet; absent if the manifest cannot be
    /// read.
    package var toSend: Int?
    /// Delivered files that a run would read to determine whether they changed; absent if there are none.
    package var toCompare: Int?
    /// Delivered files of any round that still have to be deleted or moved; absent if there are none.
    package var owedAfter: Int?
  }

  package struct Delay: Encodable, Sendable {
    package var periodSeconds: Double
    package var resumedAt: String
    package var endsAt: String
  }

  package struct NoteEntry: Encodable, Sendable {
    package var id: Int64
    package var kind: String
    package var manifest: String?
    package var node: String?
    package var files: Int
    /// The first hundred paths.
    package var paths: [String]
    package var createdAt: String
  }

  package struct ManifestEntry: Encodable, Sendable {
    package var name: String
    package var path: String?
    package var round: Int64?
    package var roundOpenedAt: String?
    /// Absent while the round is open.
    package var roundClosedAt: String?
    package var conditions: DeviceConditions?
    package var budgets: [BudgetUse]?
    /// Why budgets and reasons are missing: the manifest cannot be read, or its files cannot be listed.
    package var problem: String?
  }
}

extension StatusDocument.Items {
  mutating func count(_ state: ItemState, _ count: Int) {
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

extension ItemState {
  /// The word for the state in documents.
  package var word: String {
    switch self {
    case .queued: "queued"
    case .allocated: "allocated"
    case .transferred: "transferred"
    case .done: "done"
    case .failed: "failed"
    case .ambiguous: "ambiguous"
    case .cancelled: "cancelled"
    }
  }
}
