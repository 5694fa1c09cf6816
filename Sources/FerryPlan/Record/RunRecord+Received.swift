/// Reports that are read from a file. Another program or another user may have written them.
///
/// Renderers add up counts, and print names without quoting them, because the names of a manifest contain no
/// control characters. A forged report must neither control a terminal nor cause an overflow.
extension RunRecord {
  /// A report with a count that no run can have.
  package struct ImpossibleCount: Error {}

  /// The largest accepted number of items. With this limit, the sum of all counts of a hundred thousand
  /// shards is less than `Int64.max`.
  fileprivate static let mostItems: Int64 = 1 << 43
  /// The largest accepted number of bytes. Numbers of bytes are only compared and printed.
  fileprivate static let mostBytes: Int64 = 1 << 60

  /// The report with names that can be printed.
  package func received() throws(ImpossibleCount) -> RunRecord {
    var record = self
    record.run = try run.received()
    try totals.checkReceived()
    for index in nodes.indices { try record.nodes[index].takeReceived() }
    for index in items.indices { record.items[index] = try items[index].received() }
    record.timeline = try timeline?.received()
    record.plan = plan?.received()
    return record
  }
}

extension RunRecord.ItemRecord {
  /// The item with names that can be printed. `path` may have any characters, and is quoted where it is printed.
  package func received() throws(RunRecord.ImpossibleCount) -> RunRecord.ItemRecord {
    var item = self
    item.node = printable(node)
    item.manifest = printable(manifest)
    // A list from a server can state any size, and a sparse file can have any size. Sizes of items are not added up.
    guard size >= 0 else { throw RunRecord.ImpossibleCount() }
    try check([Int64(requests ?? 0)])
    return item
  }
}

extension RunTimeline {
  fileprivate func received() throws(RunRecord.ImpossibleCount) -> RunTimeline {
    var timeline = self
    timeline.nodes = nodes.map { node in
      NodeSpans(manifest: printable(node.manifest), name: printable(node.name), spans: node.spans)
    }
    timeline.resumes = resumes.map { resume in
      Resume(session: printable(resume.session), at: resume.at, periodSeconds: resume.periodSeconds)
    }
    try check(bytes: bytes)
    try check((requests + itemsDone + inFlight).map { Int64($0) })
    return timeline
  }
}

extension PlanComparison {
  /// The comparison with names that can be printed. Its numbers are not checked: a plan from another program may
  /// contain any number.
  fileprivate func received() -> PlanComparison {
    var plan = self
    plan.plannedAt = printable(plannedAt)
    plan.differences = Self.received(differences)
    for index in plan.nodes.indices {
      plan.nodes[index].manifest = printable(nodes[index].manifest)
      plan.nodes[index].name = printable(nodes[index].name)
      plan.nodes[index].differences = Self.received(nodes[index].differences)
    }
    plan.timeline = timeline?.map { node in
      .init(manifest: printable(node.manifest), name: printable(node.name), spans: node.spans)
    }
    return plan
  }

  private static func received(_ differences: [Difference]) -> [Difference] {
    differences.map { Difference($0.code, printable($0.message)) }
  }
}

extension RunRecord.Run {
  fileprivate func received() throws(RunRecord.ImpossibleCount) -> RunRecord.Run {
    var run = self
    for name in [\RunRecord.Run.id, \.startedAt, \.endedAt] {
      run[keyPath: name] = printable(run[keyPath: name])
    }
    for name in [\RunRecord.Run.manifest, \.path, \.sha256, \.deferredUntil, \.shard, \.pass] {
      run[keyPath: name] = printable(run[keyPath: name])
    }
    run.manifests = changed(manifests) { manifest in
      manifest.name = printable(manifest.name)
      manifest.path = printable(manifest.path)
      manifest.sha256 = printable(manifest.sha256)
    }
    run.delays = changed(delays) { $0.session = printable($0.session) }
    run.onEvents = changed(onEvents) { $0.session = printable($0.session) }
    run.onExpiry = changed(onExpiry) { $0.session = printable($0.session) }
    run.onEnd = changed(onEnd) { request in
      request.name = printable(request.name)
      request.manifest = printable(request.manifest)
    }
    run.edits = changed(edits) { edit in
      edit.manifest = printable(edit.manifest)
      edit.upload = printable(edit.upload)
      edit.session = printable(edit.session)
    }
    run.shards = changed(shards) { shard in
      shard.part = printable(shard.part)
      shard.run = printable(shard.run)
    }
    try checkCounts()
    return run
  }

