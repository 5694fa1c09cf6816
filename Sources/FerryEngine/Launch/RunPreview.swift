import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// The work that a launch at a given time would find and start. The files, the journals, the history and
/// the ledger are read without being changed, and no request is sent.
struct RunPreview {
  struct Options: Sendable {
    var only: [String] = []
    /// `network` and `power` override the manifest's `conditions`.
    var network: Conditions.Network?
    var power: Conditions.Power?
    var launch = LaunchKind.background
    /// The start time; `nil` for now.
    var moment: Instant?
    /// Whether `list: -` reads standard input; otherwise, `list: -` contains no files.
    var readsStandardInput = false
    /// Whether to read files whose changes can be detected only by their content.
    var readsContents = true
    /// Sessions that are treated as already canceled.
    var cancelled: [SessionID] = []

    init() {}
  }

  let job: Job
  let moment: Instant
  /// The open round, or the round that a launch would open.
  let round: Int64
  let continuesRound: Bool
  let conditions: DeviceConditions
  let launch: LaunchKind
  let budgets: [BudgetUse]
  /// The time zones of the budgets and bandwidth limits, by name.
  let zones: [String: CalendarZone]
  /// The current resume delays of the sessions.
  let delays: [SessionID: ResumeState]
  /// For each session, the time up to which queued work is not inferred to be discretionary.
  let foreground: [SessionID: Instant]
  /// Bytes per second of one connection, as measured by the last runs of the job.
  let measured: Double?
  let journals: SessionJournals
  /// Unread notes for the manifest's sessions.
  let notes: [Note]
  /// The last run of the manifest; `nil` if there is none.
  let lastRun: String?
  let launchState: LaunchState
  let look: InitialDecision
  /// Problems that were not already reported when the manifest was read.
  let diagnostics: [Diagnostic]

  /// Creates a preview, and calls `body` while the journals are open.
  static func take<Result>(
    _ job: Job, _ options: Options, in state: StateDirectory, environment: [String: String],
    _ body: (RunPreview) throws -> Result
  ) throws -> Result {
    let job = try job.divided(in: state)
    let history = try RunHistory.openForReading(in: state)
    // The history was only read, so closing it cannot lose data.
    defer { try? history.close() }
    let journals = try SessionJournals.openForReading(
      job.plan, in: state, known: history.knownJournals(locked: Set(state.lockedSessions())))
    defer { journals.close() }
    return try body(
      RunPreview(job, options, in: state, history: history, journals: journals, environment: environment))
  }

  private init(
    _ job: Job, _ options: Options, in state: StateDirectory, history: RunHistory,
    journals: SessionJournals, environment: [String: String]
  ) throws {
    self.job = job
    launch = options.launch
    moment = options.moment ?? LaunchClock.wallTime
    let next = try history.nextRound(
      manifest: job.plan.manifest, used: try journals.lastRound(of: job.plan.manifest))
    continuesRound = next.continues
    round = next.number
    conditions = job.conditions(network: options.network, power: options.power) { _ in }
    self.journals = journals
    let source = options.readsStandardInput ? job : job.withoutStandardInput
    let listers = try source.listers(environment: environment, state: state)
    notes = try Self.notes(job.plan, in: state)
    lastRun = try history.lastRun(of: job.plan.manifest)?.id
    launchState = try LaunchState(
      job, journals: journals, round: round, selection: Selection(options.only, in: job.plan),
      listers: listers,
      former: FormerRequests(
        Jobs(job), rounds: [round], continued: next.continues ? [0] : [], journals, history, in: state
      ) { _ in }, submitted: Self.submitted(notes, job.plan, listers),
      contents: options.readsContents ? ContentReader() : nil, isPreview: true,
      given: ShardStarts(job, in: state, round: round, pass: next.pass), at: moment)
    let (zones, unknown) = job.zones(around: moment)
    let used = try Self.used(job, zones, at: moment, in: state)
    budgets = used.uses
    self.zones = zones
    delays = try journals.delays
    foreground = try journals.foreground
    measured = try Self.measured(job, history)
    let scheduler = Scheduler(
      plan: job.plan, starts: launchState.starts, intervals: launchState.intervals, delays: delays,
      foreground: foreground,
      options: LaunchOptions(conditions: conditions, launch: launch, zones: zones, seed: 0))
    var ledger = LedgerView(used: used.bytes)
    look = InitialDecision(scheduler, at: moment, cancelled: options.cancelled) { ledger.lease($0) }
    diagnostics =
      try unknown + OversizedFiles.find(job, launchState: launchState, launch: launch)
      + PlanWarnings.find(job, launchState: launchState, history: history)
  }

