import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// One start of `ferry run`: locks, journals, the run itself, the report.
package struct Launch {
  package struct Options: Sendable {
    package var state: String?
    package var report: String?
    package var only: [String] = []
    package var limit: Int?
    /// After this long nothing more is started; from the launch's first moment.
    package var maxDuration: Duration?
    /// Over the manifest's `conditions`, where they are given.
    package var network: Conditions.Network?
    package var power: Conditions.Power?
    package var launch = LaunchKind.background
    /// Each sync takes at least this long: a slow disk, for benchmarks.
    package var syncDelay: Duration = .zero

    package init() {}
  }

  /// What became of it.
  package enum Ending {
    case ran(RunRecord, report: String)
    /// Another process has the session.
    case inUse(session: String, pid: Int32?)
  }

  /// A look at a run that is under way.
  package struct Progress: Sendable {
    package var done: Int
    package var open: Int
    package var bytes: Int64
  }

  private let job: Job
  private let options: Options
  private let environment: [String: String]
  private let state: StateDirectory
  private let clock = LaunchClock()
  private let version: String

  package init(
    _ job: Job, options: Options, environment: [String: String], version: String
  ) throws {
    self.job = job
    self.options = options
    self.environment = environment
    self.version = version
    state = try StateDirectory(explicit: options.state, environment: environment)
  }

  /// Runs to the end. `notice` takes lines for people, `warn` what the files and the history show to be wrong
  /// with the manifest; `onProgress` is called after every turn.
  package func run(
    notice: @escaping (String) -> Void, warn: ([Diagnostic]) -> Void, onProgress: @escaping (Progress) -> Void
  ) throws -> Ending {
    let selection = try Selection(options.only, in: job.plan)
    let secrets = try SecretValues.load(job.manifest.secrets, folder: job.folder, environment: environment)
    let conditions = job.conditions(network: options.network, power: options.power, notice)
    let started = clock.now
    var locks: [SessionLock] = []
    defer { for lock in locks { lock.release() } }
    for session in lockedSessions {
      switch try SessionLock.try(session: session, in: state, at: started) {
      case .acquired(let lock): locks.append(lock)
      case .held(let pid, _): return .inUse(session: session, pid: pid)
      }
    }
    let history = try RunHistory.open(in: state, writtenBy: version, at: started)
    try closeDeadRuns(history, at: started, notice)
    let round = try history.openRound(manifest: job.plan.manifest, at: started)
    try history.register(
      JobRow(
        manifest: job.plan.manifest, path: URL(fileURLWithPath: job.path).standardizedFileURL.path,
        variables: job.variables, registeredAt: started))
    let id = Self.runID(at: started)
    try history.begin(
      RunRow(
        id: id, launch: options.launch, rounds: [.init(manifest: job.plan.manifest, number: round.number)],
        startedAt: started))
    let record: RunRecord
    let rates: [RateRow]
    do {
      (record, rates) = try carryOut(
        id: id, round: round.number, selection: selection, secrets: secrets, conditions: conditions,
        history: history, startedAt: started, notice, warn, onProgress)
    } catch {
      // Nothing was carried out: its end is written down, so that no later run takes it for a killed one.
      let code = EngineFault.exitCode(of: error).rawValue
      // The error that is thrown says more than one of writing that down would.
      try? history.end(run: id, exitCode: code, report: nil, at: clock.now)
      throw error
    }
    let report = try state.createReportFolder(ofRun: id)
    let bytes = try ReportWriter.encode(record)
    try ReportWriter.write(bytes, to: report)
    if let path = options.report { try ReportWriter.write(bytes, to: path) }
    try history.end(run: id, exitCode: record.run.exitCode, report: report, rates: rates, at: clock.now)
    try history.close()
    return .ran(record, report: report)
  }

  /// Sessions whose journal is kept; sorted, so that two processes never wait for each other.
  private var lockedSessions: [String] {
    Self.homes(of: job.plan).map { job.plan.sessions[$0.index] }.filter { $0.kind != .ephemeral }
      .map(\.identifier).sorted()
  }

  /// The sessions that nodes live in.
  static func homes(of plan: Plan) -> [SessionID] {
    Set(plan.nodes.filter { $0.kind != .token }.map(\.session)).sorted { $0.index < $1.index }
  }

  private func carryOut(
    id: String, round: Int64, selection: Selection, secrets: [String: String],
    conditions: DeviceConditions, history: RunHistory, startedAt: Instant,
    _ notice: @escaping (String) -> Void, _ warn: ([Diagnostic]) -> Void,
    _ onProgress: @escaping (Progress) -> Void
  ) throws -> (RunRecord, [RateRow]) {
    let homes = Set(Self.homes(of: job.plan))
    let journals: [SessionJournal?] = try job.plan.sessions.indices.map { index in
      guard homes.contains(SessionID(index)) else { return nil }
      let session = job.plan.sessions[index]
      if session.kind == .ephemeral { return try .ephemeral(session: session.identifier) }
      return try .open(session: session.identifier, in: state, writtenBy: version, at: startedAt)
    }
    defer {
      // What was to be kept is synced by the writer; closing late loses nothing.
      for journal in journals { try? journal?.close() }
    }
    let listers = try job.listers(environment: environment)
    let situation = try Situation(
      job, journals: journals, round: round, selection: selection, listers: listers, at: clock.now)
    for (node, problems) in situation.problems.sorted(by: { $0.key < $1.key }) {
      for problem in problems { notice("\(job.plan.nodes[node].name): \(problem)") }
    }
    let warnings = try PlanWarnings.find(job, situation: situation, history: history)
    if !warnings.isEmpty { warn(warnings) }
    let run = try perform(
      id: id, round: round, secrets: secrets, conditions: conditions, situation: situation,
      roots: listers.mapValues(\.root), startedAt: startedAt, onProgress)
    let isThrough = run.scheduler.hasEnded && run.scheduler.isRoundThrough
    if isThrough { try history.closeRound(manifest: job.plan.manifest, number: round, at: clock.now) }
    let exit: ExitCode = run.fault == nil ? run.scheduler.exitCode : .fault
    let record = RunRecord(
      run: .init(
        id: id, manifest: job.plan.manifest, path: job.path, sha256: job.sha256, launch: options.launch,
        round: round, roundClosed: isThrough, startedAt: startedAt.rfc3339, endedAt: clock.now.rfc3339,
        exitCode: exit.rawValue, state: "ended", stop: run.scheduler.stopCause, conditions: conditions,
        fault: run.fault?.description),
      totals: run.scheduler.totals, nodes: run.scheduler.nodeRecords, items: run.scheduler.itemRecords)
    return (record, rates(run.scheduler))
  }

  /// How fast uploads went, for the plans of later runs.
  private func rates(_ scheduler: Scheduler) -> [RateRow] {
    scheduler.samples.map { id, sample in
      let node = job.plan.nodes[id.index]
      return RateRow(
        manifest: job.plan.manifest, upload: node.name,
        session: job.plan.sessions[node.session.index].identifier, sample: sample)
    }
  }

  private func perform(
    id: String, round: Int64, secrets: [String: String], conditions: DeviceConditions,
    situation: Situation, roots: [Int: [UInt8]], startedAt: Instant,
    _ onProgress: @escaping (Progress) -> Void
  ) throws -> RunLoop {
    let loop = try TransferLoop()
    let mail = MailSlot(waker: loop.waker)
    let signals = StopSignals { mail.post(.stop($0)) }
    defer { withExtendedLifetime(signals) {} }
    var writerJournals: [SessionJournal] = []
    var writerIndex: [Int: Int] = [:]
    for (index, journal) in situation.journals.enumerated() {
      guard let journal else { continue }
      writerIndex[index] = writerJournals.count
      writerJournals.append(journal)
    }
    var options = JournalWriter.Options()
    options.syncDelay = self.options.syncDelay
    // A commit waits until its transfer is written down, so it is told at once.
    if job.plan.nodes.contains(where: { $0.steps.contains { $0.kind == .commit } }) {
      options.tellsCommits = true
      options.commitInterval = .milliseconds(1)
    }
    let writer = JournalWriter(journals: writerJournals, options: options) { mail.post(.journal($0)) }
    let places = job.plan.nodes.indices.map { index -> (journal: Int, row: Int64)? in
      guard let row = situation.rows[index], let journal = writerIndex[job.plan.nodes[index].session.index]
      else { return nil }
      return (journal, row.id)
    }
    let scheduler = Scheduler(
      plan: job.plan, starts: situation.starts, intervals: situation.intervals,
      options: LaunchOptions(
        limit: self.options.limit, conditions: conditions,
        deadline: self.options.maxDuration.map { startedAt.advanced(by: $0) }, launch: self.options.launch,
        seed: UInt64.random(in: .min ... .max)))
    let run = RunLoop(
      scheduler: scheduler, clock: clock, loop: loop, mail: mail,
      exchanges: Exchanges(job: job, runID: id, secrets: secrets, situation: situation, roots: roots),
      scribe: Scribe(plan: job.plan, round: round, writer: writer, places: places)
    ) { scheduler, moving in
      onProgress(
        Progress(
          done: scheduler.tally.itemsDone, open: scheduler.itemsOpen,
          bytes: scheduler.tally.usefulBytes + moving.bodySent + moving.bodyReceived))
    }
    run.run()
    do throws(JournalError) { try writer.close() } catch { run.fail(error) }
    return run
  }

  /// A run that was killed is closed as interrupted by the next one, with a report that says so.
  private func closeDeadRuns(
    _ history: RunHistory, at now: Instant, _ notice: (String) -> Void
  ) throws {
    for run in try history.closeDeadRuns(at: now, isAlive: \.isAlive) {
      notice("run \(run.id) was interrupted; this run goes on with what it left")
      for round in run.rounds {
        let job = try history.job(manifest: round.manifest)
        let record = RunRecord(
          run: .init(
            id: run.id, manifest: round.manifest, path: job?.path ?? "", sha256: "", launch: run.launch,
            round: round.number, roundClosed: false, startedAt: run.startedAt.rfc3339, endedAt: now.rfc3339,
            exitCode: ExitCode.temporary.rawValue, state: "interrupted"),
          totals: .init(), nodes: [], items: [])
        try ReportWriter.write(ReportWriter.encode(record), to: state.createReportFolder(ofRun: run.id))
      }
    }
  }

  /// Sorts by time; the end keeps apart runs of one second.
  private static func runID(at now: Instant) -> String {
    "\(now.compact)-\(String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16))"
  }
}
