import FerryJournal
import FerryPlan

/// Encodes the scheduler's journal entries as rows and captured values, and tracks which rows are synced.
final class JournalEncoder {
  /// The rounds, by node.
  private var rounds: [Int64]
  private let writer: any JournalAppending
  /// The index of the session's journal in the writer, by session.
  private var sessions: [Int?]
  /// The index of the node's journal in the writer, and the node's row there, by node.
  private var places: [(journal: Int, row: Int64)?]
  /// The index of the node's session, by node.
  private var homes: [Int]
  /// The number of `.record` actions so far (`recorded`), the last one that is synced (`synced`), and the
  /// writer's sequence numbers for the others (`waiting`).
  private var recorded: UInt64 = 0
  private var synced: UInt64 = 0
  private var waiting: [(record: UInt64, sequence: UInt64)] = []
  /// Whether a delivered file has an `after` action, by node.
  private var owesAfter: [Bool]
  /// Whether the next run compares the content of delivered files, by node.
  private var comparesContent: [Bool]
  /// Whether the node sends a file in several requests, by node.
  private var sendsParts: [Bool]
  private let postDeliveryWorker: PostDeliveryWorker
  private var commitKeys: CommitKeys
  private var sharedUploadIDs: [ItemRef] = []
  /// The row of each orphan in its journal.
  private var orphanRows: [ItemRef: Int64] = [:]
  /// The next free orphan row, by journal of the writer.
  private var nextOrphans: [Int64]
  /// Whether the node's items have upload IDs, or may have had them under an earlier version of the manifest, by
  /// node.
  private var allocates: [Bool]
  /// Delivered files whose delivery is not synced yet, each with the number of its `.record` action.
  private var delivered: [(record: UInt64, node: Int, file: DeliveredFile)] = []

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - orphans: by node: the journal rows of the orphans to be released.
  ///   - nextOrphans: by journal of the writer: the next free orphan row.
  ///   - allocatedBefore: the nodes whose items may have had upload IDs in an earlier run.
  init(
    plan: Plan, rounds: [Int64], writer: any JournalAppending, sessions: [Int?],
    places: [(journal: Int, row: Int64)?], orphans: [Int: [Int64]], nextOrphans: [Int64],
    allocatedBefore: Set<Int> = [], postDeliveryWorker: PostDeliveryWorker
  ) {
    for (node, rows) in orphans {
      for (index, row) in rows.enumerated() { orphanRows[.orphan(index, of: NodeID(node))] = row }
    }
    self.nextOrphans = nextOrphans
    allocates = Self.allocating(plan, before: allocatedBefore)
    owesAfter = plan.nodes.map { $0.after != .keep }
    comparesContent = plan.nodes.map(\.comparesContent)
    sendsParts = Self.sendingParts(plan)
    self.postDeliveryWorker = postDeliveryWorker
    self.sessions = sessions
    commitKeys = CommitKeys(plan, rounds: rounds)
    self.rounds = plan.nodes.map { rounds[$0.manifest.index] }
    self.writer = writer
    self.places = places
    homes = plan.nodes.map(\.session.index)
  }

  /// Adds the manifests that have joined the launch.
  ///
  /// - Parameter allocatedBefore: the nodes of these manifests whose items may have had upload IDs in an earlier run.
  func join(_ joining: JoiningManifest, allocatedBefore: Set<Int>) {
    let (plan, old) = (joining.plan, allocates)
    allocates = old + Self.allocating(plan, before: allocatedBefore).dropFirst(old.count)
    owesAfter = plan.nodes.map { $0.after != .keep }
    comparesContent = plan.nodes.map(\.comparesContent)
    sendsParts = Self.sendingParts(plan)
    commitKeys = CommitKeys(plan, rounds: joining.rounds)
    rounds = plan.nodes.map { joining.rounds[$0.manifest.index] }
    homes = plan.nodes.map(\.session.index)
    // Sessions that a joining manifest adds have no journal in this launch.
    sessions += Array(repeating: nil, count: plan.sessions.count - sessions.count)
    places += joining.places
  }

  private static func sendingParts(_ plan: Plan) -> [Bool] {
    plan.nodes.map { node in
      guard case .upload(let work) = node.work else { return false }
      return work.transferProtocol.machine != nil
    }
  }

  private static func allocating(_ plan: Plan, before: Set<Int>) -> [Bool] {
    plan.nodes.enumerated().map { index, node in
      guard case .upload(let work) = node.work else { return false }
      return work.hasUploadIDs || before.contains(index)
    }
  }

