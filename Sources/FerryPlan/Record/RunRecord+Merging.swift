extension RunRecord {
  /// The reports of one part of a divided manifest.
  package struct PartReports: Sendable {
    /// The part, as in `--shard`.
    package var part: ShardPart
    /// The reports of its runs in the round, oldest first.
    package var runs: [RunRecord]
    /// The last run in the round, if that run has no report. The state of its items is then unknown.
    package var unreported: Unreported?

    package init(part: ShardPart, runs: [RunRecord], unreported: Unreported? = nil) {
      self.part = part
      self.runs = runs
      self.unreported = unreported
    }

    fileprivate var last: RunRecord? { runs.last }
  }

  /// A run without a report: it is running, was killed, or could not write its report.
  package struct Unreported: Sendable {
    package var id: String
    /// `missing` if the run has ended.
    package var state: ShardRecord.State
    package var startedAt: String
    package var endedAt: String?
    package var exitCode: Int32?

    package init(
      id: String, state: ShardRecord.State, startedAt: String, endedAt: String?, exitCode: Int32?
    ) {
      self.id = id
      self.state = state
      self.startedAt = startedAt
      self.endedAt = endedAt
      self.exitCode = exitCode
    }
  }

  /// The report of all parts.
  ///
  /// The state of an item or node is that of the last run of its part. The totals are those of all runs in
  /// the round, so that they count each request of a shard that was started several times. Uploads and
  /// download batches are in the parts of the shards, tokens may be in any part, and everything else is in
  /// the parts that run once.
  ///
  /// - Parameter parts: the work before and after the shards, if there are reports of it, and every shard.
  package static func merged(_ parts: [PartReports]) -> RunRecord? {
    let runs = parts.flatMap(\.runs)
    guard let newest = runs.max(by: { $0.run.id < $1.run.id }) else { return nil }
    var record = RunRecord(
      run: Run(
        id: newest.run.id + "-merged", manifests: newest.run.manifests ?? [], launch: newest.run.launch,
        startedAt: runs.map(\.run.startedAt).min() ?? newest.run.startedAt,
        endedAt: runs.map(\.run.endedAt).max() ?? newest.run.endedAt, exitCode: 0, state: .ended),
      totals: Totals(), nodes: [], items: [])
    let shards = parts.map(ShardRecord.init)
    record.run.shards = shards
    let lasts = parts.compactMap(\.last)
    let exits = lasts.map(\.run.exitCode) + shards.compactMap(\.exitCode)
    var codes = Set(exits.compactMap { ExitCode(rawValue: $0) })
    if shards.contains(where: { $0.absence != nil }) { codes.insert(.temporary) }
    if shards.contains(where: { $0.state == .interrupted }) { record.run.state = .interrupted }
    record.run.fault = lasts.lazy.compactMap(\.run.fault).first
    record.run.onEnd = lasts.lazy.compactMap(\.run.onEnd).first
    record.run.listedItems = lasts.contains { $0.run.listedItems == .all } ? .all : newest.run.listedItems
    for run in runs { record.totals.addUsage(run.totals) }
    record.totals.bytes.addConnections(runs.map(\.totals.bytes))
    record.nodes = nodes(parts)
    for part in parts where part.part.shard != nil {
      for node in part.last?.nodes ?? [] {
        if let items = node.items { record.totals.items += items }
      }
    }
    if record.nodes.contains(where: \.waitsForShards) { codes.insert(.temporary) }
    // A forged report can have failures and the exit code 0.
    if record.nodes.contains(where: \.hasFailed) { codes.insert(.itemsFailed) }
    record.run.exitCode = ExitCode.first(of: codes).rawValue
    return record
  }

  /// The records of a part's nodes, by name and kind.
  private struct PartNodes {
    struct Key: Hashable {
      var name: String
      var kind: Node.Kind
    }

    var part: ShardPart
    var nodes: [Key: NodeRecord]
    /// The reason why these records may be out of date.
    var absence: RecordedFailure?

    /// Whether the part is a shard, rather than the work that runs once.
    var isShard: Bool { part.shard != nil }

    init(_ part: PartReports, _ last: RunRecord) {
      self.part = part.part
      absence = ShardRecord(part).absence
      nodes = Dictionary(last.nodes.map { (Key(name: $0.name, kind: $0.kind), $0) }) { first, _ in first }
    }

    /// Whether the part executed the node.
    func selected(_ key: Key) -> Bool { (nodes[key]?.state ?? .notSelected) != .notSelected }
  }

  /// The nodes in the order of the report with the most nodes: the report of the work that runs once, if
  /// there is one.
  private static func nodes(_ parts: [PartReports]) -> [NodeRecord] {
    let longest = parts.compactMap(\.last?.nodes).max { $0.count < $1.count } ?? []
    let sources = parts.compactMap { part in part.last.map { PartNodes(part, $0) } }
    let absence = parts.lazy.filter { $0.part.shard != nil }.compactMap { ShardRecord($0).absence }.first
    let absenceOfOnce = parts.filter { $0.part.shard == nil }.compactMap { ShardRecord($0).absence }.last
    return longest.map { pattern in
      let key = PartNodes.Key(name: pattern.name, kind: pattern.kind)
      let found = sources.compactMap { source in source.nodes[key].map { (source.isShard, $0) } }
      switch pattern.kind {
      case .upload, .download:
        let uploads = found.filter(\.0).map(\.1)
        var merged = uploads.isEmpty ? pattern : uploads[0].adding(uploads.dropFirst())
        merged.items = uploads.isEmpty ? ItemCounts() : merged.items
        if merged.state == .succeeded, let other = sources.first(where: { $0.isShard && !$0.selected(key) }) {
          merged.state = .waiting
          merged.reason = RecordedFailure(
            code: .shards, message: "the last run of shard \(other.part) did not include it")
        }
        if let absence {
          if merged.state == .succeeded || uploads.isEmpty { merged.state = .waiting }
          merged.reason = absence
        }
        return merged
      case .token: return found.map(\.1).merged(or: pattern)
      case .fetch, .request:
        let once = sources.filter { !$0.isShard && $0.selected(key) }
        guard let last = once.last, var merged = last.nodes[key] else {
          return pattern.waiting(for: absenceOfOnce)
        }
        merged.attempts = once.flatMap { $0.nodes[key]?.attempts ?? [] }
        return merged.waiting(for: last.absence)
      }
    }
  }
}

