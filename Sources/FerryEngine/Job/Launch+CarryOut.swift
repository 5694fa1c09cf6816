import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// The run itself: the files met with the journals, the loop, and what became of them.
extension Launch {
  /// What a run came to.
  struct Outcome {
    var record: RunRecord
    var rates: [RateRow]
    /// Sessions that a force quit ended meanwhile.
    var cancelled: Set<Int>
  }

  func carryOut(
    _ run: Run, _ journals: SessionJournals, _ history: RunHistory
  ) throws -> Outcome {
    let listers = try jobs.listers(environment: environment)
    let inbox = try Inbox.open(in: state, writtenBy: version, at: run.startedAt)
    // Each note that it removed is removed already.
    defer { try? inbox.close() }
    let intake = Intake(
      jobs.plan, journals: journals, inbox: inbox, listers: listers, notice: run.notice)
    let roots = listers.mapValues(\.root)
    let before = try OwedFiles.settle(jobs.plan, journals, run.selection, roots: roots)
    let early = EarlyStop()
    var situation = try Situation(
      jobs, journals: journals, rounds: run.rounds, selection: run.selection, listers: listers,
      submitted: try intake.begin(at: clock.now), contents: contentReader(early, before: run.deadline),
      at: clock.now)
    for (node, files) in situation.confirmed {
      try journals.all[jobs.plan.nodes[node].session.index]?.confirm(files)
    }
    for (node, problems) in situation.problems.sorted(by: { $0.key < $1.key }) {
      for problem in problems { run.notice("\(jobs.plan.title(of: NodeID(node))): \(problem)") }
    }
    let edits = try EditEffects(
      jobs: jobs, state: state, journals: journals, situation: situation, history: history,
      notice: run.notice
    ).find()
    for edit in edits { run.notice("\(edit.upload): \(edit.message)") }
    let warnings = try jobs.manifests.flatMap { manifest in
      try PlanWarnings.find(
        jobs.all[manifest], situation: situation, history: history, firstNode: jobs.firstNodes[manifest])
    }
    if !warnings.isEmpty { run.warn(warnings) }
    try situation.dropUploadIDs(of: jobs.plan, in: journals, at: clock.now)
    let ledger = try Ledger.open(in: state, writtenBy: version, at: run.startedAt)
    // It was settled before.
    defer { try? ledger.close() }
    try ledger.forget(before: run.startedAt.advanced(by: .zero - Ledger.retention))
    let used = try uses(of: ledger, run, at: run.startedAt)
    let (loop, after) = try perform(
      run, journals, situation, ledger, intake, early, roots: roots, after: before)
    let areThrough = jobs.manifests.map {
      loop.scheduler.hasEnded && loop.scheduler.isRoundThrough(of: ManifestID($0))
    }
    for manifest in jobs.manifests where areThrough[manifest] {
      try history.closeRound(
        manifest: jobs.plan.manifests[manifest], number: run.rounds[manifest], at: clock.now)
    }
    var record = record(run, loop, areThrough, after)
    record.run.budgets = try zip(used, uses(of: ledger, run, at: run.startedAt)).map { before, after in
      RunRecord.BudgetRecord(before.budget, window: before.window, before: before.used, after: after.used)
    }
    record.run.delays = loop.scheduler.delayRecords
    record.run.edits = edits.isEmpty ? nil : edits
    if loop.fault == nil { try tellAmbiguities(&record, loop.scheduler, journals, situation) }
    return Outcome(record: record, rates: rates(loop.scheduler), cancelled: intake.cancelled)
  }

  /// - Parameters:
  ///   - areThrough: by manifest, whether its round is.
  ///   - after: by node, what became of delivered files.
  private func record(
    _ run: Run, _ loop: RunLoop, _ areThrough: [Bool], _ after: [Int: AfterTally]
  ) -> RunRecord {
    var exit: ExitCode = loop.fault == nil ? loop.scheduler.exitCode : .fault
    if after.values.contains(where: \.owes) { exit = .first(of: [exit, .temporary]) }
    var nodes = loop.scheduler.nodeRecords
    for (index, tally) in after where tally.isWorthTelling {
      nodes[index].after = RunRecord.AfterRecord(tally)
    }
    return RunRecord(
      run: .init(
        id: run.id,
        manifests: jobs.manifests.map { index in
          RunRecord.Manifest(
            name: jobs.plan.manifests[index], path: jobs.all[index].path, sha256: jobs.all[index].sha256,
            round: run.rounds[index], roundClosed: areThrough[index])
        },
        launch: options.launch, startedAt: run.startedAt.rfc3339, endedAt: clock.now.rfc3339,
        exitCode: exit.rawValue, state: "ended", stop: loop.scheduler.stopCause,
        deferredUntil: loop.scheduler.tally.deferredUntil?.rfc3339, conditions: loop.scheduler.conditions,
        fault: loop.fault?.description),
      totals: loop.scheduler.totals, nodes: nodes, items: loop.scheduler.itemRecords)
  }

  /// What is used of each budget in the window of a moment.
  private func uses(
    of ledger: Ledger, _ run: Run, at now: Instant
  ) throws -> [(budget: (DeviceConditions.Network, Budget), window: Range<Instant>, used: Int64)] {
    try DeviceConditions.Network.allCases.compactMap { network in
      guard let budget = jobs.plan.policies.budgets[network] else { return nil }
      let window = budget.per.span(containing: now, in: run.zones[budget.timeZone] ?? .utc)
      return ((network, budget), window, try ledger.used(network, in: window))
    }
  }

  /// How fast uploads went, for the plans of later runs.
  private func rates(_ scheduler: Scheduler) -> [RateRow] {
    scheduler.samples.map { id, sample in
      let node = jobs.plan.nodes[id.index]
      return RateRow(
        manifest: jobs.plan.manifests[node.manifest.index], upload: node.name,
        session: jobs.plan.sessions[node.session.index].identifier, sample: sample)
    }
  }

