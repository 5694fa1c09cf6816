import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport

/// Creates the record of a run that has ended.
extension Launch {
  /// - Parameters:
  ///   - areThrough: whether the round has completed, by manifest.
  ///   - after: the results of `after` actions, by node.
  ///   - problems: the files and folders that could not be listed, by node.
  ///   - left: the reasons why submitted files remain for the next run, by node.
  func record(
    _ run: Run, _ loop: RunLoop, _ areThrough: [Bool], _ after: [Int: PostDeliveryMetrics],
    _ problems: [Int: ListingProblems], left: [Int: [ListingProblem]]
  ) -> RunRecord {
    let exit = ExitCode.first(
      of: Set(jobs.manifests.map { exitCode(of: ManifestID($0), loop, after, left: left) }))
    var nodes = loop.scheduler.nodeRecords
    for index in nodes.indices {
      let failures = (problems[index]?.filter(\.isFailure) ?? []) + (left[index] ?? []).filter(\.isFailure)
      if !failures.isEmpty { nodes[index].problems = failures.map(RunRecord.FileProblem.init) }
      if let omitted = problems[index]?.omittedFailures, omitted > 0 {
        nodes[index].problemsOmitted = omitted
      }
    }
    for (index, metrics) in after where metrics.isWorthTelling {
      nodes[index].after = RunRecord.AfterRecord(metrics)
    }
    var record = RunRecord(
      run: .init(
        id: run.id,
        manifests: jobs.manifests.map { index in
          RunRecord.Manifest(
            name: jobs.plan.manifests[index], path: jobs.all[index].path, sha256: jobs.all[index].sha256,
            round: run.rounds[index], roundClosed: areThrough[index])
        },
        launch: options.launch, startedAt: run.startedAt.rfc3339, endedAt: clock.now.rfc3339,
        exitCode: exit.rawValue, state: .ended, stop: loop.scheduler.stopCause,
        deferredUntil: loop.scheduler.metrics.deferredUntil?.rfc3339, conditions: loop.scheduler.conditions,
        fault: loop.fault?.description),
      totals: loop.scheduler.totals, nodes: nodes, items: loop.scheduler.itemRecords)
    record.run.shard = jobs.all.first?.part?.description
    record.run.pass = run.pass
    record.run.restarts = environment["SLURM_RESTART_COUNT"].flatMap { Int($0) }.map { max(0, $0) }
    record.timeline = loop.timeline
    record.run.listedItems = loop.scheduler.reportsEveryItem ? .all : .notable
    record.plan = options.planned.map { PlanComparison($0, record) }
    return record
  }

  /// The exit code for one manifest.
  private func exitCode(
    of manifest: ManifestID, _ loop: RunLoop, _ after: [Int: PostDeliveryMetrics],
    left: [Int: [ListingProblem]]
  ) -> ExitCode {
    guard loop.fault == nil else { return .fault }
    var codes: Set = [loop.scheduler.exitCode(of: manifest)]
    // The plan of the scheduler includes manifests that have joined the run.
    func contains(_ node: Int) -> Bool { loop.scheduler.plan.manifest(of: NodeID(node)) == manifest }
    let after = after.filter { contains($0.key) }.map(\.value)
    if after.contains(where: \.hasOwedProblem) || left.keys.contains(where: contains) {
      codes.insert(.temporary)
    }
    // A signal has its own code.
    if after.contains(where: { $0.remaining > 0 }) { codes.insert(.cutOff) }
    return .first(of: codes)
  }

  /// The outcome of the work, for the requests of `on_end`.
  func end(
    of loop: RunLoop, _ run: Run, _ after: [Int: PostDeliveryMetrics], left: [Int: [ListingProblem]]
  ) -> RequestsAtEnd.RunEnd {
    let scheduler = loop.scheduler
    return RequestsAtEnd.RunEnd(
      values: jobs.manifests.map { ManifestID($0) }.map { manifest in
        .init(
          id: run.id, done: scheduler.doneCount(of: manifest), failed: scheduler.failedCount(of: manifest),
          exitCode: exitCode(of: manifest, loop, after, left: left))
      },
      conditions: scheduler.conditions, stoppedAt: scheduler.stoppedAt,
      isHurried: scheduler.timeAfterStop == .zero)
  }

  /// For each budget: the window that contains an instant, and the bytes used in this window.
  func uses(
    of ledger: Ledger, _ run: Run, at now: Instant
  ) throws -> [(budget: (Budget.Scope, Budget), window: Range<Instant>, used: Int64)] {
    try Budget.Scope.allCases.compactMap { scope in
      guard let budget = jobs.plan.policies.budgets[scope] else { return nil }
      let window = budget.per.span(containing: now, in: run.zones[budget.timeZone] ?? .utc)
      return ((scope, budget), window, try ledger.used(scope, in: window))
    }
  }

  /// The largest number of windows of a budget that are reported.
  private static let mostWindows = 100

  /// The budgets in each window of the run, from the window in which the run began. Later windows in which nothing was
  /// used are omitted, except the last one.
  ///
  /// - Parameter begun: the budgets at the start of the run.
  func budgetRecords(
    _ begun: [(budget: (Budget.Scope, Budget), window: Range<Instant>, used: Int64)], _ ledger: Ledger,
    _ run: Run, until end: Instant
  ) throws -> [RunRecord.BudgetRecord] {
    try begun.flatMap { begun in
      let (scope, budget) = begun.budget
      let zone = run.zones[budget.timeZone] ?? .utc
      var records = [
        RunRecord.BudgetRecord(
          begun.budget, window: begun.window, before: begun.used,
          after: try ledger.used(scope, in: begun.window))
      ]
      var window = begun.window
      while window.upperBound <= end, records.count < Self.mostWindows {
        window = budget.per.span(containing: window.upperBound, in: zone)
        let used = try ledger.used(scope, in: window)
        guard used > 0 || window.contains(end) else { continue }
        records.append(.init(begun.budget, window: window, before: 0, after: used))
      }
      return records
    }
  }

  /// The transfer rates of uploads, for the plans of later runs.
  func rates(_ scheduler: Scheduler) -> [RateRow] {
    scheduler.samples.map { id, sample in
      let node = jobs.plan.nodes[id.index]
      return RateRow(
        manifest: jobs.plan.manifests[node.manifest.index], upload: node.name,
        session: jobs.plan.sessions[node.session.index].identifier, sample: sample)
    }
  }
}
