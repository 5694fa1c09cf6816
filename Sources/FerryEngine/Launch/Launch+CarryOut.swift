import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import FerryReport
import FerryTransfer

extension RunRecord.Run {
  /// Adds the requests of `on_end`. The failure of a required one counts as that of an item.
  fileprivate mutating func take(onEnd requests: [RunRecord.OnEndRecord]) {
    guard !requests.isEmpty else { return }
    onEnd = requests
    guard requests.contains(where: { $0.required && $0.isFailure }) else { return }
    exitCode = ExitCode.first(of: [ExitCode(rawValue: exitCode) ?? .fault, .itemsFailed]).rawValue
  }
}

/// The run itself: reconciles the files with the journals, runs the loop, and records the results.
extension Launch {
  /// The result of a run.
  struct Outcome {
    var record: RunRecord
    var rates: [RateRow]
    /// Sessions that a force quit ended during the run, and the failure recorded for the work of each.
    var cancelled: [Int: RecordedFailure]
    var end: RequestsAtEnd.RunEnd
    /// Calls its argument with each item that the report lists; `nil` if these are the items of the record.
    var eachItem: ((_ body: (RunRecord.ItemRecord) throws -> Void) throws -> Void)?

    /// The report with this record.
    func source(_ record: RunRecord) -> ReportSource {
      eachItem.map { ReportSource(record, items: $0) } ?? ReportSource(record)
    }
  }

  /// Performs the run's work, and then sends the requests of `on_end`, regardless of how the work ends.
  ///
  /// Signals do not terminate the process until the second result is released.
  func carryOut(
    _ run: Run, _ journals: SessionJournals, _ history: RunHistory, _ commands: RunCommands
  ) throws -> (Outcome, SignalsAtEnd) {
    let loop = try TransferLoop(threads: run.threads.transfer)
    loop.isTracing = run.onTrace != nil
    let messages = Mailbox<RunMessage>(waker: loop.waker)
    let leases = run.leases
    if !leases.isEmpty { loop.send { leases.allSatisfy(\.isHeld) } }
    // Start the event sources before files are listed, which may take a long time, so that a signal during the
    // listing also results in a report.
    let signals = SignalsAtEnd(try eventSources(run, journals, messages, onStop: loop.runMustStop), messages)
    defer { withExtendedLifetime(signals) {} }
    if let deadline = run.deadline {
      run.threads.events.schedule(after: clock.now.duration(to: deadline), loop.runMustStop)
    }
    let requestsAtEnd = RequestsAtEnd(
      jobs: jobs, state: state, version: version, clock: clock, run: run, loop: loop, messages: messages)
    var outcome: Outcome
    var captures: CaptureStore?
    do {
      outcome = try work(run, journals, history, loop, messages, commands, requestsAtEnd, &captures)
    } catch {
      let exitCode = EngineFault.exitCode(of: error)
      let ended = RequestsAtEnd.RunEnd(
        values: jobs.manifests.map { _ in .init(id: run.id, exitCode: exitCode) }, conditions: run.conditions,
        isHurried: false)
      warn(of: requestsAtEnd.send(after: ended, of: captures), run)
      throw error
    }
    let requests = requestsAtEnd.send(after: outcome.end, of: captures)
    outcome.record.run.take(onEnd: requests)
    warn(of: requests, run)
    return (outcome, signals)
  }

  private func warn(of requests: [RunRecord.OnEndRecord], _ run: Run) {
    for warning in requests.compactMap(\.warning) { run.notice("warning: \(warning)") }
  }

  private func warnOfOptionalRequests(in record: RunRecord, _ run: Run) {
    for node in record.nodes where node.isExcusedFailure {
      let title = node.manifest.map { "\($0)/\(node.name)" } ?? node.name
      let reason = node.reason.map { ": \(ReasonText.text($0))" } ?? ""
      run.notice("warning: optional request \(title): \(node.state)\(reason)")
    }
  }

