import FerryJournal
import FerryPlan
import FerryProcess
import FerryTransfer

/// Sets up and runs the loop of a run.
extension Launch {
  func perform(
    _ run: Run, _ loop: TransferLoop, _ messages: Mailbox<RunMessage>, _ journals: SessionJournals,
    _ launchState: LaunchState, _ captures: CaptureStore,
    _ ledger: Ledger, _ inboxProcessor: InboxProcessor, _ history: RunHistory, listers: [Int: FileLister],
    lists: LateLists, commands: RunCommands, after metrics: [Int: PostDeliveryMetrics]
  ) throws -> (loop: RunLoop, after: [Int: PostDeliveryMetrics], joined: JoiningManifests) {
    let nextOrphans = try journals.all.compactMap(\.self).map { try $0.nextOrphan }
    let (writer, places) = writer(run, journals, launchState, messages)
    let destinations = Self.destinations(jobs.plan, jobs.plan.nodes.indices, places, listers)
    let postDeliveryWorker = PostDeliveryWorker(
      destinations, on: run.threads.after, writer: writer.journal, metrics: metrics)
    let usageRecorder = UsageRecorder(ledger, on: run.threads.ledger, messages: messages, clock: clock)
    let scheduler = try scheduler(run, journals, launchState)
    let steps = PreparedSteps(jobs, secrets: run.secrets, connections: run.connections)
    let requests = RequestFactory(
      jobs, steps: steps, captures: captures, listers: listers, rounds: run.rounds,
      random: { .random(in: .min ... .max) })
    requests.absent = launchState.absent
    let responses = ResponseInterpreter(
      jobs.plan, steps: steps, captures: captures,
      rootIdentities: destinations.compactMapValues(\.delivery.root))
    var launchState = launchState
    let joining = JoiningManifests(
      self, run, history, journals, listers: listers, destinations: destinations,
      writerSessions: writer.sessions, captures: captures, worker: postDeliveryWorker,
      commands: commands)
    let runLoop = RunLoop(
      scheduler: scheduler, clock: clock, startedAt: run.startedAt, loop: loop, messages: messages,
      requests: requests,
      responses: responses,
      captures: captures, fetches: FetchCache(launchState.fetches),
      journalEncoder: JournalEncoder(
        plan: jobs.plan, rounds: run.rounds, writer: writer.journal, sessions: writer.sessions,
        places: places, orphans: launchState.orphans.mapValues { $0.map(\.id) }, nextOrphans: nextOrphans,
        allocatedBefore: launchState.allocatedBefore, postDeliveryWorker: postDeliveryWorker),
      usageRecorder: usageRecorder, search: SearchThread(on: run.threads.search, messages: messages),
      commands: commands
    ) { scheduler, requests throws(JournalError) in
      defer { requests.absent = launchState.absent }
      return try inboxProcessor.news(scheduler, &launchState, joining) { messages.post(.inbox) }
    } list: { node, scheduler throws(JournalError) in
      try lists.read(node, scheduler, &launchState)
    } onProgress: { scheduler, moving in
      run.onProgress {
        let moving = moving()
        return Progress(
          done: scheduler.metrics.itemsDone, open: scheduler.itemsOpen, isListing: scheduler.isListing,
          bytes: scheduler.metrics.usefulBytes +| moving.bodySent +| moving.bodyReceived)
      } _: { limit in
        ProgressDetails(
          failed: scheduler.failedCount, pause: scheduler.pause,
          active: scheduler.activeRequests(limit: limit, at: clock.now) { loop.traffic(of: $0) })
      }
    }
    runLoop.observation.onEvent = run.onEvent
    runLoop.observation.onTrace = run.onTrace
    runLoop.observation.flushEvents = run.flushEvents
    runLoop.observation.refresh = options.refresh
    let publisher = ProgressPublisher(
      run: run.id, startedAt: run.startedAt, state: state, worker: run.threads.ledger)
    defer { publisher.end() }
    runLoop.observation.publish = { scheduler, loop in publisher.turn(scheduler, loop, at: clock.now) }
    let leases = run.leases
    if !leases.isEmpty { runLoop.leaseLoss = { leases.first { !$0.isHeld }?.loss } }
    if inboxProcessor.hasNews { messages.post(.inbox) }
    runLoop.run()
    let after = postDeliveryWorker.finish(
      within: runLoop.scheduler.timeAfterStop,
      orAfterStop: timeAfterStop(run, isStopped: runLoop.scheduler.timeAfterStop != nil, messages))
    for case .stop(let cause) in messages.take(where: \.isStop) { runLoop.recordStop(cause) }
    do throws(JournalError) {
      try writer.journal.close()
      try usageRecorder.finish(total: loop.socketBytes.total, on: runLoop.scheduler.conditions.network)
      if runLoop.fault == nil {
        try inboxProcessor.finish(
          runLoop.scheduler, unless: launchState.interrupted, rows: launchState.rows, at: clock.now)
      }
    } catch {
      runLoop.fail(error)
    }
    return (runLoop, after, joining)
  }

