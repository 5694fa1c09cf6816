import FerryJournal
import FerryPlan

/// Writes the scheduler's facts down: adds rows and captured values, and keeps count of what is synced.
final class Scribe {
  /// By node.
  private let rounds: [Int64]
  private let writer: JournalWriter
  /// By session: which of the writer's journals.
  private let sessions: [Int?]
  /// By node: which of the writer's journals, and which row there.
  private let places: [(journal: Int, row: Int64)?]
  /// `.record` actions so far, and the writer's numbers of those that are not synced.
  private var recorded: UInt64 = 0
  private var synced: UInt64 = 0
  private var waiting: [(record: UInt64, sequence: UInt64)] = []
  /// By node: whether a delivered file is owed something.
  private let owesAfter: [Bool]
  private let afterThread: AfterThread
  /// Delivered files whose items' ends are not synced yet, with the `.record` action of each.
  private var delivered: [(record: UInt64, node: Int, file: DeliveredFile)] = []

  /// - Parameter rounds: by manifest.
  init(
    plan: Plan, rounds: [Int64], writer: JournalWriter, sessions: [Int?],
    places: [(journal: Int, row: Int64)?], afterThread: AfterThread
  ) {
    owesAfter = plan.nodes.map { $0.after != .keep }
    self.afterThread = afterThread
    self.sessions = sessions
    self.rounds = plan.nodes.map { rounds[$0.manifest.index] }
    self.writer = writer
    self.places = places
  }

  func write(
    _ entries: [JournalEntry], scheduler: Scheduler, exchanges: Exchanges
  ) throws(JournalError) {
    recorded += 1
    var writes: [Int: [JournalWrite]] = [:]
    for entry in entries {
      if let (session, write) = sessionWrite(entry) {
        if let journal = sessions[session.index] { writes[journal, default: []].append(write) }
        continue
      }
      guard let node = entry.node, let place = places[node.index] else { continue }
      if let upload = uploadWrites(entry, scheduler: scheduler, exchanges: exchanges, node: place.row) {
        writes[place.journal, default: []] += upload
      } else {
        writes[place.journal, default: []] += nodeWrites(
          entry, scheduler: scheduler, exchanges: exchanges, row: place.row,
          round: rounds[node.index])
      }
    }
    var sequence: UInt64 = waiting.last?.sequence ?? 0
    for journal in writes.keys.sorted() {
      sequence = try writer.append(writes[journal] ?? [], to: journal)
    }
    waiting.append((recorded, sequence))
  }

  /// What an entry of a session writes; `nil` for entries of nodes.
  private func sessionWrite(_ entry: JournalEntry) -> (SessionID, JournalWrite)? {
    switch entry {
    case .resumed(let session, let delay): (session, .resumed(period: delay.period, at: delay.resumedAt))
    case .batchThrough(let session): (session, .events(pending: true))
    case .handedOver, .intent, .withdrawn, .allocated, .transferred, .released, .closed: nil
    }
  }

  func sync() throws(JournalError) { _ = try writer.sync() }

  /// The last `.record` action of which everything is on disk, when the writer says how far it is.
  func record(syncedBy sequence: UInt64) -> UInt64 {
    let through = waiting.prefix { $0.sequence <= sequence }
    if let last = through.last { synced = last.record }
    waiting.removeFirst(through.count)
    carryOutAfter()
    return synced
  }

  /// What is owed to files is carried out once their items' ends are on the disk.
  private func carryOutAfter() {
    let due = delivered.prefix { $0.record <= synced }
    guard !due.isEmpty else { return }
    afterThread.take(due.map { ($0.node, $0.file) })
    delivered.removeFirst(due.count)
  }

