import FerryManifest
import FerryPlan
import FerrySimulation

/// Runs one world, from its first launch until everything is closed, and checks it with the referee.
package struct WorldRun {
  /// The result of a world.
  package struct Outcome: Sendable {
    package var violation: Violation?
    /// The hash of the history.
    package var hash: UInt64
    package var counters: VirtualMachine.Counters
    package var simulated: Duration
    /// The history, if it was requested.
    package var history: [String]
  }

  private let scenario: Scenario
  private var machine: VirtualMachine
  private var referee: Referee
  private var hash = HistoryHash()
  private var history: History?
  private var simulated = Duration.zero

  /// The number of fault-free launches within which everything must close. A file of 4 MB, the largest size, may need
  /// five windows of a hard budget that exists on one of three networks only.
  private static func bound(_ items: Int) -> Int { 12 + 15 * items }

  /// Runs a scenario and checks its history.
  ///
  /// - Parameter plan: the plan of the scenario's manifest, if it is already known.
  /// - Returns: `nil` if the scenario's manifest is invalid.
  package static func outcome(
    of scenario: Scenario, plan known: Plan? = nil, tellsHistory: Bool = false
  ) -> Outcome? {
    guard let plan = known ?? scenario.manifest.plan else { return nil }
    var server = WorldServer(scenario, plan)
    let begin = Instant(nanoseconds: 1_600_000_000_000_000_000)
    let machine = VirtualMachine(plan, at: begin) { server.answer($0) }
    var run = WorldRun(scenario: scenario, machine: machine, plan: plan, tellsHistory: tellsHistory)
    run.live(calm: { server.isGood = true }, effects: { server.takeEffects() })
    return Outcome(
      violation: run.referee.violation, hash: run.hash.value, counters: run.machine.counters,
      simulated: run.simulated, history: run.history?.lines ?? [])
  }

  private init(scenario: Scenario, machine: VirtualMachine, plan: Plan, tellsHistory: Bool) {
    self.scenario = scenario
    self.machine = machine
    referee = Referee(plan)
    history = tellsHistory ? History(plan, at: machine.now) : nil
    self.machine.keepsTrace = true
    self.machine.checksInvariants = true
    self.machine.writeDelay = .milliseconds(scenario.writeDelayMilliseconds)
    self.machine.leaseDelay = .milliseconds(scenario.leaseDelayMilliseconds)
    self.machine.portion = scenario.portion
    self.machine.listingDelay = .milliseconds(scenario.listingDelayMilliseconds)
    self.machine.progressInterval = scenario.progressSeconds.map { .seconds($0) }
    for number in scenario.manifest.uploads.indices { addFiles(scenario.files[number], toUpload: number) }
  }

  private mutating func live(calm: () -> Void, effects: () -> [ServerEffect]) {
    for (number, launch) in scenario.launches.enumerated() {
      prepare(launch, number)
      run(effects)
      machine.unschedule {
        switch $0 {
        case .conditions, .othersMove: false
        case .stop, .hangUp, .cancel, .drain, .submit: true
        }
      }
      if referee.violation != nil { return }
    }
    calm()
    machine.unschedule { _ in true }
    (machine.fate, machine.writeDelay) = (nil, .zero)
    let items = plan.nodes.indices.reduce(0) { $0 + machine.listing(of: NodeID($1)).count }
    // Work that does not fit in a window is sent only in the foreground.
    let isShort = scenario.manifest.windowSeconds.map { $0 < 5 } ?? false
    let kind: LaunchKind = isShort || scenario.chance(7, 2) == 0 ? .foreground : .background
    let networks: [DeviceConditions.Network] =
      scenario.manifest.allowsCellular && scenario.manifest.allowsExpensive
      ? [.wired, .wifi, .cellular] : [.wired, .wifi]
    for launch in 0..<Self.bound(items) {
      machine.now = machine.now.advanced(by: .seconds(90_000))
      let network = networks[launch % networks.count]
      machine.options = LaunchOptions(
        conditions: .init(network: network, power: .external), launch: kind,
        seed: scenario.seed &+ UInt64(launch))
      history?.beginCalm()
      run(effects)
      if referee.violation != nil { return }
      if machine.scheduler.isRoundThrough {
        referee.closed(machine)
        if let violation = referee.violation { history?.add(violation, at: machine.now) }
        return
      }
    }
    referee.starve(machine)
    if let violation = referee.violation { history?.add(violation, at: machine.now) }
  }

  private var plan: Plan { machine.plan }

  private mutating func prepare(_ launch: LaunchSpec, _ number: Int) {
    machine.openRound()
    machine.now = machine.now.advanced(by: .seconds(launch.pauseSeconds))
    for _ in 0..<launch.changed { changeFile(number) }
    addFiles(launch.newSizes, toUpload: 0)
    let deadline = launch.maxDurationMilliseconds.map { machine.now.advanced(by: .milliseconds($0)) }
    machine.options = LaunchOptions(
      limit: launch.limit, conditions: launch.conditions, deadline: deadline,
      grace: .milliseconds(launch.graceMilliseconds), launch: launch.kind,
      patience: .seconds(launch.patienceSeconds), seed: scenario.seed &+ UInt64(number))
    machine.fate = launch.actionsToLive.map {
      Death(afterActions: $0, losesPower: launch.losesPower, losesUnwritten: machine.writeDelay > .zero)
    }
    for happening in launch.happenings {
      let at = machine.now.advanced(by: .milliseconds(happening.afterMilliseconds))
      machine.schedule(occurrence(happening.what), at: at)
    }
  }

  private mutating func occurrence(_ what: LaunchSpec.Happening.What) -> Occurrence {
    switch what {
    case .stop(let cause): return .stop(cause)
    case .hangUp: return .hangUp
    case .conditions(let conditions): return .conditions(conditions)
    case .othersMove(let network, let bytes): return .othersMove(network, bytes)
    case .cancel(let finishing): return .cancel(SessionID(0), finishing: finishing)
    case .submit(let upload, let sizes):
      let node = node(upload)
      var all = listing(of: node)
      var files = FileColumns()
      for size in sizes {
        let path = Self.path(all.count)
        all.append(path: path.utf8, size: size, modified: 0)
        files.append(path: path.utf8, size: size, modified: 0)
      }
      // The files are submitted to this launch, and are listed starting with the next one.
      pendingListings[node.index] = all
      return .submit(node, files)
    }
  }

  /// The listings that apply starting with the next launch.
  private var pendingListings: [Int: FileColumns] = [:]

  private func node(_ upload: Int) -> NodeID {
    let name = scenario.manifest.uploads[upload % scenario.manifest.uploads.count].name
    return NodeID(plan.nodes.firstIndex { $0.name == name } ?? 0)
  }

  private func listing(of node: NodeID) -> FileColumns {
    pendingListings[node.index] ?? machine.listing(of: node)
  }

  /// The name of the file with this number. Names have the same sort order as their numbers.
  private static func path(_ number: Int) -> String {
    "f\(number < 10 ? "00" : number < 100 ? "0" : "")\(number)"
  }

  private mutating func addFiles(_ sizes: [Int64], toUpload number: Int) {
    guard !sizes.isEmpty else { return }
    let node = node(number)
    var listing = machine.listing(of: node)
    for size in sizes { listing.append(path: Self.path(listing.count).utf8, size: size, modified: 0) }
    machine.list(listing, of: node)
  }

  private mutating func changeFile(_ number: Int) {
    let node = node(0)
    var listing = machine.listing(of: node)
    guard listing.count > 0 else { return }
    let index = scenario.chance(number ^ 0xC4A, listing.count)
    listing.modified[index] += 1
    machine.list(listing, of: node)
  }

  private mutating func run(_ effects: () -> [ServerEffect]) {
    let begin = machine.now
    referee.willLaunch(machine)
    machine.launch()
    look(effects())
    while !machine.hasEnded, !machine.isDead, referee.violation == nil {
      guard machine.step() else {
        referee.stuck()
        break
      }
      look(effects())
    }
    if referee.violation == nil { referee.launchEnded(machine) }
    simulated += begin.duration(to: machine.now)
    for (node, listing) in pendingListings { machine.list(listing, of: NodeID(node)) }
    pendingListings = [:]
    if let violation = referee.violation { history?.add(violation, at: machine.now) }
  }

  private mutating func look(_ effects: [ServerEffect]) {
    for traceEvent in machine.trace {
      if case .action(let action) = traceEvent { hash.combine(action) }
    }
    history?.see(machine)
    referee.see(machine, effects)
  }
}
