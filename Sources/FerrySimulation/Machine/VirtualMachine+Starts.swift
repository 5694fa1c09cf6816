import FerryManifest
import FerryPlan

/// The initial state of a launch: the round, the journal and the listing are merged as in a run.
extension VirtualMachine {
  /// The initial state that the last launch found for an upload. It is reused if nothing has changed.
  struct StartCache: Sendable {
    var listing: Int
    var rows: Int
    var round: Int64
    var start: NodeStart
    var table: ItemTable
  }

  mutating func nodeStart(_ index: Int) -> NodeStart {
    let node = plan.nodes[index]
    if let start = startOverrides[node.name] {
      if case .upload(let table, _) = start { tables[index] = table }
      return start
    }
    switch node.work {
    case .token: return .open
    case .upload(let work): return uploadStart(index, work)
    case .fetch(let work):
      guard let row = journal.singles[index], row.round == round, row.hasIntent || row.state.isClosed else {
        return start(work, index)
      }
      return start(of: row)
    case .request:
      guard let row = journal.singles[index], row.round == round else { return .open }
      return start(of: row)
    }
  }

  /// The next time at which a fetch becomes due; `nil` if no fetch is waiting to become due.
  var nextFetch: Instant? {
    plan.nodes.indices.compactMap { index -> Instant? in
      guard case .fetch(let work) = plan.nodes[index].work, startOverrides[plan.nodes[index].name] == nil,
        case .notDue(let until, _) = start(work, index)
      else { return nil }
      return until
    }.min()
  }

  private func start(_ work: FetchWork, _ index: Int) -> NodeStart {
    let fetched = journal.fetches[index]
    return work.start(
      fetched?.document, last: fetched?.at, kept: fetched?.interval, failed: journal.failedFetches[index],
      at: now)
  }

  private func start(of row: VirtualJournal.Single) -> NodeStart {
    if row.hasIntent { return .intended }
    switch row.state {
    case .queued, .allocated, .transferred: return .open
    case .done: return .closed(.succeeded)
    case .ambiguous: return .closed(.ambiguous, row.failure)
    case .cancelled: return .closed(.skipped, row.failure)
    case .failed: return .closed(.failed, row.failure)
    }
  }

  private mutating func uploadStart(_ index: Int, _ work: UploadWork) -> NodeStart {
    let rows = journal.items[index]
    if let cache = startCache[index], cache.listing == listingVersions[index], cache.rows == rows.version,
      cache.round == round || isSettled(rows, work, since: cache.round)
    {
      tables[index] = cache.table
      return cache.start
    }
    var reconciliation = Reconciliation(
      listing: listings[index], deliver: work.deliver, round: round, nextRow: Int64(rows.count + 1))
    rows.meet(&reconciliation)
    reconciliation.finish()
    let start = NodeStart.upload(reconciliation.items, reconciliation.settled)
    tables[index] = reconciliation.items
    startCache[index] = StartCache(
      listing: listingVersions[index], rows: rows.version, round: round, start: start,
      table: reconciliation.items)
    return start
  }

  /// Whether another round finds the same state, because everything was done before both rounds.
  private func isSettled(_ rows: ItemRows, _ work: UploadWork, since earlier: Int64) -> Bool {
    work.deliver != .everyRun && rows.notDone == 0 && rows.lastRound < min(earlier, round)
  }
}