  private func checkCounts() throws(RunRecord.ImpossibleCount) {
    try check([round ?? 0, Int64(restarts ?? 0)])
    try check((manifests ?? []).map(\.round) + (edits ?? []).map { Int64($0.items) })
    for budget in budgets ?? [] {
      // A manifest can state any limit.
      guard budget.limitBytes >= 0 else { throw RunRecord.ImpossibleCount() }
      try check(bytes: [budget.usedBytesBefore, budget.usedBytesAfter])
    }
    for shard in shards ?? [] {
      try check([Int64(shard.runs), Int64(shard.restarts ?? 0)] + (shard.items?.all ?? []))
    }
  }
}

extension RunRecord.Totals {
  fileprivate func checkReceived() throws(RunRecord.ImpossibleCount) {
    let counts = [
      itemsDoneInRun, requests, tokensFetched, tokenRefreshes, idsAllocated, idsExpired, idsOrphaned ?? 0,
      idsReleased ?? 0, resumes,
    ]
    try check(items.all + counts.map { Int64($0) })
    try check(bytes: [bytes.useful, bytes.resent, bytes.overhead, bytes.sent ?? 0, bytes.received ?? 0])
    // The unattributed bytes may be negative.
    try check(bytes: [Int64(clamping: (bytes.unattributed ?? 0).magnitude)])
  }
}

extension RunRecord.NodeRecord {
  fileprivate mutating func takeReceived() throws(RunRecord.ImpossibleCount) {
    name = printable(name)
    manifest = printable(manifest)
    session = printable(session)
    token = printable(token)
    needs = needs?.map { printable($0) }
    if let work {
      try check([Int64(work.requests), Int64(work.itemsDone)])
      try check(bytes: [work.usefulBytes])
    }
    var counts = (cancellations ?? []).map(\.items) + [problemsOmitted ?? 0]
    if let after { counts += [after.deleted, after.moved, after.remaining ?? 0] }
    if let singleConnection { counts.append(singleConnection.downloads) }
    if let orphans { counts += [orphans.dropped, orphans.released, orphans.failed] }
    try check((items?.all ?? []) + counts.map { Int64($0) })
  }
}

extension ItemCounts {
  fileprivate var all: [Int64] {
    [done, failed, ambiguous, cancelled, waiting, unchanged, skipped ?? 0].map { Int64($0) }
  }
}

private func printable(_ name: String) -> String {
  DisplayPath.line(name) == name && !DisplayPath.isWorkflowCommand(name.utf8)
    ? name : DisplayPath.shown(name.utf8)
}

private func printable(_ name: String?) -> String? { name.map { printable($0) } }

private func changed<Element>(_ elements: [Element]?, _ change: (inout Element) -> Void) -> [Element]? {
  elements?.map { element in
    var element = element
    change(&element)
    return element
  }
}

private func check(_ counts: [Int64]) throws(RunRecord.ImpossibleCount) {
  guard counts.allSatisfy({ (0...RunRecord.mostItems).contains($0) }) else {
    throw RunRecord.ImpossibleCount()
  }
}

private func check(bytes: [Int64]) throws(RunRecord.ImpossibleCount) {
  guard bytes.allSatisfy({ (0...RunRecord.mostBytes).contains($0) }) else {
    throw RunRecord.ImpossibleCount()
  }
}