  /// Executes the run: completes pending `after` actions, lists the files, and processes events until the run ends.
  ///
  /// - Parameter values: receives the values that responses provide, which are needed even if an error is thrown.
  private func work(
    _ run: Run, _ journals: SessionJournals, _ history: RunHistory, _ loop: TransferLoop,
    _ messages: Mailbox<RunMessage>, _ commands: RunCommands, _ requestsAtEnd: RequestsAtEnd,
    _ values: inout CaptureStore?
  ) throws -> Outcome {
    let (clock, deadline) = (clock, run.deadline)
    let isStopped: @Sendable () -> Bool = { messages.hasStop || deadline.map { $0 <= clock.now } ?? false }
    var run = run
    run.isStopped = isStopped
    let listers = try listers(unless: isStopped)
    let inbox = try Inbox.open(in: state, writtenBy: version, at: run.startedAt)
    // All removals are already synced.
    defer { try? inbox.close() }
    let inboxProcessor = InboxProcessor(
      jobs.plan, journals: journals, inbox: inbox, listers: listers,
      removal: SessionRemoval(history: history, environment: environment), compare: run.threads.compare,
      notice: run.notice)
    let continued = jobs.manifests.filter { run.roundsOpenedAt[$0] != run.startedAt }
    var former = try FormerRequests(
      jobs, rounds: run.rounds, continued: Set(continued), run: run.id, journals, history, in: state,
      notice: run.notice)
    try former.settle(
      jobs.plan, rounds: run.rounds, journals, history, in: state, writtenBy: version, at: clock.now)
    let (before, listed) = try recordingMissingRoots(run, journals, listers) {
      let before = try OwedFiles.settle(
        jobs.plan, journals, run.selection, listers: listers, unless: isStopped)
      let submitted = try inboxProcessor.begin(run.selection, startedAt: run.startedAt, at: clock.now)
      return (
        before,
        try self.launchState(run, journals, listers, former, submitted: submitted, unless: isStopped)
      )
    }
    var launchState = listed
    try forgetMissingRoots(launchState, journals)
    let edits = try EditEffects(
      jobs: jobs, state: state, journals: journals, launchState: launchState, former: former,
      history: history, inbox: inbox, notice: run.notice
    ).find()
    for edit in edits { run.notice("\(edit.upload): \(edit.message)") }
    var warnings = try jobs.manifests.flatMap { manifest in
      try PlanWarnings.find(
        jobs.all[manifest], launchState: launchState, history: history, firstNode: jobs.firstNodes[manifest])
    }
    if !warnings.isEmpty { run.warn(warnings) }
    try launchState.dropUploadIDs(of: jobs.plan, in: journals, at: clock.now)
    let parts = DownloadParts(jobs: jobs, journals: journals)
    for (node, lister) in listers {
      try parts.removeUnlisted(of: NodeID(node), row: launchState.rows[node], lister)
    }
    let captures = CaptureStore(
      jobs.plan, runID: run.id, secrets: run.secrets, filters: jobs.secretFilters, launchState: launchState)
    captures.refreshTokens = RefreshTokens(history: history, clock: clock)
    values = captures
    let ledger = try jobs.ledger(in: state, writtenBy: version, at: run.startedAt)
    // The usage has already been recorded, so closing the ledger cannot lose data.
    defer { try? ledger.close() }
    try ledger.forget(before: run.startedAt.advanced(by: .zero - Ledger.retention))
    let used = try uses(of: ledger, run, at: run.startedAt)
    let lists = LateLists(
      jobs, journals: journals, rounds: run.rounds, listers: listers, on: run.threads.compare,
      messages: messages, notice: run.notice
    ) { node, unmatched, problems in
      let found = PlanWarnings.patterns(
        of: jobs.job(of: node), unmatched, problems, upload: jobs.plan.nodes[node.index].name)
      // A warning about one line is reported only once, even if `for_each` creates several uploads from it.
      let more = found.filter { new in
        !warnings.contains { $0.location == new.location && $0.message == new.message }
      }
      guard !more.isEmpty else { return }
      warnings += more
      run.warn(more)
    }
    let (runLoop, after, joined) = try perform(
      run, loop, messages, journals, launchState, captures, ledger, inboxProcessor, history,
      listers: listers, lists: lists, commands: commands, after: before)
    let scheduler = runLoop.scheduler
    // If another process has taken over the shard, it may continue the parts.
    if run.leases.allSatisfy(\.isHeld) { try parts.removeEphemeral() }
    // The rounds of manifests that have joined are completed by later runs of those manifests.
    let areThrough = joined.jobs.manifests.map {
      $0 < jobs.all.count && scheduler.hasEnded && scheduler.isRoundThrough(of: ManifestID($0))
    }
    var whole = self
    (whole.jobs, run.rounds) = (joined.jobs, joined.rounds)
    var record = whole.record(
      run, runLoop, areThrough, after, launchState.problems.merging(lists.problems) { $1 },
      left: inboxProcessor.problems)
    let carried = loop.socketBytes
    if carried.isExact { record.totals.bytes.carried(sent: carried.sent, received: carried.received) }
    record.run.budgets = try budgetRecords(used, ledger, run, until: clock.now)
    record.run.delays = scheduler.delayRecords
    record.run.edits = edits.isEmpty ? nil : edits
    warnOfOptionalRequests(in: record, run)
    if runLoop.fault == nil {
      let rows = launchState.rows + joined.rows
      try whole.tellAmbiguities(
        &record, scheduler, journals, rows: rows, former: launchState.formerRequests)
      try whole.tellCancellations(&record, rounds: run.rounds, journals, rows: rows)
    }
    var outcome = Outcome(
      record: record, rates: whole.rates(scheduler), cancelled: inboxProcessor.cancelled,
      end: end(of: runLoop, run, after, left: inboxProcessor.problems))
    if scheduler.reportsEveryItem {
      let (notable, digests) = (record.items, runLoop.observation.digests)
      outcome.eachItem = { body in
        try scheduler.eachItemRecord(notable: notable, digest: { digests?[$0] }, body)
      }
    }
    try whole.keepWork(of: outcome, requestsAtEnd)
    try whole.close(areThrough, run, inboxProcessor, history)
    return outcome
  }

