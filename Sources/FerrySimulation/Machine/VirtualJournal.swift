import FerryPlan

/// A model of the journal. It applies entries in the same way as the engine's journal.
package struct VirtualJournal: Sendable {
  /// A node with a single request.
  package struct Single: Sendable {
    package var round: Int64
    package var state = ItemState.queued
    package var hasIntent = false
    package var failure: RecordedFailure?
  }

  /// The last successful fetch.
  package struct Fetched: Sendable {
    package var at: Instant
    package var interval: Duration?
    package var document: StoredDocument?

    package init(at: Instant, interval: Duration? = nil, document: StoredDocument? = nil) {
      self.at = at
      self.document = document
      self.interval = interval
    }
  }

  /// The rows by node; empty for nodes that are not uploads.
  package internal(set) var items: [ItemRows]
  package var singles: [Int: Single] = [:]
  package var fetches: [Int: Fetched] = [:]
  /// The last attempts of fetches that have failed since their last success.
  package var failedFetches: [Int: FailedFetch] = [:]
  /// The rounds and times of the first failures after which nodes remained open.
  package var failingNodes: [NodeID: (round: Int64, since: Instant)] = [:]
  package var delays: [SessionID: ResumeState] = [:]
  /// By session, the times up to which queued work is not inferred to be discretionary.
  package var foreground: [SessionID: Instant] = [:]
  /// For uploads: upload IDs that were dropped without a commit, oldest first.
  package internal(set) var orphans: [Int: [Orphan]] = [:]

  /// An upload ID that will not be used.
  package struct Orphan: Hashable, Sendable {
    package var uploadID: Int
    package var orphaning: Orphaning
    /// The orphan's number in the launch; `nil` if no launch releases it.
    package var number: Int?
  }

  /// Sessions whose `on_events` must still be started.
  package var owedEvents: Set<SessionID> = []

  package init(_ plan: Plan) {
    items = plan.nodes.map { node in
      let header = node.steps.lazy.compactMap(\.idempotencyHeader).first
      return ItemRows(commitKey: header.map { CommitKey(header: $0, value: node.name) })
    }
  }

  /// Records a journal entry of the scheduler.
  ///
  /// - Parameters:
  ///   - tables: the item tables of the launch, by node.
  ///   - uploadID: the upload ID that the item's allocation returned.
  mutating func apply(_ entry: JournalEntry, tables: [ItemTable?], uploadID: (ItemRef) -> Int?, round: Int64)
  {
    switch entry {
    case .itemsQueued(let node, let range, let at):
      guard let table = tables[node.index] else { return }
      handOver(range, of: table, node.index, round: round, at: at)
    case .intentRecorded(let ref, let step):
      guard let row = row(ref, tables) else {
        singles[ref.node.index] = Single(round: round, hasIntent: true)
        return
      }
      items[ref.node.index].set(row, intent: step ?? .transfer)
    case .intentWithdrawn(let ref):
      guard let row = row(ref, tables) else {
        singles[ref.node.index]?.hasIntent = false
        return
      }
      items[ref.node.index].set(row, intent: nil)
    case .uploadIDAllocated(let ref, let expires):
      guard let row = row(ref, tables) else { return }
      let intent = items[ref.node.index].known(row).intent
      items[ref.node.index].set(row, .allocated)
      items[ref.node.index].set(row, intent: intent)
      items[ref.node.index].set(row, expires: expires)
      items[ref.node.index].set(row, uploadID: uploadID(ref))
    case .uploadIDUpdated(let ref, let expires):
      guard let row = row(ref, tables) else { return }
      items[ref.node.index].set(row, expires: expires)
    case .fileTransferred(let ref):
      guard let row = row(ref, tables) else { return }
      let expires = items[ref.node.index].known(row).expires
      items[ref.node.index].set(row, .transferred)
      items[ref.node.index].set(row, expires: expires)
    case .uploadIDDiscarded(let ref):
      guard let row = row(ref, tables) else { return }
      items[ref.node.index].set(row, .queued)
      items[ref.node.index].set(row, uploadID: nil)
    case .transferAdvanced: break
    case .fetchFailed(let node, let failure, let at):
      failedFetches[node.index] = FailedFetch(at: at, failure: failure, isOpen: true)
    case .nodeFailing(let node, let since): failingNodes[node] = since.map { (round, $0) }
    case .itemClosed(let ref, let state, let failure, let at):
      guard let row = row(ref, tables) else {
        switch state {
        case .failed, .ambiguous:
          failedFetches[ref.node.index] = FailedFetch(at: at, failure: failure, isOpen: false)
        case .done: failedFetches[ref.node.index] = nil
        case .queued, .allocated, .transferred, .cancelled: break
        }
        singles[ref.node.index] = Single(round: round, state: state, failure: failure)
        return
      }
      items[ref.node.index].set(row, state)
    case .uploadIDOrphaned(let ref, let number, let orphaning, _):
      guard let row = row(ref, tables), let id = items[ref.node.index].uploadID(row) else { return }
      orphans[ref.node.index, default: []].append(
        .init(uploadID: id, orphaning: orphaning, number: number))
    case .orphanResolved(let ref): orphans[ref.node.index]?.removeAll { $0.number == ref.orphan }
    case .orphanReleaseFailed: break
    case .sessionResumed(let session, let delay): delays[session] = delay
    case .sessionInForeground(let session, let moment): foreground[session] = moment
    case .batchCompleted(let session): owedEvents.insert(session)
    }
  }

  /// Before a launch, turns the upload IDs of open items whose files start over into orphans.
  ///
  /// - Returns: the number of these orphans, by upload.
  mutating func dropUploadIDs(of plan: Plan, _ tables: [ItemTable?]) -> [NodeID: Int] {
    var counts: [NodeID: Int] = [:]
    for (node, table) in tables.enumerated() {
      guard let table, case .upload(let work) = plan.nodes[node].work, work.hasUploadIDs else { continue }
      for item in 0..<table.count where table.entries[item].isQueuedAnew {
        let row = Int(table.rows[item]) - 1
        let known = items[node].known(row)
        guard !known.state.isClosed, let id = items[node].uploadID(row) else { continue }
        let isInDoubt = work.mayCount(state: known.state, intent: known.intent)
        orphans[node, default: []].append(
          .init(uploadID: id, orphaning: Orphaning(.requeued, isInDoubt: isInDoubt)))
        items[node].set(row, .queued)
        items[node].set(row, uploadID: nil)
        counts[NodeID(node), default: 0] += 1
      }
    }
    return counts
  }

  /// Numbers the orphans that a launch may release, from 0.
  ///
  /// - Returns: the number of these orphans, by upload.
  mutating func numberOrphans() -> [NodeID: Int] {
    var counts: [NodeID: Int] = [:]
    for node in orphans.keys.sorted() {
      var count = 0
      for index in orphans[node]?.indices ?? 0..<0 {
        let isReleased = orphans[node]?[index].orphaning.isInDoubt == false
        orphans[node]?[index].number = isReleased ? count : nil
        if isReleased { count += 1 }
      }
      counts[NodeID(node)] = count
    }
    return counts
  }

  private mutating func handOver(
    _ range: Range<Int>, of table: ItemTable, _ node: Int, round: Int64, at: Instant
  ) {
    var hasNew = false
    for item in range {
      let (size, modified) = (table.files.sizes[item], table.files.modified[item])
      switch table.entries[item] {
      case .continuing: continue
      case .adopted: items[node].adopt(Int(table.rows[item]) - 1, round: round, at: at)
      case .requeued, .changed:
        let row = Int(table.rows[item]) - 1
        items[node].requeue(row, size: size, modified: modified, round: round, at: at)
      case .new:
        precondition(Int(table.rows[item]) == items[node].count + 1, "new rows must be queued in order")
        items[node].append(
          path: table.files.path(item), size: size, modified: modified, round: round, at: at)
        hasNew = true
      }
    }
    if hasNew { items[node].sort() }
  }

  /// The item's row, as an index; `nil` for a node with a single request.
  private func row(_ ref: ItemRef, _ tables: [ItemTable?]) -> Int? {
    guard let item = ref.item, let table = tables[ref.node.index] else { return nil }
    let row = Int(table.rows[item]) - 1
    precondition(
      row < items[ref.node.index].count, "an item must be queued before other records refer to it")
    return row
  }
}