  /// The time for `after` actions once a signal arrives, or the run's time has passed, after all requests have ended; `nil`
  /// until then. The second signal leaves none.
  ///
  /// - Parameter isStopped: whether the run was stopped before.
  private func timeAfterStop(
    _ run: Run, isStopped: Bool, _ messages: Mailbox<RunMessage>
  ) -> @Sendable () -> Duration? {
    { [clock, deadline = run.deadline] in
      switch messages.count(where: \.isStop) + (isStopped ? 1 : 0) {
      case 0: deadline.map { clock.now >= $0 } ?? false ? LaunchOptions.defaultGrace : nil
      case 1: isStopped ? nil : LaunchOptions.defaultGrace
      default: .zero
      }
    }
  }

  /// The times since which nodes have been failing in this round. For a node of an ephemeral session, whose failures are
  /// not recorded, this is the time at which the round was opened.
  private func failingSince(_ run: Run, _ launchState: LaunchState) -> [NodeID: Instant] {
    var all = launchState.failingSince
    for (index, node) in jobs.plan.nodes.enumerated()
    where jobs.plan.sessions[node.session.index].kind == .ephemeral {
      all[NodeID(index)] = run.roundsOpenedAt[node.manifest.index]
    }
    return all
  }

  private func scheduler(
    _ run: Run, _ journals: SessionJournals, _ launchState: LaunchState
  ) throws -> Scheduler {
    Scheduler(
      plan: jobs.plan, starts: launchState.starts, intervals: launchState.intervals,
      failingSince: failingSince(run, launchState), delays: try journals.delays,
      foreground: try journals.foreground,
      orphans: launchState.orphanCounts, dropped: launchState.dropCounts,
      listsLater: Set(launchState.listsLater.map { NodeID($0) }),
      listsInPortions: Set(launchState.partialListings.keys.map { NodeID($0) }),
      options: LaunchOptions(
        limit: options.limit, conditions: run.conditions, deadline: run.deadline, launch: options.launch,
        patience: options.patience, acceptsCancelled: options.acceptsCancelled,
        reportsEveryItem: options.reportItems.map { $0 == .all }, zones: run.zones,
        seed: UInt64.random(in: .min ... .max)))
  }

  /// The destinations of the uploads whose files are deleted or moved.
  ///
  /// - Parameter places: the location of each node in the journals, in the order of the nodes.
  static func destinations(
    _ plan: Plan, _ nodes: Range<Int>, _ places: [(journal: Int, row: Int64)?], _ listers: [Int: FileLister]
  ) -> [Int: PostDeliveryWorker.Destination] {
    var destinations: [Int: PostDeliveryWorker.Destination] = [:]
    for (index, place) in zip(nodes, places) {
      guard let row = place, let lister = listers[index],
        let delivery = AfterDelivery(plan.nodes[index].after, of: lister)
      else { continue }
      destinations[index] = .init(delivery: delivery, journal: row.journal)
    }
    return destinations
  }

  /// The writer of the journals, and the location of each node in them.
  private func writer(
    _ run: Run, _ journals: SessionJournals, _ launchState: LaunchState, _ messages: Mailbox<RunMessage>
  ) -> (
    writer: (journal: JournalWriter, sessions: [Int?]), places: [(journal: Int, row: Int64)?]
  ) {
    var options = JournalWriter.Options()
    options.syncDelay = self.options.syncDelay
    // With a rollback journal, each commit takes several syncs, during which the file is locked.
    if !run.leases.isEmpty { options.commitInterval = .milliseconds(50) }
    var kept: [SessionJournal] = []
    let sessions = journals.all.map { journal -> Int? in
      guard let journal else { return nil }
      kept.append(journal)
      return kept.count - 1
    }
    let writer = JournalWriter(journals: kept, options: options, threads: run.threads.journal) {
      messages.post(.journal($0))
    }
    let places = jobs.plan.nodes.enumerated().map { index, node -> (journal: Int, row: Int64)? in
      guard let row = launchState.rows[index], let journal = sessions[node.session.index] else { return nil }
      return (journal, row.id)
    }
    return ((writer, sessions), places)
  }
}