  func write(
    _ entries: [JournalEntry], scheduler: Scheduler, captures: CaptureStore, fetches: FetchCache
  ) throws(JournalError) {
    recorded += 1
    var writes: [Int: [JournalWrite]] = [:]
    for entry in entries {
      if let (session, write) = sessionWrite(entry) {
        if let journal = sessions[session.index] { writes[journal, default: []].append(write) }
        continue
      }
      guard let node = entry.node, let row = places[node.index] else { continue }
      if let upload = uploadWrites(entry, scheduler: scheduler, captures: captures, at: row) {
        writes[row.journal, default: []] += upload
      } else {
        writes[row.journal, default: []] += nodeWrites(
          entry, scheduler: scheduler, captures: captures, fetches: fetches, row: row.row,
          round: rounds[node.index])
      }
    }
    // Append these writes after the entries, because the entries may create one of these orphans.
    for orphan in captures.takeIssuedAgain() {
      if let journal = sessions[orphan.session] {
        writes[journal, default: []].append(.orphanDoubted(orphan: orphan.row))
      }
    }
    var sequence: UInt64 = waiting.last?.sequence ?? 0
    for journal in writes.keys.sorted() {
      sequence = try writer.append(writes[journal] ?? [], to: journal)
    }
    waiting.append((recorded, sequence))
  }

  /// The write for a session's entry; `nil` for entries of nodes.
  private func sessionWrite(_ entry: JournalEntry) -> (SessionID, JournalWrite)? {
    switch entry {
    case .sessionResumed(let session, let delay):
      (session, .resumed(period: delay.period, at: delay.resumedAt))
    case .sessionInForeground(let session, let moment): (session, .foreground(until: moment))
    case .batchCompleted(let session): (session, .events(pending: true))
    case .itemsQueued, .intentRecorded, .intentWithdrawn, .uploadIDAllocated, .transferAdvanced,
      .uploadIDUpdated,
      .fileTransferred, .uploadIDDiscarded, .itemClosed, .uploadIDOrphaned, .orphanResolved,
      .orphanReleaseFailed, .fetchFailed, .nodeFailing:
      nil
    }
  }

  /// Returns the orphans written since the last call whose upload IDs other items also have.
  func takeSharedUploadIDs() -> [ItemRef] {
    defer { sharedUploadIDs = [] }
    return sharedUploadIDs
  }

  /// The number of the last `.record` action.
  var lastRecord: UInt64 { recorded }

  /// Records that the session's `on_events` command was started for all batches recorded so far.
  func eventsStarted(_ session: SessionID) throws(JournalError) {
    guard let journal = sessions[session.index] else { return }
    _ = try writer.append([.events(pending: false)], to: journal)
  }

  func sync() throws(JournalError) { _ = try writer.sync() }

  /// Returns the number of the last `.record` action that is completely on disk, given the last sequence number synced
  /// by the writer.
  func record(syncedBy sequence: UInt64) -> UInt64 {
    let through = waiting.prefix { $0.sequence <= sequence }
    if let last = through.last { synced = last.record }
    waiting.removeFirst(through.count)
    carryOutAfter()
    return synced
  }

  /// Starts the `after` actions of delivered files whose delivery is recorded on disk.
  private func carryOutAfter() {
    let due = delivered.prefix { $0.record <= synced }
    guard !due.isEmpty else { return }
    postDeliveryWorker.take(due.map { ($0.node, $0.file) })
    delivered.removeFirst(due.count)
  }