  private func perform(
    _ run: Run, _ journals: SessionJournals, _ situation: Situation, _ ledger: Ledger, _ intake: Intake,
    _ early: EarlyStop, roots: [Int: [UInt8]], after tallies: [Int: AfterTally]
  ) throws -> (loop: RunLoop, after: [Int: AfterTally]) {
    let loop = try TransferLoop()
    let mail = MailSlot(waker: loop.waker)
    let watches = try watches(run, journals, mail)
    defer { withExtendedLifetime(watches) {} }
    if early.hasHungUp { mail.post(.hangUp) }
    let nextOrphans = try journals.all.compactMap(\.self).map { try $0.nextOrphan }
    let (writer, places) = writer(journals, situation, mail)
    let afterThread = AfterThread(
      destinations(places, roots), writer: writer.journal, tallies: tallies)
    let accountant = Accountant(ledger, mail: mail, clock: clock)
    let scheduler = Scheduler(
      plan: jobs.plan, starts: situation.starts, intervals: situation.intervals, delays: try journals.delays,
      orphans: situation.orphanCounts,
      options: LaunchOptions(
        limit: options.limit, conditions: run.conditions,
        deadline: run.deadline, stop: early.cause, launch: options.launch,
        patience: options.patience, zones: run.zones, seed: UInt64.random(in: .min ... .max)))
    let exchanges = Exchanges(
      jobs: jobs, runID: run.id, rounds: run.rounds, secrets: run.secrets, situation: situation,
      roots: roots)
    var situation = situation
    let runLoop = RunLoop(
      scheduler: scheduler, clock: clock, loop: loop, mail: mail, exchanges: exchanges,
      scribe: Scribe(
        plan: jobs.plan, rounds: run.rounds, writer: writer.journal, sessions: writer.sessions,
        places: places, orphans: situation.orphans.mapValues { $0.map(\.id) }, nextOrphans: nextOrphans,
        afterThread: afterThread),
      accountant: accountant
    ) { scheduler in
      try intake.news(scheduler, &situation, rounds: run.rounds) { mail.post(.inbox) }
    } onProgress: { scheduler, moving in
      run.onProgress(
        Progress(
          done: scheduler.tally.itemsDone, open: scheduler.itemsOpen,
          bytes: scheduler.tally.usefulBytes + moving.bodySent + moving.bodyReceived))
    }
    runLoop.run()
    let after = afterThread.finish()
    do throws(JournalError) {
      try writer.journal.close()
      try accountant.finish(total: loop.socketBytes.total, on: runLoop.scheduler.conditions.network)
      if runLoop.fault == nil { try intake.finish(runLoop.scheduler) }
    } catch {
      runLoop.fail(error)
    }
    return (runLoop, after)
  }

  /// Of the uploads whose files are deleted or moved.
  private func destinations(
    _ places: [(journal: Int, row: Int64)?], _ roots: [Int: [UInt8]]
  ) -> [Int: AfterThread.Destination] {
    var destinations: [Int: AfterThread.Destination] = [:]
    for (index, node) in jobs.plan.nodes.enumerated() where node.after != .keep {
      guard let place = places[index], let root = roots[index] else { continue }
      destinations[index] = .init(delivery: AfterDelivery(node.after, root: root), journal: place.journal)
    }
    return destinations
  }

  /// What SIGHUP means.
  private var hangUp: Mail {
    let hasWindow = options.launch == .foreground && jobs.plan.policies.executionWindow.foreground != nil
    return hasWindow ? .hangUp : .stop(.terminate)
  }

  /// A signal, or the deadline, leaves the rest unread: the loop begins stopped then.
  private func contentReader(_ early: EarlyStop, before deadline: Instant?) -> ContentReader {
    let (clock, hangUp) = (clock, hangUp)
    return ContentReader(
      isStopped: { early.cause != nil || deadline.map { $0 <= clock.now } ?? false },
      whileReading: { early.listen(hangUp: hangUp, $0) })
  }

  private func watches(_ run: Run, _ journals: SessionJournals, _ mail: MailSlot) throws(JournalError)
    -> Watches
  {
    let (jobs, options) = (jobs, options)
    let dependsOnConditions =
      jobs.plan.sessions.contains(where: \.asksForConditions) || jobs.plan.policies.budgets != Budgets()
    var look: (@Sendable () -> DeviceConditions)?
    if dependsOnConditions {
      look = { jobs.conditions(network: options.network, power: options.power) { _ in } }
    }
    let sessions = journals.all.compactMap(\.self).filter(\.isDurable).map(\.identifier)
    return try Watches(
      mail: mail, hangUp: hangUp, look: look, sessions: sessions,
      in: state)
  }

  /// The journals' writer, and where in them each node is.
  private func writer(
    _ journals: SessionJournals, _ situation: Situation, _ mail: MailSlot
  ) -> (
    writer: (journal: JournalWriter, sessions: [Int?]), places: [(journal: Int, row: Int64)?]
  ) {
    var options = JournalWriter.Options()
    options.syncDelay = self.options.syncDelay
    var kept: [SessionJournal] = []
    let sessions = journals.all.map { journal -> Int? in
      guard let journal else { return nil }
      kept.append(journal)
      return kept.count - 1
    }
    let writer = JournalWriter(journals: kept, options: options) { mail.post(.journal($0)) }
    let places = jobs.plan.nodes.enumerated().map { index, node -> (journal: Int, row: Int64)? in
      guard let row = situation.rows[index], let journal = sessions[node.session.index] else { return nil }
      return (journal, row.id)
    }
    return ((writer, sessions), places)
  }
}