extension RunRecord.ShardRecord {
  /// The reason why the state of a part is unknown in a merged report: its last run has no report. `nil` if the run has one.
  package var absence: RecordedFailure? {
    // `setup/N` and `finish/N` are not shards.
    let name = part.first?.isNumber == true ? "shard \(part)" : part
    let message: String? =
      switch state {
      case .ended: nil
      case .interrupted: "the last run of \(name) was interrupted"
      case .running: "\(name) is running"
      case .runningElsewhere: "\(name) is running on another machine, or was interrupted there"
      case .missing:
        run == nil ? "\(name) has no report of this round" : "the last run of \(name) ended without a report"
      }
    return message.map { RecordedFailure(code: .shards, message: $0) }
  }

  fileprivate init(_ part: RunRecord.PartReports) {
    self.init(part: part.part.description, state: .missing, runs: part.runs.count)
    if let unreported = part.unreported {
      state = unreported.state
      run = unreported.id
      startedAt = unreported.startedAt
      endedAt = unreported.endedAt
      exitCode = unreported.exitCode
    } else if let last = part.last {
      state = last.run.state == .interrupted ? .interrupted : .ended
      run = last.run.id
      startedAt = last.run.startedAt
      endedAt = last.run.endedAt
      exitCode = last.run.exitCode
      restarts = last.run.restarts
    }
    if let last = part.last, part.part.shard != nil {
      items = last.nodes.compactMap(\.items).reduce(into: ItemCounts()) { $0 += $1 }
    }
  }
}

extension RunRecord.Totals {
  /// Adds the bytes and requests of another run, but not its items.
  fileprivate mutating func addUsage(_ other: RunRecord.Totals) {
    itemsDoneInRun +|= other.itemsDoneInRun
    bytes.useful +|= other.bytes.useful
    bytes.resent +|= other.bytes.resent
    bytes.overhead +|= other.bytes.overhead
    requests +|= other.requests
    tokensFetched +|= other.tokensFetched
    tokenRefreshes +|= other.tokenRefreshes
    idsAllocated +|= other.idsAllocated
    idsExpired +|= other.idsExpired
    if let more = other.idsOrphaned { idsOrphaned = (idsOrphaned ?? 0) +| more }
    if let more = other.idsReleased { idsReleased = (idsReleased ?? 0) +| more }
    resumes +|= other.resumes
  }
}

extension RunRecord.Bytes {
  /// Sets each count of the connections' bytes to its sum over all runs, or to `nil` if a run has not counted
  /// these bytes.
  fileprivate mutating func addConnections(_ runs: [RunRecord.Bytes]) {
    func sum(_ value: (RunRecord.Bytes) -> Int64?) -> Int64? {
      let values = runs.compactMap(value)
      return values.count == runs.count ? values.reduce(0, +|) : nil
    }
    sent = sum(\.sent)
    received = sum(\.received)
    unattributed = sum(\.unattributed)
  }
}

