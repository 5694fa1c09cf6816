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
    let pass = try SetupPass(of: job, in: state, count: count)
    let journals = try SessionJournals.openForReading(job.plan, in: once, known: [])
    defer { journals.close() }
    for index in nodes {
      let node = job.plan.nodes[index]
      let row = try journals.row(of: node, in: job.plan)
      let start = if let pass { pass.start(of: node, row) } else { Self.lastStart(of: node, row) }
      guard let start else {
        throw UsageError(
          "the shards need \(node.kind.rawValue) '\(node.name)', which has not ended in this round\n"
            + "help: run it first, once for all shards: \(setup)")
      }
      given[index] = Given(start: start, row: row)
    }
  }

  /// The start of a fetch for a shard that runs by itself, which uses the document of the last pass; `nil` if the fetch has
  /// not ended in that pass, or if the node is a request.
  private static func lastStart(of node: Node, _ row: NodeRow?) -> NodeStart? {
    guard node.kind == .fetch, let row, row.state.isClosed else { return nil }
    return .closed(NodeOutcome(row.state), row.failure)
  }

  /// The pass that `setup` has begun, for a shard.
  private struct SetupPass {
    let round: Int64
    /// The last run of the work that runs once.
    let last: ShardReports.Last

    /// Returns `nil` if the work that runs once is not in a pass.
    init?(of job: Job, in state: StateDirectory, count: Int) throws {
      guard let shared = try RunHistory.sharedRound(of: job.plan.manifest, in: state) else { return nil }
      round = shared.number
      last = try ShardReports(beside: state, manifest: job.plan.manifest)
        .last(of: .once(count: count), inRound: shared.number, ofPass: shared.pass)
    }

    /// The start of a request or fetch that has ended in the pass; `nil` if it has not ended.
    func start(of node: Node, _ row: NodeRow?) -> NodeStart? {
      if let row, row.round == round, row.state.isClosed {
        return .closed(NodeOutcome(row.state), row.failure)
      }
      // A fetch that was not sent in the pass, for example because it was not due, has at most the row of an earlier pass.
      // The row does not show whether `setup` has decided this, or has not come to the fetch yet.
      guard node.kind == .fetch, case .report(let source) = last, let record = source.record.node(node)
      else { return nil }
      switch record.state {
      case .succeeded: return .closed(.succeeded)
      case .failed: return .closed(.failed, record.reason)
      case .ambiguous, .skipped, .cancelled, .waiting, .notSelected, .notNeeded, .done, .queued, .allocated,
        .transferred, .new, .run, .ask, .notDue, .never, .stored:
        return nil
      }
    }
  }

  private mutating func takeShards(
    of job: Job, beside state: StateDirectory, count: Int, round: Int64, pass: String?
  ) throws {
    let uploads = job.plan.nodes.indices.filter { job.plan.nodes[$0].kind.hasItems }
    guard !uploads.isEmpty else { return }
    let reports = ShardReports(beside: state, manifest: job.plan.manifest)
    var found = [ReportedUpload](repeating: ReportedUpload(), count: job.plan.nodes.count)
    for number in 1...count {
      guard let shard = Shard(number, of: count) else { continue }
      let last = try reports.last(of: .shard(shard), inRound: round, ofPass: pass)
      for index in uploads {
        switch last {
        case .missing(let reason): found[index].remaining.take(shard, reason)
        case .report(let source): found[index].add(source.record.node(job.plan.nodes[index]), of: shard)
        }
      }
    }
    for index in uploads { given[index] = Given(start: found[index].start) }
  }
}

/// The reports of all shards about an upload or download batch.
private struct ReportedUpload {
  /// Items that have ended in the round, and items of shards that have skipped the upload.
  private var items = ItemCounts()
  /// The shards that have not sent all of their items.
  var remaining = ShardList()
  /// The shards that have skipped the upload because of the outcomes of its `needs`. These may have changed since, for
  /// example after `ferry resolve`; if they have not, the skip is final.
  private var skipped = ShardList()
  /// The reason why the upload has failed in a shard although none of its items have, for example because its list could
  /// not be read.
  private var failure: RecordedFailure?

  mutating func add(_ node: RunRecord.NodeRecord?, of shard: Shard) {
    guard let node, let counts = node.items else { return remaining.take(shard, "has not listed its files") }
    items += counts
    if counts.waiting > 0 {
      return remaining.take(shard, "has \(Count.text(counts.waiting, "item")) left")
    }
    switch node.state {
    case .succeeded: break
    case .skipped: skipped.take(shard, "has skipped it and must be run again")
    case .failed, .ambiguous, .cancelled:
      guard counts.failed + counts.ambiguous + counts.cancelled == 0 else { break }
      failure = failure ?? node.reason ?? RecordedFailure(code: .shards, message: "in \(name(of: shard))")
    case .waiting, .notSelected, .notNeeded, .done, .queued, .allocated, .transferred, .new, .run, .ask,
      .notDue, .never, .stored:
      remaining.take(shard, "has not ended")
    }
  }

  var start: NodeStart {
    if let reason = remaining.reason { return .left(reason) }
    if let reason = skipped.reason { return .skipped(items, remaining: reason) }
    if let failure { return .closed(.failed, failure) }
    return .upload(ItemTable(), Reconciliation.Settled(items))
  }
}

/// Shards for which `finish` waits.
private struct ShardList {
  private var first: (shard: Shard, reason: String)?
  private var others = 0

  mutating func take(_ shard: Shard, _ reason: String) {
    if first == nil { first = (shard, reason) } else { others += 1 }
  }

  /// The reason to wait; `nil` if there are no such shards.
  var reason: RecordedFailure? {
    guard let first else { return nil }
    let rest =
      others == 0 ? "" : "; \(Count.text(others, "other shard")) \(others == 1 ? "is" : "are") not ready"
    return RecordedFailure(
      code: .shards, message: "\(name(of: first.shard)) \(first.reason)\(rest)")
  }
}

private func name(of shard: Shard) -> String { "shard \(shard.number)/\(shard.count)" }

extension RunRecord {
  /// The record of a node. A token may have the name of another node.
  fileprivate func node(_ node: Node) -> NodeRecord? {
    nodes.first { $0.name == node.name && $0.kind == node.kind }
  }
}

extension Reconciliation.Settled {
  /// Items of the shards that have ended in the round.
  fileprivate init(_ items: ItemCounts) {
    self.init()
    delivered = items.done +| items.unchanged
    doneInRound = items.done
    failedInRound = items.failed
    cancelledInRound = items.cancelled
    ambiguous = items.ambiguous
  }
}