  /// The state in which the run starts. Digests computed while reading files are recorded in the journals.
  private func launchState(
    _ run: Run, _ journals: SessionJournals, _ listers: [Int: FileLister], _ former: FormerRequests,
    submitted: [Int: SubmittedFiles], unless isStopped: @escaping @Sendable () -> Bool
  ) throws -> LaunchState {
    // After a stop, the remaining files are not read: the loop starts in the stopped state.
    let contents = ContentReader(isStopped: isStopped)
    let launchState = try LaunchState(
      jobs, journals: journals, rounds: run.rounds, selection: run.selection, listers: listers,
      former: former, submitted: submitted, contents: contents, listsInPortions: options.limit == nil,
      given: shardStarts(run), at: clock.now)
    for (node, files) in launchState.confirmed {
      try journals.all[jobs.plan.nodes[node].session.index]?.confirm(files)
    }
    for (node, problems) in launchState.problems.sorted(by: { $0.key < $1.key }) {
      let title = jobs.plan.title(of: NodeID(node))
      for problem in problems { run.notice("\(title): \(problem)") }
      if let omission = problems.omission { run.notice("\(title): \(omission)") }
    }
    return launchState
  }

  /// The node states that other processes have recorded, if the manifest is divided.
  private func shardStarts(_ run: Run) throws -> ShardStarts? {
    guard let job = jobs.all.first, job.part != nil, let round = run.rounds.first else { return nil }
    return try ShardStarts(job, in: state, round: round, pass: run.pass)
  }

  private func listers(unless isStopped: @escaping @Sendable () -> Bool) throws -> [Int: FileLister] {
    try jobs.listers(environment: environment, state: state, files: options.files).mapValues { lister in
      var lister = lister
      lister.isStopped = isStopped
      return lister
    }
  }

  /// Stores the report of the work, in case the run is killed while it sends the requests of `on_end`. No later run
  /// continues a round that is closed before they are sent.
  private func keepWork(of outcome: Outcome, _ requestsAtEnd: RequestsAtEnd) throws {
    var record = outcome.record
    record.run.take(onEnd: requestsAtEnd.recordsIfKilled(after: outcome.end))
    guard record.run.onEnd?.contains(where: \.isFailure) == true else { return }
    _ = try keep(outcome.source(record), as: .work)
  }

  /// Closes the completed rounds. Files that were submitted but not yet queued belong to the next round.
  private func close(
    _ areThrough: [Bool], _ run: Run, _ inboxProcessor: InboxProcessor, _ history: RunHistory
  ) throws(JournalError) {
    for manifest in jobs.manifests where areThrough[manifest] {
      try history.closeRound(
        manifest: jobs.plan.manifests[manifest], number: run.rounds[manifest], by: run.id, at: clock.now)
    }
    for manifest in try inboxProcessor.awaited() {
      _ = try history.openRound(manifest: jobs.plan.manifests[manifest.index], at: clock.now)
    }
  }

  /// The message to post on SIGHUP.
  private var hangUp: RunMessage {
    let hasWindow = options.launch == .foreground && jobs.plan.policies.executionWindow.foreground != nil
    return hasWindow ? .hangUp : .stop(.terminate)
  }

  private func eventSources(
    _ run: Run, _ journals: SessionJournals, _ messages: Mailbox<RunMessage>,
    onStop: @escaping @Sendable () -> Void
  ) throws(JournalError) -> RunEventSources {
    let (jobs, options) = (jobs, options)
    let dependsOnConditions =
      jobs.plan.sessions.contains(where: \.asksForConditions) || jobs.plan.policies.budgets != Budgets()
    var look: (@Sendable () -> DeviceConditions)?
    if dependsOnConditions {
      look = { jobs.conditions(network: options.network, power: options.power) { _ in } }
    }
    return try RunEventSources(
      messages: messages, hangUp: hangUp, onStop: onStop, look: look, sessions: journals.kept,
      startsCommands: jobs.plan.startsCommands, in: state, threads: run.threads)
  }
}
