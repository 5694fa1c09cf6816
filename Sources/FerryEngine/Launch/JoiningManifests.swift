import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer

/// Lets manifests join a run: files of a manifest that is not part of the run were submitted to one of the run's
/// sessions.
///
/// Only these files are sent. The manifest's uploads share the run's priorities, connections and budgets. The
/// manifest's other nodes, and the rest of its round, remain for its next run.
final class JoiningManifests {
  /// The jobs of the run so far, and the rounds of their manifests.
  private(set) var jobs: Jobs
  private(set) var rounds: [Int64]
  private var secrets: [[String: SensitiveValue]]
  private var connections: [SessionConnections]
  private var listers: [Int: FileLister]
  private var destinations: [Int: PostDeliveryWorker.Destination]
  private let launch: Launch
  private let run: Launch.Run
  private let history: RunHistory
  private let journals: SessionJournals
  /// The index of each session's journal in the writer.
  private let writerSessions: [Int?]
  private let captures: CaptureStore
  private let worker: PostDeliveryWorker
  private let commands: RunCommands
  /// The journal rows of the nodes of the manifests that have joined, in the plan's order.
  private(set) var rows: [NodeRow?] = []

  /// The reason why a manifest cannot join.
  struct Refusal: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    /// Uses the first line of the error, without its remedy.
    init(_ error: any Error) {
      reason = "\(error)".split(separator: "\n", maxSplits: 1).first.map(String.init) ?? "\(error)"
    }
  }

  init(
    _ launch: Launch, _ run: Launch.Run, _ history: RunHistory, _ journals: SessionJournals,
    listers: [Int: FileLister], destinations: [Int: PostDeliveryWorker.Destination], writerSessions: [Int?],
    captures: CaptureStore, worker: PostDeliveryWorker, commands: RunCommands
  ) {
    self.commands = commands
    (self.launch, self.run, self.history, self.journals) = (launch, run, history, journals)
    (self.listers, self.destinations, self.writerSessions) = (listers, destinations, writerSessions)
    (self.captures, self.worker) = (captures, worker)
    (jobs, rounds, secrets, connections) = (launch.jobs, run.rounds, run.secrets, run.connections)
  }

  /// Lets the manifest of a note join.
  ///
  /// - Returns: the manifest, and the listers of its uploads by node.
  /// - Throws: `Refusal` if the manifest cannot join; `JournalError` if a journal or the history cannot be
  ///   used.
  func join(
    for note: Note, _ launchState: inout LaunchState
  ) throws -> (manifest: JoiningManifest, listers: [Int: FileLister]) {
    let (job, all) = try combined(with: note)
    let first = jobs.plan.nodes.count
    let added = first..<all.plan.nodes.count
    guard let wanted = all.plan.upload(of: note) else {
      throw Refusal("its manifest has no such upload in this session")
    }
    if let obstacle = obstacle(to: wanted, in: all.plan) { throw Refusal(obstacle) }
    let nodes = Set(
      added.filter { all.plan.nodes[$0].kind == .upload && obstacle(to: $0, in: all.plan) == nil })
    let (own, options, folders) = try prepared(job, nodes, first)
    let now = launch.clock.now
    let used = try journals.lastRound(of: job.plan.manifest)
    let round = try history.openRound(manifest: job.plan.manifest, used: used, at: now).number
    try history.add(.init(manifest: job.plan.manifest, number: round), toRun: run.id)

    let rows = try self.rows(of: all.plan, added, nodes)
    launchState.rows += rows
    self.rows += rows
    launchState.nextRows += Array(repeating: 1, count: all.plan.sessions.count - launchState.nextRows.count)
    (jobs, secrets) = (all, secrets + [own])
    connections.append(options)
    rounds.append(round)
    listers.merge(folders) { $1 }
    let places = zip(added, rows).map { node, row -> (journal: Int, row: Int64)? in
      guard let row, let journal = writerSessions[all.plan.nodes[node].session.index] else { return nil }
      return (journal, row.id)
    }
    let more = Launch.destinations(all.plan, added, places, folders)
    destinations.merge(more) { $1 }
    worker.add(more)
    commands.join(all)
    captures.join(all.plan, secrets: [own], filters: all.secretFilters)
    let steps = PreparedSteps(all, secrets: secrets, connections: connections)
    return (
      JoiningManifest(
        plan: all.plan,
        starts: added.map {
          all.plan.nodes[$0].kind == .token ? .open : nodes.contains($0) ? .submissions : .notSelected
        },
        rounds: rounds, places: places,
        allocatedBefore: Set(zip(added, rows).compactMap { $1?.countingPoint == nil ? nil : $0 }),
        requests: RequestFactory(
          all, steps: steps, captures: captures, listers: listers, rounds: rounds,
          random: { .random(in: .min ... .max) }),
        responses: ResponseInterpreter(
          all.plan, steps: steps, captures: captures,
          rootIdentities: destinations.compactMapValues(\.delivery.root))),
      folders
    )
  }

  /// The note's manifest in its current version, and the run's jobs combined with it.
  private func combined(with note: Note) throws -> (Job, Jobs) {
    guard let manifest = note.manifest else { throw Refusal("its manifest is unknown") }
    switch try KnownJobs(history: history, environment: launch.environment).find(manifest) {
    case .unreadable(let problem): throw Refusal(problem)
    case .job(let job):
      do {
        return (job, try Jobs(jobs.all + [job]))
      } catch {
        throw Refusal(error)
      }
    }
  }

  /// The reason why the run cannot send files that were submitted to another manifest's upload; `nil` if it can send
  /// them.
  private func obstacle(to node: Int, in plan: Plan) -> String? {
    let node = plan.nodes[node]
    guard case .upload(let work) = node.work else { return "it is not an upload" }
    let held = launch.jobs.plan.sessions.count
    guard node.session.index < held, writerSessions[node.session.index] != nil else {
      return "this run does not hold its session"
    }
    if !node.needs.isEmpty {
      return "it needs \(node.needs.map { plan.nodes[$0.index].name }.joined(separator: ", "))"
    }
    if work.abandon != nil { return "it releases upload IDs ('abandon')" }
    let tokens = node.steps.compactMap(\.token).map { plan.nodes[$0.index] }
    if tokens.contains(where: { !$0.needs.isEmpty }) { return "its token needs requests" }
    let sessions = ([node] + tokens).flatMap { $0.steps.map(\.session.index) }
    // The run does not watch the conditions of the sessions that this manifest adds.
    let waiting = sessions.first { $0 >= jobs.plan.sessions.count && plan.sessions[$0].asksForConditions }
    return waiting.map { "its session \(plan.sessions[$0].identifier) waits for conditions" }
  }

  /// The secrets and connection options of a manifest, and the listers of its uploads, by node of the combined plan.
  /// The listers' roots are open.
  private func prepared(
    _ job: Job, _ nodes: Set<Int>, _ first: Int
  ) throws -> ([String: SensitiveValue], SessionConnections, [Int: FileLister]) {
    do {
      var secrets = try SecretValues.load(
        job.manifest, folder: job.folder, environment: launch.environment)
      var connections = try ConnectionLoader.load(
        job, secrets: secrets, environment: launch.environment, wallTime: { LaunchClock.wallTime })
      if let bandwidth = run.bandwidth { connections.share(bandwidth) }
      secrets.merge(connections.passwords) { $1 }
      let all = try job.listers(
        environment: launch.environment, state: launch.state, files: launch.options.files)
      var folders: [Int: FileLister] = [:]
      for node in nodes {
        guard var lister = all[node - first] else { continue }
        lister.isStopped = run.isStopped
        _ = try lister.folder()
        folders[node] = lister
      }
      return (secrets, connections, folders)
    } catch {
      throw Refusal(error)
    }
  }

  /// The journal rows of the nodes that join the run.
  private func rows(of plan: Plan, _ added: Range<Int>, _ nodes: Set<Int>) throws(JournalError) -> [NodeRow?]
  {
    var rows: [NodeRow?] = []
    for index in added {
      let node = plan.nodes[index]
      guard nodes.contains(index), case .upload(let work) = node.work else {
        rows.append(nil)
        continue
      }
      rows.append(
        try journals.all[node.session.index]?.node(
          manifest: plan.manifests[node.manifest.index], name: node.name, kind: .upload,
          origin: work.first.origin?.description ?? ""))
    }
    return rows
  }
}
