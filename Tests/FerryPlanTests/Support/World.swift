import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// A virtual machine that records its actions. The referee of the random worlds checks each action, and reports
/// violations as issues of the test.
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
  var mostInFlight = 0
  /// The maximum number of steps whose intents were recorded but whose requests had not been sent.
  var mostIntents = 0

  /// Distinguishes several worlds of a test in the message of a violation.
  var label = ""

  fileprivate var referee: Referee
  private var flights: [UInt64: Attempt] = [:]
  private var intents: Set<ItemRef> = []

  init(_ yaml: String, files: [String: [String: Int64]] = [:], serve: @escaping (Call) -> Reply) throws {
    self.init(try Plan(yaml: yaml), files: files, serve: serve)
  }

  /// - Parameter files: the files of each upload, by the upload's name. If the plan has several manifests, the name is
  ///   `MANIFEST/NODE`.
  init(_ plan: Plan, files: [String: [String: Int64]] = [:], serve: @escaping (Call) -> Reply) {
    self.files = files
    // 2020-09-13, 12:26:40 UTC.
    machine = VirtualMachine(plan, at: Instant(nanoseconds: 1_600_000_000_000_000_000), serve: serve)
    machine.keepsTrace = true
    machine.checksInvariants = true
    machine.countsAttempts = true
    referee = Referee(plan)
  }

  var start: Instant { Instant(nanoseconds: 1_600_000_000_000_000_000) }

  /// Runs launches until the round is closed, but at most `limit`.
  mutating func runRound(launches limit: Int) {
    for _ in 0..<limit {
      run()
      if scheduler.isRoundThrough { return }
    }
  }

  /// Runs one launch from its start to `.end`, or until it is killed or violates a rule.
  mutating func run() {
    launch()
    while !hasEnded, !isDead, referee.violation == nil {
      if !step() { referee.stuck() }
    }
    if referee.violation == nil { referee.launchEnded(machine) }
    reportViolation()
  }

  /// Reads the journal and starts a launch. Requests that an earlier launch left in flight are dropped.
  mutating func launch() {
    (starts, actions, entries, flights, intents) = ([], [], [], [:], [])
    list()
    referee.willLaunch(machine)
    machine.launch()
    look()
  }

  /// Advances to the next event. Returns `false` if there is none.
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
    referee.see(machine, [])
    reportViolation()
    for traceEvent in machine.trace {
      switch traceEvent {
      case .event(.finished(let results)): for result in results { flights[result.id] = nil }
      case .action(let action):
        actions.append(action)
        if case .record(let entries) = action { take(entries) }
      case .sent(let call, let reply): begin(call, reply)
      case .event, .contradiction, .launched, .moved, .othersMoved, .leased, .died: break
      }
    }
  }

  private mutating func take(_ new: [JournalEntry]) {
    entries += new
    for entry in new {
      switch entry {
      case .intentRecorded(let ref, _): intents.insert(ref)
      case .intentWithdrawn(let ref): intents.remove(ref)
      default: break
      }
    }
    mostIntents = max(mostIntents, intents.count)
  }

  private mutating func begin(_ call: Call, _ reply: Reply) {
    let attempt = call.attempt
    let step = plan.step(of: attempt)
    intents.remove(attempt.ref)
    // If the request certainly did not reach the server, its intent can be used again.
    if case .failure(let failure) = reply.answer, !failure.mayHaveReachedServer, step.repeatability == .once {
      intents.insert(attempt.ref)
    }
    starts.append(Start(at: call.now, attempt: attempt, path: call.path))
    flights[attempt.id] = attempt
    let concurrent = flights.values.count {
      let other = plan.step(of: $0)
      return other.session == step.session && other.origin == step.origin
    }
    mostInFlight = max(mostInFlight, concurrent)
  }

  /// Reports a violation once.
  private mutating func reportViolation() {
    guard let violation = referee.violation, !hasReportedViolation else { return }
    hasReportedViolation = true
    Issue.record("\(label.isEmpty ? "" : "\(label): ")\(violation.rule.rawValue): \(violation.message)")
  }

  private var hasReportedViolation = false
}

/// Settings and results of the machine, for tests.
extension World {
  var plan: Plan { machine.plan }
  var scheduler: Scheduler { machine.scheduler }
  var hasEnded: Bool { machine.hasEnded }
  var isDead: Bool { machine.isDead }
  /// Whether a rule was violated. The violation has already been reported as an issue.
  var hasViolation: Bool { referee.violation != nil }

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

  enum IntentEntry { case recorded, withdrawn }

  /// The recorded and withdrawn intents, in order.
  var intentEntries: [IntentEntry] {
    entries.compactMap {
      switch $0 {
      case .intentRecorded: .recorded
      case .intentWithdrawn: .withdrawn
      default: nil
      }
    }
  }

  /// The pending signals, in order of time.
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