  /// The writes for an entry of an upload's item; `nil` for entries of single requests.
  private func uploadWrites(
    _ entry: JournalEntry, scheduler: Scheduler, captures: CaptureStore, at node: (journal: Int, row: Int64)
  ) -> [JournalWrite]? {
    func row(_ ref: ItemRef) -> Int64? { scheduler.row(of: ref) }
    switch entry {
    case .sessionResumed, .sessionInForeground, .batchCompleted, .fetchFailed, .nodeFailing: return nil
    case .itemsQueued(let id, let items, let at):
      return scheduler.withItems(of: id) { handOver($0, items, of: id, at: node, at) }
    case .intentRecorded(let ref, .commit):
      let key = commitKeys.key(of: ref, captures[ref], scheduler)
      captures.keep(commitKey: key, of: ref)
      let holds = commitKeys.heldByIntent(of: ref.node)
      return row(ref).map { [.intent(row: $0, step: .commit, key: key, holds: holds)] }
    case .intentRecorded(let ref, let step):
      return row(ref).map { [.intent(row: $0, step: step ?? .transfer)] }
    case .intentWithdrawn(let ref): return row(ref).map { [.withdraw(row: $0)] }
    case .uploadIDAllocated(let ref, let expires):
      return row(ref).map {
        let values = captures[ref]
        let captured = ItemValues.journaled(values.allocate, step: "allocate")
        return serverWrites(values, row: $0) + [.allocated(row: $0, captures: captured, expires: expires)]
          + partialWrites(ref, scheduler, row: $0)
      }
    case .transferAdvanced(let ref, let bytes):
      return row(ref).map { [.confirmedBytes(row: $0, bytes)] }
    case .uploadIDUpdated(let ref, let expires):
      return row(ref).map {
        let captured = ItemValues.journaled(captures[ref].allocate, step: "allocate")
        return [.allocated(row: $0, captures: captured, expires: expires)]
      }
    case .fileTransferred(let ref):
      return row(ref).map {
        let values = captures[ref]
        let transferred = JournalWrite.transferred(
          row: $0, captures: ItemValues.journaled(values.transfer, step: "transfer"), sha256: values.sha256)
        // If the item has an upload ID, the servers were written together with the ID.
        let servers = values.allocate.isEmpty ? serverWrites(values, row: $0) : []
        return servers + [transferred] + sourceWrites(values, nil, row: $0)
      }
    case .uploadIDDiscarded(let ref):
      captures.forget(ref)
      return row(ref).map { [.released(row: $0)] }
    case .uploadIDOrphaned(let ref, let index, let orphaning, let at):
      let orphan = nextOrphans[node.journal]
      nextOrphans[node.journal] += 1
      orphanRows[.orphan(index, of: ref.node)] = orphan
      let isInDoubt = orphaning.isInDoubt
      let place = OrphansAside.Orphan(session: homes[ref.node.index], row: orphan)
      if captures.orphan(ref, as: .orphan(index, of: ref.node), isInDoubt: isInDoubt, at: place, scheduler) {
        sharedUploadIDs.append(.orphan(index, of: ref.node))
      }
      return row(ref).map { [.orphaned(row: $0, orphan: orphan, orphaning, at: at)] }
    case .orphanResolved(let ref):
      let isInDoubt = captures.forget(orphan: ref)
      return orphanRows.removeValue(forKey: ref)
        .map { [isInDoubt ? .orphanDoubted(orphan: $0) : .orphanSettled(orphan: $0)] } ?? []
    case .orphanReleaseFailed(let ref, let failure, let at):
      return orphanRows[ref].map { [.orphanKept(orphan: $0, failure: failure, at: at)] } ?? []
    case .itemClosed(let ref, let state, let failure, let at):
      guard let row = row(ref) else { return nil }
      let values = captures[ref]
      let isShared = captures.forget(
        ref, isDelivered: state == .done || state == .ambiguous, keepsSecrets: state == .ambiguous)
      let closed = JournalWrite.closed(
        row: row, state: state, at: at, failure: failure, keepsUploadID: isShared && state == .done)
      guard let item = ref.item, state == .done || state == .ambiguous else { return [closed] }
      let isDone = state == .done
      let source = sourceWrites(
        values, comparesContent[ref.node.index] ? values.sha256 : nil, row: row)
      let redirect =
        isDone ? nil : values.redirectedTo.map { BoundServers.redirected(values.servers, to: $0) }
      let redirects = redirect.map { [JournalWrite.servers(row: row, $0.text)] } ?? []
      // Keep the source of an ambiguous item, because the user may later resolve the item as delivered.
      guard isDone, owesAfter[ref.node.index] else {
        return source.isEmpty && redirects.isEmpty ? [closed] : [closed] + source + redirects
      }
      let file = scheduler.withItems(of: ref.node) { table in
        DeliveredFile(
          row: row, path: Array(table.files.path(item)), size: table.files.sizes[item],
          modified: table.files.modified[item], inode: values.inode, root: values.root)
      }
      if let file { delivered.append((recorded, ref.node.index, file)) }
      return [closed] + source + [.after(row: row, .owed)]
    }
  }

  private func serverWrites(_ values: ItemValues, row: Int64) -> [JournalWrite] {
    values.servers.map { [.servers(row: row, $0.text)] } ?? []
  }

  /// The write that identifies a partly sent file, so that a later run can continue the file's upload.
  private func partialWrites(_ ref: ItemRef, _ scheduler: Scheduler, row: Int64) -> [JournalWrite] {
    guard sendsParts[ref.node.index], let item = ref.item,
      let identity = scheduler.withItems(of: ref.node, { $0.files.identities[item] }), identity != 0
    else { return [] }
    return [.source(row: row, inode: identity, sha256: nil)]
  }

