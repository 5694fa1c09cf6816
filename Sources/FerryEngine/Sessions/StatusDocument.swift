import FerryPlan

/// How sessions stand, as `ferry status --format json` writes it. Its keys are an interface.
package struct StatusDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  /// When it was looked at.
  package var at: String
  package var sessions: [SessionEntry]
  package var manifests: [ManifestEntry]

  /// Whether each session's journal could be read.
  package var isWhole: Bool { sessions.allSatisfy { $0.problem == nil } }

  package struct SessionEntry: Encodable, Sendable {
    package var identifier: String
    /// The process that holds it; absent where none does.
    package var holder: Holder?
    package var nodes: [NodeEntry]
    /// Absent where nothing is delayed.
    package var delay: Delay?
    /// Its `on_events` is still to be started.
    package var eventsPending: Bool
    package var notes: [NoteEntry]
    /// Why nothing else can be told of it: its journal cannot be read.
    package var problem: String?
  }

  package struct Holder: Encodable, Sendable {
    package var pid: Int32?
    package var since: String?
  }

  /// One upload, fetch or request that lives in the session.
  package struct NodeEntry: Encodable, Sendable {
    package var manifest: String
    package var name: String
    package var kind: Node.Kind
    package var origin: String?
    /// The open round, or the last one.
    package var round: Int64
    /// Of a fetch or request in that round: as an item's; absent before its end.
    package var state: String?
    /// Of an upload: its items of that round that the journal has.
    package var items: Items?
    /// Why what is left of it waits; absent where a process holds the session, or nothing waits.
    package var reason: RecordedFailure?
    /// Of a fetch that is not due yet.
    package var notBefore: String?
    /// What a person has to decide, at most a hundred of them, the items by their paths.
    package var ambiguous: [AmbiguousEntry]?
    /// Of an upload: upload IDs that will not be used, as `ferry orphans` lists them; absent where there are none.
    package var orphans: Int?
  }

  package struct AmbiguousEntry: Encodable, Sendable {
    /// Of an item: relative to `root`.
    package var path: String?
    /// Its bytes, where they are not UTF-8.
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
    /// Delivered in earlier rounds.
    package var doneBefore = 0
    /// Files that a run would send, those among them that the journal does not have yet; absent where the
    /// manifest cannot be read.
    package var toSend: Int?
    /// Delivered files that a run would read to tell whether they changed; absent where there is none.
    package var toCompare: Int?
    /// Delivered files that are still to be deleted or moved, of any round; absent where there is none.
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
    /// The first hundred of them.
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
    /// Why nothing is told of budgets and reasons: the manifest cannot be read, or its files cannot be listed.
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
  /// A word for documents.
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
