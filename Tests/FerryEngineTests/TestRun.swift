import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// The parts of a run that build requests and interpret responses, with a real manifest, folder, journal and scheduler,
/// but without a network. The test takes the place of the server.
final class TestRun {
  static let start = Instant(nanoseconds: 1_795_348_800 * 1_000_000_000)

  let folder: TestFolder
  let job: Job
  let journals: SessionJournals
  let listers: [Int: FileLister]
  var launchState: LaunchState
  let captures: CaptureStore
  let steps: PreparedSteps
  var requests: RequestFactory
  let responses: ResponseInterpreter
  var fetches: FetchCache
  var scheduler: Scheduler
  /// The scheduler before its launch.
  let unstarted: Scheduler
  private(set) var entries: [JournalEntry] = []
  /// The attempts that the scheduler has started and that have not ended yet.
  private(set) var started: [Attempt] = []

  /// - Parameters:
  ///   - nodes: the manifest's sections below its `sessions`, which contain `s`.
  ///   - files: paths below `files/`.
  ///   - size: the size of each file, in bytes.
  ///   - list: the content of `list.txt`.
  init(
    _ nodes: String, files: [String] = [], size: Int = 1, list: String? = nil, secret: String? = nil
  ) throws {
    folder = try TestFolder()
    if let list { try Data(list.utf8).write(to: URL(fileURLWithPath: folder.path + "/list.txt")) }
    for name in files { folder.file("files/" + name, size: size) }
    let path = folder.path + "/m.yaml"
    let head = "version: 1\nname: m\nsessions: { s: { kind: background, identifier: s } }\n"
    let secrets = secret == nil ? "" : "secrets: { key: { env: KEY } }\n"
    try Data((head + secrets + nodes).utf8).write(to: URL(fileURLWithPath: path))
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    job = try #require(reading.job, "\(reading.diagnostics)")
    let jobs = Jobs(job)
    var listers: [Int: FileLister] = [:]
    for (index, node) in job.plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      listers[index] = try FileLister(work.files, baseFolder: folder.path, home: nil)
    }
    self.listers = listers
    journals = SessionJournals([try .ephemeral(session: "s")])
    launchState = try LaunchState(
      job, journals: journals, round: 1, selection: Selection([], in: job.plan), listers: listers,
      at: Self.start)
    let secretValues = [secret.map { ["key": SensitiveValue($0)] } ?? [:]]
    captures = CaptureStore(
      job.plan, runID: "run", secrets: secretValues, filters: job.plan.secretFilters, launchState: launchState
    )
    steps = PreparedSteps(
      jobs, secrets: secretValues, connections: [SessionConnections()])
    requests = RequestFactory(
      jobs, steps: steps, captures: captures, listers: listers, rounds: [1], random: { 7 })
    responses = ResponseInterpreter(job.plan, steps: steps, captures: captures, rootIdentities: [:])
    fetches = FetchCache(launchState.fetches)
    scheduler = Scheduler(plan: job.plan, starts: launchState.starts, options: LaunchOptions(seed: 1))
    unstarted = scheduler
    handle(.launched)
  }

  func handle(_ event: Event) {
    var events = [event]
    while !events.isEmpty {
      for action in scheduler.handle(events.removeFirst(), at: Self.start) {
        switch action {
        case .start(let attempt): started.append(attempt)
        case .record(let entries):
          self.entries += entries
          recordKeys(of: entries)
          recorded += 1
          // Simulates a disk without latency.
          events.append(.synced(through: recorded))
        case .cancel, .sync, .lease, .keepLeases, .windowExpired, .end, .list: break
        }
      }
    }
  }

  /// Records the keys of commits, as the journal's encoder does.
  private func recordKeys(of entries: [JournalEntry]) {
    let keys = CommitKeys(job.plan, rounds: [1])
    for case .intentRecorded(let ref, .commit) in entries {
      captures.keep(commitKey: keys.key(of: ref, captures[ref], scheduler), of: ref)
    }
  }

  private var recorded: UInt64 = 0

  /// The attempt at this step that has started and has not ended yet.
  func attempt(_ step: Step.Kind) throws -> Attempt {
    try #require(started.first { $0.step == step }, "\(started.map(\.step))")
  }

  func request(_ step: Step.Kind) throws -> TransferRequest {
    try requests.request(for: try attempt(step), scheduler, &fetches, at: Self.start)
  }

  /// Responds to the attempt as the server, and lets the scheduler continue.
  @discardableResult
  func respond(
    to step: Step.Kind, _ status: Int = 200, headers: [(String, String)] = [], body: String = "",
    sha256: [UInt8]? = nil
  ) throws -> AttemptResult {
    let url = try request(step).url
    let response = TransferResponse(
      status: status, headers: headers.map { (name: $0.0, value: $0.1) }, body: Array(body.utf8), url: url,
      sha256: sha256)
    return try finish(step, .success(response))
  }

  @discardableResult
  func finish(_ step: Step.Kind, _ result: Result<TransferResponse, TransportFailure>) throws -> AttemptResult
  {
    let attempt = try attempt(step)
    let outcome = TransferOutcome(
      id: attempt.id, result: result, traffic: Traffic(), duration: .zero,
      url: (try? result.get())?.url)  // A failure has no URL here.
    let found = responses.result(of: outcome, attempt, nil, &fetches, at: Self.start, scheduler)
    started.removeAll { $0.id == attempt.id }
    handle(.finished([found]))
    return found
  }
}

extension AttemptResult {
  var response: Response? {
    switch answer {
    case .response(let response): response
    case .failure: nil
    }
  }

  var failure: TransportFailure? {
    switch answer {
    case .response: nil
    case .failure(let failure): failure
    }
  }
}
