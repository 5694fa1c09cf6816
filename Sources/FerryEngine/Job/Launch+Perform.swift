import FerryJournal
import FerryPlan
import FerryTransfer

/// The loop of a run, with all that it needs.
extension Launch {
  func perform(
    _ run: Run, _ loop: TransferLoop, _ mail: MailSlot, _ journals: SessionJournals, _ situation: Situation,
    _ ledger: Ledger, _ intake: Intake, listers: [Int: FileLister], after tallies: [Int: AfterTally]
  ) throws -> (loop: RunLoop, after: [Int: AfterTally]) {
    let nextOrphans = try journals.all.compactMap(\.self).map { try $0.nextOrphan }
    let (writer, places) = writer(run, journals, situation, mail)
    let destinations = destinations(places, listers)
    let afterThread = AfterThread(
      destinations, on: run.threads.after, writer: writer.journal, tallies: tallies)
    let accountant = Accountant(ledger, on: run.threads.ledger, mail: mail, clock: clock)
    let scheduler = try scheduler(run, journals, situation)
    let steps = PreparedSteps(jobs, secrets: run.secrets)
    let captures = CaptureStore(jobs.plan, runID: run.id, secrets: run.secrets, situation: situation)
    var requests = RequestFactory(
      jobs, rounds: run.rounds, steps: steps, captures: captures, listers: listers)
    requests.absent = situation.absent
    let responses = ResponseInterpreter(
      jobs.plan, steps: steps, captures: captures,
      rootIdentities: destinations.compactMapValues(\.delivery.root))
    var situation = situation
    let runLoop = RunLoop(
      scheduler: scheduler, clock: clock, loop: loop, mail: mail, requests: requests, responses: responses,
      captures: captures, fetches: FetchCache(situation.fetches),
      scribe: Scribe(
        plan: jobs.plan, rounds: run.rounds, writer: writer.journal, sessions: writer.sessions,
        places: places, orphans: situation.orphans.mapValues { $0.map(\.id) }, nextOrphans: nextOrphans,
        afterThread: afterThread),
      accountant: accountant, search: SearchThread(on: run.threads.search, mail: mail)
    ) { scheduler, requests throws(JournalError) in
      let event = try intake.next(scheduler, &situation, rounds: run.rounds) { mail.post(.inbox) }
      requests.absent = situation.absent
      return event
    } onProgress: { scheduler, moving in
      run.onProgress(
        Progress(
          done: scheduler.tally.itemsDone, open: scheduler.itemsOpen,
          bytes: scheduler.tally.usefulBytes +| moving.bodySent +| moving.bodyReceived))
    }
    runLoop.run()
    let after = afterThread.finish()
    do throws(JournalError) {
      try writer.journal.close()
      try accountant.finish(total: loop.socketBytes.total, on: runLoop.scheduler.conditions.network)
      if runLoop.fault == nil { try intake.finish(runLoop.scheduler, at: clock.now) }
    } catch {
      runLoop.fail(error)
    }
    return (runLoop, after)
  }

  private func scheduler(
    _ run: Run, _ journals: SessionJournals, _ situation: Situation
  ) throws -> Scheduler {
    Scheduler(
      plan: jobs.plan, starts: situation.starts, intervals: situation.intervals, delays: try journals.delays,
      orphans: situation.orphanCounts, dropped: situation.dropCounts,
      options: LaunchOptions(
        limit: options.limit, conditions: run.conditions, deadline: run.deadline, launch: options.launch,
        patience: options.patience, zones: run.zones, seed: UInt64.random(in: .min ... .max)))
  }

  /// Of the uploads whose files are deleted or moved.
  private func destinations(
    _ places: [(journal: Int, row: Int64)?], _ listers: [Int: FileLister]
  ) -> [Int: AfterThread.Destination] {
    var destinations: [Int: AfterThread.Destination] = [:]
    for (index, node) in jobs.plan.nodes.enumerated() {
      guard let place = places[index], let lister = listers[index],
        let delivery = AfterDelivery(node.after, of: lister)
      else { continue }
      destinations[index] = .init(delivery: delivery, journal: place.journal)
    }
    return destinations
  }

  /// The journals' writer, and where in them each node is.
  private func writer(
    _ run: Run, _ journals: SessionJournals, _ situation: Situation, _ mail: MailSlot
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
    let writer = JournalWriter(journals: kept, options: options, threads: run.threads.journal) {
      mail.post(.journal($0))
    }
    let places = jobs.plan.nodes.enumerated().map { index, node -> (journal: Int, row: Int64)? in
      guard let row = situation.rows[index], let journal = sessions[node.session.index] else { return nil }
      return (journal, row.id)
    }
    return ((writer, sessions), places)
  }
}