extension [RunRecord.NodeRecord] {
  /// One record for a token that several parts have fetched.
  fileprivate func merged(or pattern: RunRecord.NodeRecord) -> RunRecord.NodeRecord {
    guard let first else { return pattern }
    return first.adding(dropFirst())
  }
}

extension RunRecord.NodeRecord {
  /// The states of a node in a part, in descending order of importance.
  private static let precedence: [ReportState] = [
    .failed, .ambiguous, .cancelled, .waiting, .skipped, .succeeded, .notNeeded, .notSelected,
  ]

  /// Whether the node or one of its items failed, or may have failed, so that the exit code is at least 1. The failure
  /// of an optional request does not count. The failure of a token counts only through the nodes that need the token.
  fileprivate var hasFailed: Bool {
    if let items, items.failed > 0 || items.ambiguous > 0 { return true }
    switch kind {
    case .token: return false
    case .upload, .download, .fetch, .request:
      return (state == .failed || state == .ambiguous) && optional != true
    }
  }

  /// The same request or fetch; if it had not ended, the state of the part that executes it is unknown.
  ///
  /// - Parameter absence: the reason why that state is unknown; `nil` if it is known.
  fileprivate func waiting(for absence: RecordedFailure?) -> RunRecord.NodeRecord {
    guard let absence, state == .waiting || state == .notSelected else { return self }
    var node = self
    (node.state, node.reason) = (.waiting, absence)
    return node
  }

  /// The maximum number of `problems`, as in the report of a run.
  package static let mostProblems = 10_000

  /// The same node with the records of other parts added to it.
  fileprivate func adding(_ others: ArraySlice<RunRecord.NodeRecord>) -> RunRecord.NodeRecord {
    var sum = self
    for other in others { sum.add(other) }
    return sum
  }

  private mutating func add(_ other: RunRecord.NodeRecord) {
    func rank(_ state: ReportState) -> Int { Self.precedence.firstIndex(of: state) ?? Self.precedence.count }
    if rank(other.state) < rank(state) { (state, reason) = (other.state, other.reason) }
    if let more = other.items { items = (items ?? ItemCounts()) + more }
    if let more = other.work {
      var sum = work ?? more
      if work != nil { sum.add(more) }
      work = sum
    }
    attempts += other.attempts
    add(cancellations: other.cancellations ?? [])
    if let more = other.problems {
      // Appended in place, because a copy for each of thousands of shards would take minutes.
      problems = problems ?? []
      problems?.append(contentsOf: more)
      limitProblems(to: Self.mostProblems)
    }
    if let more = other.problemsOmitted { problemsOmitted = (problemsOmitted ?? 0) +| more }
    if let more = other.after { add(more) }
    if let more = other.singleConnection {
      let downloads = (singleConnection?.downloads ?? 0) +| more.downloads
      singleConnection = .init(downloads: downloads, reason: more.reason)
    }
    guard let more = other.orphans else { return }
    guard var own = orphans else { return orphans = more }
    own.dropped +|= more.dropped
    own.released +|= more.released
    own.failed +|= more.failed
    own.reason = own.reason ?? more.reason
    orphans = own
  }

  private mutating func add(_ more: RunRecord.AfterRecord) {
    guard after != nil else { return after = more }
    after?.add(more, most: Self.mostProblems)
  }

  /// Removes the last problems, and counts them as omitted.
  ///
  /// - Parameter most: the number of problems to keep.
  package mutating func limitProblems(to most: Int) {
    guard let excess = problems.map({ $0.count - most }), excess > 0 else { return }
    problems?.removeLast(excess)
    problemsOmitted = (problemsOmitted ?? 0) +| excess
  }

  private mutating func add(cancellations more: [RunRecord.CancellationRecord]) {
    guard !more.isEmpty else { return }
    var all = cancellations ?? []
    for cancellation in more {
      if let index = all.firstIndex(where: {
        $0.code == cancellation.code && $0.message == cancellation.message
      }) {
        all[index].items +|= cancellation.items
      } else if all.count < 100 {
        all.append(cancellation)
      }
    }
    cancellations = all
  }
}

extension RunRecord.AfterRecord {
  fileprivate mutating func add(_ other: RunRecord.AfterRecord, most: Int) {
    deleted +|= other.deleted
    moved +|= other.moved
    if let more = other.remaining { remaining = (remaining ?? 0) +| more }
    problems.append(contentsOf: other.problems.prefix(max(0, most - problems.count)))
  }
}

extension ItemCounts {
  fileprivate static func + (a: ItemCounts, b: ItemCounts) -> ItemCounts {
    var sum = a
    sum += b
    return sum
  }
}