  /// What an entry of an upload's item writes; `nil` for entries of single requests.
  private func uploadWrites(
    _ entry: JournalEntry, scheduler: Scheduler, exchanges: Exchanges, node: Int64
  ) -> [JournalWrite]? {
    func row(_ place: Place) -> Int64? {
      place.item.flatMap { item in scheduler.withItems(of: place.node) { $0.rows[item] } }
    }
    switch entry {
    case .resumed, .batchThrough: return nil
    case .handedOver(let id, let items, let at):
      return scheduler.withItems(of: id) { handOver($0, items, node: node, round: rounds[id.index], at: at) }
    case .intent(let place, let step):
      return row(place).map { [.intent(row: $0, step: step ?? .transfer)] }
    case .withdrawn(let place): return row(place).map { [.withdraw(row: $0)] }
    case .allocated(let place, let expires):
      return row(place).map {
        [
          .allocated(
            row: $0, captures: ItemValues.journaled(exchanges.values(of: place).allocate, step: "allocate"),
            expires: expires)
        ]
      }
    case .transferred(let place):
      return row(place).map {
        let values = exchanges.values(of: place)
        let transferred = JournalWrite.transferred(
          row: $0, captures: ItemValues.journaled(values.transfer, step: "transfer"), sha256: values.sha256)
        return [transferred] + sourceWrites(values, row: $0)
      }
    case .released(let place):
      exchanges.forgetValues(of: place)
      return row(place).map { [.released(row: $0)] }
    case .closed(let place, let state, let failure, let at):
      guard let row = row(place) else { return nil }
      let values = exchanges.values(of: place)
      exchanges.forgetValues(of: place)
      let closed = JournalWrite.closed(row: row, state: state, at: at, failure: failure)
      guard owesAfter[place.node.index], let item = place.item else { return [closed] }
      guard state == .done else {
        return state == .ambiguous ? [closed] + sourceWrites(values, row: row) : [closed]
      }
      let file = scheduler.withItems(of: place.node) { table in
        DeliveredFile(
          row: row, path: Array(table.files.path(item)), size: table.files.sizes[item],
          modified: table.files.modified[item], inode: values.inode)
      }
      if let file { delivered.append((recorded, place.node.index, file)) }
      return [closed] + sourceWrites(values, row: row) + [.after(row: row, .owed)]
    }
  }

  /// Which file was sent, where that is looked at again.
  private func sourceWrites(_ values: ItemValues, row: Int64) -> [JournalWrite] {
    values.inode.map { [.source(row: row, inode: $0, sha256: nil)] } ?? []
  }

  private func handOver(
    _ table: borrowing ItemTable, _ items: Range<Int>, node: Int64, round: Int64, at: Instant
  ) -> [JournalWrite] {
    var new = FileColumns()
    var firstRow: Int64 = 0
    var requeued: [JournalWrite.Requeued] = []
    for item in items {
      let size = table.files.sizes[item]
      let modified = table.files.modified[item]
      switch table.entries[item] {
      case .new:
        // Reconciliation gives new items rows in their order, so that they are one run of numbers.
        if new.count == 0 { firstRow = table.rows[item] }
        new.append(path: table.files.path(item), size: size, modified: modified)
      case .requeued: requeued.append(.init(row: table.rows[item], size: size, modified: modified))
      case .continuing: break
      }
    }
    var writes: [JournalWrite] = []
    if new.count > 0 {
      writes.append(.insert(node: node, round: round, handedOver: at, firstRow: firstRow, files: new))
    }
    if !requeued.isEmpty { writes.append(.requeue(round: round, handedOver: at, files: requeued)) }
    return writes
  }

  private func nodeWrites(
    _ entry: JournalEntry, scheduler: Scheduler, exchanges: Exchanges, row: Int64, round: Int64
  ) -> [JournalWrite] {
    switch entry {
    case .intent: [.nodeIntent(node: row, round: round)]
    case .withdrawn: [.nodeWithdraw(node: row)]
    case .closed(let place, let state, let failure, let at):
      [
        .nodeClosed(
          node: row,
          NodeClosing(
            round: round, state: state, at: at, failure: failure,
            captures: exchanges.captures(of: place.node),
            fetch: state == .done ? fetchRecord(place.node, scheduler, exchanges) : nil))
      ]
    case .handedOver, .allocated, .transferred, .released, .resumed, .batchThrough: []
    }
  }

  /// The validators of the answer, with the interval that it leads to.
  private func fetchRecord(_ node: NodeID, _ scheduler: Scheduler, _ exchanges: Exchanges) -> FetchRecord? {
    var record = exchanges.fetchRecord(of: node)
    record?.interval = scheduler.fetchInterval(of: node)
    return record
  }
}

extension JournalEntry {
  /// The node that it is about; `nil` for what is about a session.
  var node: NodeID? {
    switch self {
    case .resumed, .batchThrough: nil
    case .handedOver(let node, _, _): node
    case .intent(let place, _), .withdrawn(let place), .allocated(let place, _), .transferred(let place),
      .released(let place), .closed(let place, _, _, _):
      place.node
    }
  }
}
