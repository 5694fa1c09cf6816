import FerryManifest
import FerryPlan

/// The real scheduler between a virtual clock, a server that a test scripts, and a model of the journal.
struct World {
  struct Start {
    var at: Instant
    var attempt: Attempt
    var path: String
  }

  let plan: Plan
  var files: [String: [String: Int64]]
  var options = LaunchOptions(seed: 1)
  var journal = ModelJournal()
  var round: Int64 = 1
  /// Nodes that begin otherwise than the journal says.
  var startOverrides: [String: NodeStart] = [:]
  /// The 2020-09-13, 12:26:40 UTC.
  var now = Instant(nanoseconds: 1_600_000_000_000_000_000)
  var scheduler: Scheduler
  var serve: (Call) -> Reply

  var starts: [Start] = []
  var actions: [Action] = []
  var entries: [JournalEntry] = []
  /// What broke a rule that always holds.
  var violations: [String] = []
  var hasEnded = false
  /// So many more actions are performed before the process dies.
  var actionsToLive = Int.max
  /// Signals, soonest first.
  var signals: [(at: Instant, cause: StopCause)] = []
  var mostInFlight = 0
  var mostIntents = 0

  private var flights: [UInt64: (attempt: Attempt, at: Instant, reply: Reply)] = [:]
  private var tables: [Int: ItemTable] = [:]
  private var uploadIDs: [Place: Int] = [:]
  private var attemptsAt: [Attempt.Step: Int] = [:]
  private var intents: [Place: UInt64] = [:]
  private var recorded: UInt64 = 0
  private var synced: UInt64 = 0
  private var written: UInt64 = 0
  /// Of the record in hand.
  private var unwrittenEntries = 0
  private var syncAt: Instant?
  var ledger = ModelLedger()
  private var answers: [(Lease.Request, Lease)] = []

  init(_ yaml: String, files: [String: [String: Int64]] = [:], serve: @escaping (Call) -> Reply) throws {
    plan = try Plan(yaml: yaml)
    self.files = files
    self.serve = serve
    scheduler = Scheduler(
      plan: plan, starts: plan.nodes.map { _ in .notSelected }, options: LaunchOptions(seed: 1))
  }

  var start: Instant { Instant(nanoseconds: 1_600_000_000_000_000_000) }
  var isDead: Bool { actionsToLive <= 0 }

  /// Runs launches until everything of the round is closed; at most `limit`.
  mutating func runRound(launches limit: Int) {
    for _ in 0..<limit {
      run()
      if scheduler.isRoundThrough { return }
    }
  }

  /// One launch from its begin to `.end`, or to its death.
  mutating func run() {
    launch()
    var events = 0
    let bound = 2000 + 200 * files.values.reduce(0) { $0 + $1.count }
    while !hasEnded, !isDead {
      guard step() else {
        violations.append("nothing leads on, and it has not ended")
        return
      }
      events += 1
      if events > bound { return violations.append("more than \(bound) events") }
    }
    // A sync takes 50 ms, and the outcomes of the last requests may let others follow.
    if let deadline = options.deadline, now > deadline.advanced(by: options.grace + .milliseconds(500)) {
      violations.append("it ended \(deadline.duration(to: now)) after its deadline")
    }
  }

  /// Meets the journal and begins; whatever an earlier launch had under way is forgotten.
  mutating func launch() {
    flights = [:]
    tables = [:]
    uploadIDs = [:]
    attemptsAt = [:]
    intents = [:]
    (recorded, written, synced, syncAt) = (0, 0, 0, nil)
    (hasEnded, starts, actions, entries) = (false, [], [], [])
    answers = []
    let starts = plan.nodes.indices.map { nodeStart($0) }
    let intervals = journal.fetches.compactMap { index, fetched in
      fetched.interval.map { (NodeID(index), $0) }
    }
    scheduler = Scheduler(
      plan: plan, starts: starts, intervals: Dictionary(uniqueKeysWithValues: intervals),
      delays: journal.delays, options: options)
    handle(.launched)
  }

  /// Goes on to the next thing that happens; false where nothing will.
  mutating func step() -> Bool {
    let arrival = flights.values.map(\.at).min()
    let next = [arrival, syncAt, scheduler.nextWakeup, signals.first?.at].compactMap { $0 }.min()
    guard let next else { return false }
    now = max(now, next)
    if let signal = signals.first, signal.at <= now {
      signals.removeFirst()
      handle(.stop(signal.cause))
    } else if let syncAt, syncAt <= now {
      self.syncAt = nil
      synced = recorded
      handle(.synced(through: synced))
    } else if let arrival, arrival <= now {
      finishArrived()
    } else {
      handle(.timer)
    }
    return true
  }

  private mutating func finishArrived() {
    var results: [AttemptResult] = []
    for id in flights.keys.sorted() {
      guard let flight = flights[id], flight.at <= now else { continue }
      flights[id] = nil
      if let uploadID = flight.reply.uploadID { uploadIDs[flight.attempt.place] = uploadID }
      results.append(.init(id: id, answer: flight.reply.answer))
    }
    handle(.finished(results))
  }

  private mutating func handle(_ event: Event) {
    let performed = scheduler.handle(event, at: now)
    if performed.count > 10_000 { violations.append("\(performed.count) actions at once") }
    for action in performed {
      guard !isDead else { return }
      actionsToLive -= 1
      actions.append(action)
      perform(action)
    }
    while !answers.isEmpty, !isDead {
      let (request, lease) = answers.removeFirst()
      handle(.leased(lease, for: request))
    }
    // The journal's thread commits at once and syncs later.
    if recorded > written, !isDead {
      written = recorded
      handle(.written(through: written))
    }
  }