  /// The write that identifies the sent file, if the file is checked again later.
  private func sourceWrites(_ values: ItemValues, _ sha256: [UInt8]?, row: Int64) -> [JournalWrite] {
    guard values.inode != nil || sha256 != nil else { return [] }
    return [.source(row: row, inode: values.inode, root: values.root, sha256: sha256)]
  }

  private func handOver(
    _ table: borrowing ItemTable, _ items: Range<Int>, of id: NodeID, at node: (journal: Int, row: Int64),
    _ at: Instant
  ) -> [JournalWrite] {
    let round = rounds[id.index]
    var new = FileColumns()
    var firstRow: Int64 = 0
    var requeued: [JournalWrite.Requeued] = []
    var adopted: [Int64] = []
    for item in items {
      let size = table.files.sizes[item]
      let modified = table.files.modified[item]
      switch table.entries[item] {
      case .new:
        // Reconciliation assigns consecutive rows to new items.
        if new.count == 0 { firstRow = table.rows[item] }
        new.append(path: table.files.path(item), size: size, modified: modified)
      case .requeued, .changed: requeued.append(.init(row: table.rows[item], size: size, modified: modified))
      case .adopted: adopted.append(table.rows[item])
      case .continuing: break
      }
    }
    var writes: [JournalWrite] = []
    if new.count > 0 {
      writes.append(.insert(node: node.row, round: round, handedOver: at, firstRow: firstRow, files: new))
    }
    if !adopted.isEmpty { writes.append(.adopt(round: round, handedOver: at, rows: adopted)) }
    guard !requeued.isEmpty else { return writes }
    var firstOrphan: Int64?
    if allocates[id.index] {
      // Reserve a row for each file, even if the file has no upload ID, because row numbers are plentiful.
      firstOrphan = nextOrphans[node.journal]
      nextOrphans[node.journal] += Int64(requeued.count)
    }
    writes.append(.requeue(round: round, handedOver: at, files: requeued, firstOrphan: firstOrphan))
    return writes
  }

  private func nodeWrites(
    _ entry: JournalEntry, scheduler: Scheduler, captures: CaptureStore, fetches: FetchCache, row: Int64,
    round: Int64
  ) -> [JournalWrite] {
    switch entry {
    case .intentRecorded: [.nodeIntent(node: row, round: round)]
    case .intentWithdrawn: [.nodeWithdraw(node: row)]
    case .itemClosed(let ref, let state, let failure, let at):
      [
        .nodeClosed(
          node: row,
          NodeClosing(
            round: round, state: state, at: at, failure: failure,
            captures: captures.captures(of: ref.node),
            fetch: state == .done ? fetchRecord(ref.node, scheduler, fetches) : nil))
      ]
    case .fetchFailed(_, let failure, let at):
      [.fetchFailed(node: row, round: round, failure: failure, at: at)]
    case .nodeFailing(_, let since): [.nodeFailing(node: row, round: round, since: since)]
    case .itemsQueued, .uploadIDAllocated, .transferAdvanced, .uploadIDUpdated, .fileTransferred,
      .uploadIDDiscarded,
      .sessionResumed,
      .sessionInForeground, .batchCompleted, .uploadIDOrphaned, .orphanResolved,
      .orphanReleaseFailed:
      []
    }
  }

  /// The validators of the response, with the resulting fetch interval.
  private func fetchRecord(_ node: NodeID, _ scheduler: Scheduler, _ fetches: FetchCache) -> FetchRecord? {
    var record = fetches[node]
    record?.interval = scheduler.fetchInterval(of: node)
    return record
  }
}

extension JournalEntry {
  /// The node of the entry; `nil` for an entry of a session.
  var node: NodeID? {
    switch self {
    case .sessionResumed, .sessionInForeground, .batchCompleted: nil
    case .itemsQueued(let node, _, _), .fetchFailed(let node, _, _), .nodeFailing(let node, _): node
    case .intentRecorded(let ref, _), .intentWithdrawn(let ref), .uploadIDAllocated(let ref, _),
      .transferAdvanced(let ref, _), .uploadIDUpdated(let ref, _), .fileTransferred(let ref),
      .uploadIDDiscarded(let ref), .itemClosed(let ref, _, _, _), .uploadIDOrphaned(let ref, _, _, _),
      .orphanResolved(let ref),
      .orphanReleaseFailed(let ref, _, _):
      ref.node
    }
  }
}
