import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport
import FerryTransfer
import Foundation

/// One start of `ferry run`: locks sessions, opens journals, performs the run, and writes the report.
package struct Launch {
  package struct Options: Sendable {
    package var state: String?
    /// The reports to write when the run ends, in addition to the report in the state folder.
    package var reports: [ReportRequest] = []
    /// The files that the command line names, which no list of downloads may replace.
    package var files: [String] = []
    /// The items that the reports list; `nil` if each manifest specifies them.
    package var reportItems: ReportSettings.Items?
    package var only: [String] = []
    package var limit: Int?
    /// The time after which nothing is started, counted from the start of the launch.
    package var maxDuration: Duration?
    /// The maximum time for which the run waits when it has nothing to do.
    package var patience: Duration = .zero
    /// Whether the exit code ignores canceled work.
    package var acceptsCancelled = false
    /// The limit for waiting for sessions that other processes hold.
    package var lockPatience = LockPatience()
    /// `network` and `power` override the manifest's `conditions`.
    package var network: Conditions.Network?
    package var power: Conditions.Power?
    package var launch = LaunchKind.background
    /// The part of the manifest to run; `nil` for the part whose state the folder contains, or the whole manifest.
    package var part: ShardPart?
    /// How long a process owns the journals of a shard after it has last renewed its leases.
    package var lease = Duration.seconds(30)
    /// The interval at which the progress is shown; `nil` if it is not shown.
    package var refresh: Duration?
    /// Called when the run holds its sessions and has not changed anything yet. If the function throws an error, the
    /// run does not start.
    package var verify: (@Sendable () throws -> Void)?
    /// The expectations of the plan that is run, for a comparison in the report; `nil` without a plan.
    package var planned: PlannedRun?
    /// The minimum duration of each sync, to simulate a slow disk in benchmarks.
    package var syncDelay: Duration = .zero

    package init() {}
  }

  /// How the launch ended.
  package enum Ending {
    case ran(ReportSource, report: String)
    /// Another process holds the session.
    case inUse(SessionInUse)
    /// Nothing was started, because the launch is `finish` and the pass over the shards has ended.
    case passEnded(EndedPass)
  }

  /// A snapshot of the progress of a run.
  package struct Progress: Sendable {
    package var done: Int
    package var open: Int
    /// Whether files are still being listed, so that `open` will increase.
    package var isListing: Bool
    package var bytes: Int64
  }

  /// The parts of the progress that take time to find.
  package struct ProgressDetails: Sendable {
    package var failed: Int
    /// What the run waits for, if no request is in progress.
    package var pause: NodeActivity?
    /// The requests in progress that have taken longest so far.
    package var active: [ActiveRequest]
  }

  /// Called after each turn of the loop with functions that return the progress, and the details of at most the given
  /// number of requests.
  package typealias ProgressObserver = (_ progress: () -> Progress, _ details: (Int) -> ProgressDetails) ->
    Void

  /// The jobs, including those of manifests that have joined the run.
  var jobs: Jobs
  let options: Options
  let environment: [String: String]
  let state: StateDirectory
  let clock = LaunchClock()
  let version: String

  /// The values that are determined when a run starts.
  struct Run {
    var id: String
    /// The rounds, by manifest.
    var rounds: [Int64]
    /// When the rounds were opened, by manifest.
    var roundsOpenedAt: [Instant] = []
    /// The pass over all parts to which the round belongs, if the manifest is divided.
    var pass: String?
    var startedAt: Instant
    /// The time after which nothing is started.
    var deadline: Instant?
    var selection: Selection
    /// The values of secrets, by manifest.
    var secrets: [[String: SensitiveValue]]
    /// The connection options of the sessions, by manifest.
    var connections: [SessionConnections]
    var conditions: DeviceConditions
    var threads: RunThreads
    /// The schedule of `max_bandwidth`, which the user's other processes on this machine share; `nil` without this limit.
    var bandwidth: BandwidthClock?
    /// The leases of the journals, if the manifest is divided.
    var leases: [SessionLease] = []
    /// The time zones of the budgets and bandwidth limits, by name.
    var zones: [String: CalendarZone]
    var notice: (String) -> Void
    var warn: ([Diagnostic]) -> Void
    var onProgress: ProgressObserver
    /// Receives the run's events; `nil` if nothing needs them.
    var onEvent: ((borrowing RunEvent) -> Void)?
    /// Called with each request as it was sent; `nil` if requests are not traced.
    var onTrace: ((HAREntry) -> Void)?
    /// Called before the run waits; the observers of events can collect them until then.
    var flushEvents: () -> Void
    /// Whether the run was stopped, or its time limit has passed.
    var isStopped: @Sendable () -> Bool = { false }
  }

  package init(
    _ jobs: Jobs, options: Options, environment: [String: String], version: String
  ) throws {
    self.options = options
    self.environment = environment
    self.version = version
    state = try StateDirectory(explicit: options.state, environment: environment)
    self.jobs = try ShardFolder.jobs(jobs, part: options.part, in: state)
  }

  /// Performs the launch, and returns how it ended.
  ///
  /// - Parameters:
  ///   - notice: receives messages, one line at a time.
  ///   - warn: receives problems of the manifest that are known only from the files and the history.
  ///   - onProgress: called after every turn of the loop.
  ///   - onEvent: called with each event; `nil` if nothing needs them.
  ///   - onTrace: called with each request that was sent; `nil` if requests are not traced.
  ///   - flushEvents: called before the run waits; the observers of events can collect them until then.
  package func run(
    notice: @escaping (String) -> Void, warn: @escaping ([Diagnostic]) -> Void,
    onProgress: @escaping ProgressObserver, onEvent: ((borrowing RunEvent) -> Void)? = nil,
    onTrace: ((HAREntry) -> Void)? = nil, flushEvents: @escaping () -> Void = {}
  ) throws -> Ending {
    do {
      return try runOnceOwned(
        notice: notice, warn: warn, onProgress: onProgress, onEvent: onEvent, onTrace: onTrace,
        flushEvents: flushEvents)
    } catch let error as OwnedElsewhere {
      return .inUse(error.session)
    }
  }

  private func runOnceOwned(
    notice: @escaping (String) -> Void, warn: @escaping ([Diagnostic]) -> Void,
    onProgress: @escaping ProgressObserver, onEvent: ((borrowing RunEvent) -> Void)?,
    onTrace: ((HAREntry) -> Void)?, flushEvents: @escaping () -> Void
  ) throws -> Ending {
    let retention = try Retention(environment: environment)
    let deadline = options.maxDuration.map { clock.now.advanced(by: $0) }
    let selection = try selection
    var secrets = try jobs.all.map {
      try SecretValues.load($0.manifest, folder: $0.folder, environment: environment)
    }
    let connections = try zip(jobs.all, secrets).map { job, secrets in
      try ConnectionLoader.load(
        job, secrets: secrets, environment: environment, wallTime: { LaunchClock.wallTime })
    }
    for (manifest, files) in connections.enumerated() { secrets[manifest].merge(files.passwords) { $1 } }
    // Detect missing resources before anything is locked.
    let threads = try RunThreads()
    // List the lock files before taking locks: a session that was ephemeral until now may have run before,
    // but has never had a lock file.
    let lockedBefore = Set(try state.lockedSessions())
    let locks = try takeLocks(before: deadline)
    defer { for lock in locks { lock.release() } }
    try options.verify?()
    // The run starts when its sessions are locked; the wait for other processes is not part of it.
    let started = clock.now
    var run = Run(
      id: Self.runID(at: started), rounds: [], startedAt: started, deadline: deadline, selection: selection,
      secrets: secrets, connections: connections,
      conditions: jobs.conditions(network: options.network, power: options.power, notice),
      threads: threads, zones: try jobs.plan.zones(around: started), notice: notice,
      warn: warn,
      onProgress: onProgress, onEvent: onEvent, onTrace: onTrace, flushEvents: flushEvents)
    let history = try owned { () throws(JournalError) in
      try RunHistory.open(in: state, writtenBy: version, at: started)
    }
    try settleRunsBeforeJournals(history, at: started, notice)
    if jobs.plan.policies.maxBandwidth != nil {
      let file = try BandwidthFile(in: try state.whole)
      let bandwidth = BandwidthClock(sharing: file.times, of: file)
      run.bandwidth = bandwidth
      for manifest in run.connections.indices { run.connections[manifest].share(bandwidth) }
    }
    let journals = try owned { () throws(JournalError) in
      try SessionJournals.open(
        jobs.plan, in: state, known: history.knownJournals(locked: lockedBefore), writtenBy: version,
        at: started)
    }
    defer { journals.close() }
    run.leases = try takeLeases(journals, history, before: deadline, at: started, notice)
    defer { for lease in run.leases { lease.release() } }
    let held = try HeldLocks(locks, late: awaitLocks(missingFrom: locks))
    defer { held.release() }
    if let pass = try endedPass(history) { return .passEnded(pass) }
    let rounds = try jobs.all.map { job in
      try ShardFolder.register(
        JobRow(
          manifest: job.plan.manifest, path: AbsolutePath.text(of: job.path), variables: job.variables,
          registeredAt: started),
        history, in: state)
      let used = try journals.lastRound(of: job.plan.manifest)
      return try history.openRound(manifest: job.plan.manifest, used: used, at: started)
    }
    (run.rounds, run.roundsOpenedAt, run.pass) = (
      rounds.map(\.number), rounds.map(\.openedAt), rounds.first?.pass
    )
    try history.begin(
      RunRow(
        id: run.id, launch: options.launch,
        rounds: zip(jobs.plan.manifests, run.rounds).map { .init(manifest: $0, number: $1) },
        startedAt: started, part: jobs.all.first?.part?.description),
      journals: journals.kept)
    onEvent?(.started(at: started, run: run.id, manifests: jobs.plan.manifests))
    flushEvents()
    let commands = RunCommands(
      CommandStart(jobs: jobs, state: state, environment: environment, run: run.id),
      owed: try journals.owedEvents.filter { !jobs.plan.sessions[$0.index].onEvents.isEmpty }, clock: clock,
      notice: notice)
    do {
      let (outcome, signals) = try carryOut(run, journals, history, commands)
      return try end(run, outcome, signals, journals, history, commands, held, retention)
    } catch {
      // Record the end of the run, so that no later run mistakes it for a killed run.
      let code = EngineFault.exitCode(of: error).rawValue
      // Report the original error, even if the end of the run cannot be recorded.
      try? history.end(run: run.id, exitCode: code, report: nil, at: clock.now)
      throw error
    }
  }

  /// Records the end of the run, releases its sessions, and writes the requested reports.
  private func end(
    _ run: Run, _ outcome: Outcome, _ signals: SignalsAtEnd, _ journals: SessionJournals,
    _ history: RunHistory, _ commands: RunCommands, _ locks: HeldLocks, _ retention: Retention
  ) throws -> Ending {
    var record = outcome.record
    let report = try keep(outcome.source(record), as: .final)
    try history.end(
      run: run.id, exitCode: record.run.exitCode, report: report, rates: outcome.rates, at: clock.now)
    // If another process has taken over a shard, that process starts the shard's commands and keeps its journal.
    if run.leases.allSatisfy(\.isHeld) {
      try commands.startOwed(
        try journals.owedEvents, report: report, remaining: run.deadline.map { clock.now.duration(to: $0) },
        unless: signals.hasArrived
      ) { try journals.all[$0.index]?.clearEvents() }
    }
    forgetOldRuns(history, retention, run.notice)
    let ownsJournals = run.leases.allSatisfy(\.isHeld)
    let removed = ownsJournals ? try sessionsToRemove(outcome, journals, run.notice) : []
    journals.close()
    for session in removed {
      try history.remove(session)
      try SessionJournal.remove(session: session.session, in: state)
    }
    for lease in run.leases { lease.release() }
    // Release the locks first, because writing the requested report may block until its reader reads.
    locks.release()
    try finish(commands, before: run.deadline, unless: signals.hasArrived, &record, outcome)
    // Writing a report to a FIFO may take up to 30 seconds.
    signals.release()
    // If another process has taken over the shard, that process writes the requested reports.
    if ownsJournals { try deliver(&record, outcome, kept: report, history, run.notice) }
    try history.close()
    run.onEvent?(.finished(at: clock.now, exitCode: record.run.exitCode, report: report))
    return .ran(outcome.source(record), report: report)
  }

  /// Waits for the commands of `on_events`, and adds them to the report.
  private func finish(
    _ commands: RunCommands, before deadline: Instant?, unless isStopped: () -> Bool,
    _ record: inout RunRecord, _ outcome: Outcome
  ) throws {
    let records = commands.finish(
      remaining: deadline.map { clock.now.duration(to: $0) }, unless: isStopped)
    guard !records.isEmpty else { return }
    let (events, expiries) = (records.filter { $0.session != nil }, records.filter { $0.session == nil })
    record.run.onEvents = events.isEmpty ? nil : events
    record.run.onExpiry = expiries.isEmpty ? nil : expiries
    _ = try keep(outcome.source(record), as: .final)
  }

  /// Removes old runs. A failure does not affect this run, which has already ended.
  private func forgetOldRuns(
    _ history: RunHistory, _ retention: Retention, _ notice: (String) -> Void
  ) {
    do {
      _ = try retention.enforce(history, in: state, at: clock.now)
    } catch {
      notice("cannot remove old runs: \(error)")
    }
  }

  /// The sessions to remove after a force quit that requested it. A session is kept if only its journal shows that
  /// requests may have been executed.
  private func sessionsToRemove(
    _ outcome: Outcome, _ journals: SessionJournals, _ notice: (String) -> Void
  ) throws -> [RemovedSession] {
    var removed: [RemovedSession] = []
    for (session, failure) in outcome.cancelled.sorted(by: { $0.key < $1.key })
    where failure.code == .sessionRemoved {
      let identifier = jobs.plan.sessions[session].identifier
      let undecided = try journals.all[session]?.undecidedCount() ?? 0
      guard undecided == 0 else {
        notice("session \(identifier) was kept \(SessionRemoval.reason(keeping: undecided))")
        continue
      }
      let items = jobs.plan.nodes.indices.reduce(0) { sum, node in
        guard jobs.plan.nodes[node].session.index == session else { return sum }
        return sum + (outcome.record.nodes[node].items?.cancelled ?? 0)
      }
      removed.append(
        RemovedSession(session: identifier, failure: failure, items: items, removedAt: clock.now))
    }
    return removed
  }

  /// Writes the reports to the requested destinations. If this fails, the failure is recorded as the run's fault in the
  /// stored report and in `ferry.db`.
  private func deliver(
    _ record: inout RunRecord, _ outcome: Outcome, kept report: String, _ history: RunHistory,
    _ notice: (String) -> Void
  ) throws {
    let status = try StatusCommand.line(for: record, state: options.state, environment: environment)
    var faults: [String] = []
    for request in options.reports {
      do {
        try request.write(outcome.source(record), status: status)
      } catch let error as EngineFault {
        faults.append(
          "\(error)\nhelp: free some space, or specify another file with --report; the report is stored in \(report)"
        )
      }
    }
    guard !faults.isEmpty else { return }
    for fault in faults { notice(fault) }
    record.run.fault = ([record.run.fault].compactMap(\.self) + faults).joined(separator: "\n")
    let codes = [ExitCode(rawValue: record.run.exitCode) ?? .fault, .fault]
    record.run.exitCode = ExitCode.first(of: Set(codes)).rawValue
    _ = try keep(outcome.source(record), as: .final)
    try history.end(run: record.run.id, exitCode: record.run.exitCode, report: report, at: clock.now)
  }

  private var selection: Selection {
    get throws {
      guard case .setup = options.part else { return try Selection(options.only, in: jobs.plan) }
      return try Selection(beforeUploadsOf: jobs.plan)
    }
  }

  /// The ID of a new run. IDs sort by time; the suffix distinguishes runs that start in the same second.
  private static func runID(at now: Instant) -> String {
    "\(now.compact)-\(String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16))"
  }
}