  private mutating func perform(_ action: Action) {
    switch action {
    case .start(let attempt): begin(attempt)
    case .cancel(let id):
      guard let flight = flights[id] else { return violations.append("\(id) is cancelled and not under way") }
      flights[id] = (flight.attempt, now, .fails(.cancelled, reached: true))
    case .record(let new):
      recorded += 1
      entries += new
      unwrittenEntries = new.count
      var delay = Duration.milliseconds(50)
      for entry in new {
        journal.apply(entry, tables: tables, ids: uploadIDs, round: round)
        if case .intent(let place, _) = entry {
          intents[place] = recorded
          delay = .milliseconds(1)
        }
        if case .withdrawn(let place) = entry { intents[place] = nil }
        if case .closed(let place, .done, _, let at) = entry,
          plan.nodes[place.node.index].kind == .fetch
        {
          journal.fetches[place.node.index] = .init(at: at, interval: scheduler.fetchInterval(of: place.node))
        }
      }
      mostIntents = max(mostIntents, intents.count)
      syncAt = min(syncAt ?? .distantFuture, now.advanced(by: delay))
    case .lease(let request): answers.append((request, ledger.lease(request)))
    case .releaseLeases: ledger.release()
    case .sync: if synced < recorded { syncAt = now.advanced(by: .milliseconds(1)) }
    case .end:
      hasEnded = true
      if synced < recorded { violations.append("it ended before everything was on disk") }
      if !flights.isEmpty { violations.append("it ended with requests under way") }
    }
  }

  private mutating func begin(_ attempt: Attempt) {
    if attempt.step == .commit, written < recorded,
      entries.suffix(unwrittenEntries).contains(.transferred(attempt.place))
    {
      violations.append("a commit started before its transfer was written")
    }
    if let deadline = options.deadline, now >= deadline {
      violations.append("\(attempt) started after the launch's deadline")
    }
    let step = plan.step(of: attempt)
    if step.repeatability == .once {
      if let intent = intents[attempt.place], intent <= synced {
        intents[attempt.place] = nil
      } else {
        violations.append("\(attempt) started before its intent was on disk")
      }
    }
    let key = Attempt.Step(place: attempt.place, kind: attempt.step)
    attemptsAt[key, default: 0] += 1
    let path = path(of: attempt.place)
    let reply = serve(
      Call(
        attempt: attempt, number: attemptsAt[key] ?? 1, node: plan.nodes[attempt.place.node.index].name,
        path: path, uploadID: uploadIDs[attempt.place], now: now))
    // Only what certainly did not reach the server spends no intent.
    if case .failure(let failure) = reply.answer, !failure.mayHaveReachedServer, step.repeatability == .once {
      intents[attempt.place] = synced
    }
    starts.append(Start(at: now, attempt: attempt, path: path))
    flights[attempt.id] = (attempt, now.advanced(by: reply.after), reply)
    let beside = flights.values.count {
      let other = plan.step(of: $0.attempt)
      return other.session == step.session && other.origin == step.origin
    }
    mostInFlight = max(mostInFlight, beside)
    if beside > plan.sessions[step.session.index].maxConnectionsPerHost {
      violations.append("\(beside) requests of one session to one host")
    }
  }

  private func path(of place: Place) -> String {
    guard let item = place.item, let table = tables[place.node.index] else { return "" }
    return String(decoding: table.files.path(item), as: UTF8.self)
  }

  private mutating func nodeStart(_ index: Int) -> NodeStart {
    let node = plan.nodes[index]
    if let start = startOverrides[node.name] { return start }
    switch node.work {
    case .token: return .open
    case .upload(let work): return uploadStart(index, work)
    case .fetch, .request:
      guard let row = journal.singles[index], row.round == round else {
        guard case .fetch(let work) = node.work else { return .open }
        let fetched = journal.fetches[index]
        return work.interval.start(last: fetched?.at, kept: fetched?.interval, at: now)
      }
      if row.hasIntent { return .intended }
      guard row.state.isClosed else { return .open }
      switch row.state {
      case .done: return .closed(.succeeded)
      case .ambiguous: return .closed(.ambiguous)
      case .cancelled: return .closed(.skipped)
      case .queued, .allocated, .transferred, .failed: return .closed(.failed)
      }
    }
  }

  private mutating func uploadStart(_ index: Int, _ work: UploadWork) -> NodeStart {
    var listing = FileColumns()
    let listed = files[plan.nodes[index].name] ?? [:]
    for path in listed.keys.sorted() { listing.append(path: path.utf8, size: listed[path] ?? 0, modified: 0) }
    let rows = journal.items[index] ?? [:]
    // Each upload has rows of its own here: nothing looks at them but the model.
    var reconciliation = Reconciliation(
      listing: listing, deliver: work.deliver, round: round, nextRow: Int64(rows.count + 1))
    for (path, item) in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      reconciliation.meet(item.known, path: path)
    }
    reconciliation.finish()
    let table = reconciliation.items
    tables[index] = table
    for item in table.begun.keys {
      uploadIDs[Place(NodeID(index), item)] = rows[Array(table.files.path(item))]?.uploadID
    }
    return .upload(table, reconciliation.settled)
  }
}

extension Attempt {
  /// One step of one place.
  struct Step: Hashable {
    var place: Place
    var kind: FerryPlan.Step.Kind
  }
}
