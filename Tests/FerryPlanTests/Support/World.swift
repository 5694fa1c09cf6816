import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// A virtual machine that records its actions, and checks rules that hold in every world.
struct World {
  struct Start {
    var at: Instant
    var attempt: Attempt
    var path: String
  }

  var machine: VirtualMachine
  var files: [String: [String: Int64]]

  var starts: [Start] = []
  var actions: [Action] = []
  var entries: [JournalEntry] = []
  /// Violations of rules that always hold.
  var violations: [String] = []
  var mostInFlight = 0
  /// The maximum number of steps whose intents were recorded but which had not been sent.
  var mostIntents = 0

  private var flights: [UInt64: Attempt] = [:]
  private var intents: [ItemRef: UInt64] = [:]
  private var transferred: [ItemRef: UInt64] = [:]
  private var recorded: UInt64 = 0
  private var synced: UInt64 = 0

  init(_ yaml: String, files: [String: [String: Int64]] = [:], serve: @escaping (Call) -> Reply) throws {
    self.init(try Plan(yaml: yaml), files: files, serve: serve)
  }

  /// - Parameter files: files by the names of the uploads, which are `MANIFEST/NODE` if the plan has several
  /// manifests.
  init(_ plan: Plan, files: [String: [String: Int64]] = [:], serve: @escaping (Call) -> Reply) {
    self.files = files
    // 2020-09-13, 12:26:40 UTC.
    machine = VirtualMachine(plan, at: Instant(nanoseconds: 1_600_000_000_000_000_000), serve: serve)
    machine.keepsTrace = true
    machine.checksInvariants = true
    machine.countsAttempts = true
  }

  var start: Instant { Instant(nanoseconds: 1_600_000_000_000_000_000) }

  /// Runs launches until the round is closed; at most `limit`.
  mutating func runRound(launches limit: Int) {
    for _ in 0..<limit {
      run()
      if scheduler.isRoundThrough { return }
    }
  }

  /// Runs one launch from its start to `.end`, or until it is killed.
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
    // A sync takes 50 ms, and the outcomes of the last requests may allow others to follow.
    if let deadline = options.deadline, now > deadline.advanced(by: options.grace + .milliseconds(500)) {
      violations.append("it ended \(deadline.duration(to: now)) after its deadline")
    }
  }

  /// Reads the journal and starts a launch; requests in flight of an earlier launch are dropped.
  mutating func launch() {
    (starts, actions, entries, flights, intents) = ([], [], [], [:], [:])
    (recorded, synced, transferred) = (0, 0, [:])
    list()
    machine.launch()
    look()
  }

  /// Advances to the next event; `false` without one.
  mutating func step() -> Bool {
    let hasMoved = machine.step()
    look()
    return hasMoved
  }

  private mutating func list() {
    for (index, node) in plan.nodes.enumerated() where node.kind == .upload {
      let listed = files[plan.title(of: NodeID(index))] ?? [:]
      var listing = FileColumns()
      for path in listed.keys.sorted() {
        listing.append(path: path.utf8, size: listed[path] ?? 0, modified: 0)
      }
      if listing != machine.listing(of: NodeID(index)) { machine.list(listing, of: NodeID(index)) }
    }
  }

  private mutating func look() {
    var performed = 0
    for traceEvent in machine.trace {
      switch traceEvent {
      case .event(let event):
        performed = 0
        take(event)
      case .action(let action):
        performed += 1
        if performed == 10_001 { violations.append("more than 10000 actions at once") }
        actions.append(action)
        take(action)
      case .sent(let call, let reply): begin(call, reply)
      case .contradiction(let message): Issue.record(Comment(rawValue: message))
      case .launched, .moved, .othersMoved, .leased, .died: break
      }
    }
  }

  private mutating func take(_ event: Event) {
    switch event {
    case .synced(let through): synced = through
    case .finished(let results): for result in results { flights[result.id] = nil }
    case .launched, .timer, .stop, .conditions, .moved, .leased, .hangUp, .cancelled, .submitted,
      .uploadIDsInUse:
      break
    }
  }

  private mutating func take(_ action: Action) {
    switch action {
    case .cancel(let id): if flights[id] == nil { violations.append("\(id) is cancelled but not running") }
    case .record(let new):
      recorded += 1
      entries += new
      for entry in new {
        if case .intentRecorded(let ref, _) = entry { intents[ref] = recorded }
        if case .intentWithdrawn(let ref) = entry { intents[ref] = nil }
        if case .fileTransferred(let ref) = entry { transferred[ref] = recorded }
      }
      mostIntents = max(mostIntents, intents.count)
    case .end:
      if synced < recorded { violations.append("it ended before everything was on disk") }
      if !flights.isEmpty { violations.append("it ended with requests running") }
    case .start, .lease, .releaseLeases, .sync: break
    }
  }

  private mutating func begin(_ call: Call, _ reply: Reply) {
    let attempt = call.attempt
    if let deadline = options.deadline, call.now >= deadline {
      violations.append("\(attempt) started after the launch's deadline")
    }
    let step = plan.step(of: attempt)
    if step.kind == .commit, let record = transferred[attempt.ref], record > synced {
      violations.append("a commit started before its transfer was on disk")
    }
    if step.repeatability == .once {
      if let intent = intents[attempt.ref], intent <= synced {
        intents[attempt.ref] = nil
      } else {
        violations.append("\(attempt) started before its intent was on disk")
      }
    } else if step.kind == .commit {
      intents[attempt.ref] = nil
    }
    // A request that certainly did not reach the server does not use up its intent.
    if case .failure(let failure) = reply.answer, !failure.mayHaveReachedServer, step.repeatability == .once {
      intents[attempt.ref] = synced
    }
    starts.append(Start(at: call.now, attempt: attempt, path: call.path))
    flights[attempt.id] = attempt
    let beside = flights.values.count {
      let other = plan.step(of: $0)
      return other.session == step.session && other.origin == step.origin
    }
    mostInFlight = max(mostInFlight, beside)
    if beside > plan.sessions[step.session.index].maxConnectionsPerHost {
      violations.append("\(beside) requests of one session to one host")
    }
  }
}

/// Settings and results of the machine, for tests.
extension World {
  var plan: Plan { machine.plan }
  var scheduler: Scheduler { machine.scheduler }
  var hasEnded: Bool { machine.hasEnded }
  var isDead: Bool { machine.isDead }

  var options: LaunchOptions {
    get { machine.options }
    set { machine.options = newValue }
  }

  var round: Int64 {
    get { machine.round }
    set { machine.round = newValue }
  }

  var startOverrides: [String: NodeStart] {
    get { machine.startOverrides }
    set { machine.startOverrides = newValue }
  }

  var now: Instant {
    get { machine.now }
    set { machine.now = newValue }
  }

  var serve: (Call) -> Reply {
    get { machine.serve }
    set { machine.serve = newValue }
  }

  /// Kills the process after this number of actions of the next launch; `nil` to let it live.
  mutating func die(afterActions actions: Int?, losesPower: Bool = false) {
    machine.fate = actions.map {
      Death(afterActions: $0, losesPower: losesPower, losesUnwritten: machine.writeDelay > .zero)
    }
  }

  /// Signals, the earliest first.
  var signals: [(at: Instant, cause: StopCause)] {
    get {
      machine.occurrences.compactMap { at, what in
        if case .stop(let cause) = what { (at, cause) } else { nil }
      }
    }
    set {
      machine.unschedule { if case .stop = $0 { true } else { false } }
      for (at, cause) in newValue { machine.schedule(.stop(cause), at: at) }
    }
  }
}
