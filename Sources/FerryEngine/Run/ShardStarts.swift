import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport

/// The starts of nodes whose state other processes have recorded: for a shard, those of the requests and fetches before
/// the uploads; for the launch after the shards, those of the uploads.
struct ShardStarts {
  /// A node that another process has completed, or has left for a later launch.
  struct Given {
    var start: NodeStart
    /// The row of a request or fetch, in the journal of the process that sent it.
    var row: NodeRow?
  }

  /// The starts, by node of the job's plan.
  private(set) var given: [Int: Given] = [:]
  /// The command that runs the requests and fetches before the shards; `nil` if none of them are given.
  private(set) var setup: String?

  /// - Parameters:
  ///   - state: the state folder of the job's part.
  ///   - round: the round of the launch.
  ///   - pass: the pass to which that round belongs; `nil` if the launch begins a pass.
  /// - Throws: `UsageError` if a shard depends on a request or fetch that has not ended.
  init(_ job: Job, in state: StateDirectory, round: Int64, pass: String?) throws {
    switch job.part {
    case nil, .setup: return
    case .items(let shard): try takeSetup(of: job, beside: state, count: shard.count)
    case .finish(let count): try takeShards(of: job, beside: state, count: count, round: round, pass: pass)
    }
  }

  private mutating func takeSetup(of job: Job, beside state: StateDirectory, count: Int) throws {
    let nodes = job.plan.nodes.indices.filter {
      job.plan.nodes[$0].kind != .token && !job.plan.nodes[$0].kind.hasItems
    }
    guard !nodes.isEmpty else { return }
    let once = try state.sibling(.once(count: count))
    let setup = try job.setupCommand(count: count, beside: state)
    self.setup = setup
    let shared = try RunHistory.sharedRound(of: job.plan.manifest, in: state)
    let last = try shared.map {
      try ShardReports(beside: state, manifest: job.plan.manifest)
        .last(of: .once(count: count), inRound: $0.number, ofPass: $0.pass)
    }
    let journals = try SessionJournals.openForReading(job.plan, in: once, known: [])
    defer { journals.close() }
    for index in nodes {
      let node = job.plan.nodes[index]
      guard let row = try journals.row(of: node, in: job.plan),
        let start = Self.start(row, node, shared?.number ?? 0, last)
      else {
        throw UsageError(
          "the shards need \(node.kind.rawValue) '\(node.name)', which has not ended in this round\n"
            + "help: run it first, once for all shards: \(setup)")
      }
      given[index] = Given(start: start, row: row)
    }
  }

  /// The start of a request or fetch that has ended; `nil` if it has not ended.
  ///
  /// - Parameter last: the last run of the work that runs once, in the round that all shards share; `nil` if there is no
  ///   such round.
  private static func start(
    _ row: NodeRow, _ node: Node, _ round: Int64, _ last: ShardReports.Last?
  ) -> NodeStart? {
    if row.round == round, row.state.isClosed { return .closed(NodeOutcome(row.state), row.failure) }
    guard node.kind == .fetch, row.fetch != nil else { return nil }
    switch last {
    case nil: return .closed(.succeeded)
    case .missing: return nil
    case .report(let source):
      // A fetch that was not due in this round has the document of an earlier round. Its row does not show whether `setup`
      // has found that out, or has not come to the fetch yet.
      let state = source.record.nodes.first { $0.name == node.name }?.state
      return state == .succeeded ? .closed(.succeeded) : nil
    }
  }

  private mutating func takeShards(
    of job: Job, beside state: StateDirectory, count: Int, round: Int64, pass: String?
  ) throws {
    let uploads = job.plan.nodes.indices.filter { job.plan.nodes[$0].kind.hasItems }
    guard !uploads.isEmpty else { return }
    let reports = ShardReports(beside: state, manifest: job.plan.manifest)
    var settled: [Int: Reconciliation.Settled] = [:]
    var remaining: [Int: Remaining] = [:]
    for number in 1...count {
      guard let shard = Shard(number, of: count) else { continue }
      let last = try reports.last(of: .shard(shard), inRound: round, ofPass: pass)
      for index in uploads {
        switch last {
        case .missing(let reason): remaining[index, default: Remaining()].take(shard, reason)
        case .report(let source):
          guard let node = source.record.nodes.first(where: { $0.name == job.plan.nodes[index].name }),
            let items = node.items
          else {
            remaining[index, default: Remaining()].take(shard, "has not listed its files")
            continue
          }
          settled[index, default: .init()].add(items)
          if node.state == .waiting || items.waiting > 0 {
            let reason = items.waiting > 0 ? "has \(Count.text(items.waiting, "item")) left" : "has not ended"
            remaining[index, default: Remaining()].take(shard, reason)
          }
        }
      }
    }
    for index in uploads {
      given[index] = Given(
        start: remaining[index].map { .left($0.failure) }
          ?? .upload(ItemTable(), settled[index] ?? .init()))
    }
  }

  /// The shards that have not sent all items of an upload.
  private struct Remaining {
    private var first: (shard: Shard, reason: String)?
    private var others = 0

    mutating func take(_ shard: Shard, _ reason: String) {
      if first == nil { first = (shard, reason) } else { others += 1 }
    }

    var failure: RecordedFailure {
      guard let first else { return RecordedFailure(code: .shards, message: "for shards") }
      let rest =
        others == 0 ? "" : "; \(Count.text(others, "other shard")) \(others == 1 ? "is" : "are") not ready"
      return RecordedFailure(
        code: .shards, message: "shard \(first.shard.number)/\(first.shard.count) \(first.reason)\(rest)")
    }
  }
}

extension Reconciliation.Settled {
  /// Adds a shard's items that have ended in the round.
  fileprivate mutating func add(_ items: ItemCounts) {
    delivered +|= items.done +| items.unchanged
    doneInRound +|= items.done
    failedInRound +|= items.failed
    cancelledInRound +|= items.cancelled
    ambiguous +|= items.ambiguous
  }
}