  /// Calls `body` with each file that the launch would send, by upload, in the order of the listing.
  func eachFile(_ body: (PlannedFile) throws -> Void) rethrows {
    for (index, start) in launchState.starts.enumerated() {
      guard case .upload(let table, _) = start else { continue }
      for item in 0..<table.count {
        try body(
          PlannedFile(
            node: job.plan.nodes[index].name, path: Array(table.files.path(item)),
            size: table.files.sizes[item],
            version: .init(table.files.modified[item], of: job.plan.nodes[index].kind),
            reason: table.reason(of: item)))
      }
    }
  }

  private static func notes(_ plan: Plan, in state: StateDirectory) throws(JournalError) -> [Note] {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    var notes: [Note] = []
    for home in plan.itemSessions {
      notes += try inbox.notes(session: plan.sessions[home.index].identifier)
    }
    return notes.filter { $0.manifest == nil || $0.manifest == plan.manifest }
  }

  /// The submitted files, by node.
  private static func submitted(
    _ notes: [Note], _ plan: Plan, _ listers: [Int: FileLister]
  ) throws(ListingFailure) -> [Int: SubmittedFiles] {
    var byNode: [Int: [Note]] = [:]
    for note in notes where note.kind == .submit {
      if let node = plan.upload(of: note) { byNode[node, default: []].append(note) }
    }
    var submitted: [Int: SubmittedFiles] = [:]
    for (node, notes) in byNode {
      if let lister = listers[node] { submitted[node] = try SubmittedFiles(notes, lister) }
    }
    return submitted
  }

  /// The median of the rates that were measured in the last five runs of each upload.
  private static func measured(_ job: Job, _ history: RunHistory) throws -> Double? {
    var rates: [Double] = []
    for node in job.plan.nodes where node.kind == .upload {
      rates += try history.samples(manifest: job.plan.manifest, upload: node.name, limit: 5).compactMap(
        \.rate)
    }
    return rates.isEmpty ? nil : rates.sorted()[rates.count / 2]
  }

  /// The bytes used of each budget, in the budget's window that contains the time.
  private static func used(
    _ job: Job, _ zones: [String: CalendarZone], at moment: Instant, in state: StateDirectory
  ) throws -> (uses: [BudgetUse], bytes: [Budget.Scope: Int64]) {
    let budgets = job.plan.policies.budgets
    let limited = Budget.Scope.allCases.filter { budgets[$0] != nil }
    guard !limited.isEmpty else { return ([], [:]) }
    let ledger = try job.ledgerForReading(in: state)
    // The ledger was only read, so closing it cannot lose data.
    defer { try? ledger.close() }
    var uses: [BudgetUse] = []
    var bytes: [Budget.Scope: Int64] = [:]
    for scope in limited {
      guard let budget = budgets[scope] else { continue }
      let window = budget.per.span(containing: moment, in: zones[budget.timeZone] ?? .utc)
      let used = try ledger.used(scope, in: window)
      bytes[scope] = used
      uses.append(BudgetUse(budget, network: scope, usedBytes: used, window: window))
    }
    return (uses, bytes)
  }
}

extension Job {
  /// This job, with an empty file in place of `list: -`.
  fileprivate var withoutStandardInput: Job {
    var job = self
    for index in job.plan.nodes.indices {
      guard case .upload(var work) = job.plan.nodes[index].work,
        case .list("-", let nullSeparated) = work.files.source
      else { continue }
      work.files.source = .list("/dev/null", nullSeparated: nullSeparated)
      job.plan.nodes[index].work = .upload(work)
    }
    return job
  }
}
