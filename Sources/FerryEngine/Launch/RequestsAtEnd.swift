import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import FerryReport
import FerryTransfer

/// `on_end`: the requests that are sent when the work of a run has ended.
///
/// They have a separate plan (`Manifest.atEnd`), which a second scheduler runs on the same connections, under the same
/// rules as all other requests. Only refresh tokens are journaled: if a run is killed before it sends the requests, no
/// later run sends them, and its report shows that their outcome is unknown.
struct RequestsAtEnd {
  /// How the work of the run ended.
  struct RunEnd {
    /// The values of `${run.…}`, by manifest.
    var values: [Bindings.RunValues]
    var conditions: DeviceConditions
    /// The time at which a signal or `--max-duration` stopped the work; `nil` if nothing did.
    var stoppedAt: Instant?
    /// Whether a second signal stopped the work. If so, no requests are sent.
    var isHurried: Bool
  }

  let jobs: Jobs
  let state: StateDirectory
  let version: String
  let clock: LaunchClock
  let run: Launch.Run
  let loop: TransferLoop
  let messages: Mailbox<RunMessage>

  /// Sends the requests; returns one record for each request of each manifest.
  ///
  /// - Parameter work: the values of the work that has ended. Its secrets are masked in messages about the requests.
  ///   `nil` if the work did not begin.
  func send(after end: RunEnd, of work: CaptureStore?) -> [RunRecord.OnEndRecord] {
    guard jobs.all.contains(where: { !$0.manifest.onEnd.isEmpty }) else { return [] }
    let now = clock.now
    let limits = zip(jobs.all, end.values).map { job, values in
      timeLimits(of: job.manifest.onEnd, values, end, at: now)
    }
    var sent: [[String: RunRecord.NodeRecord]] = jobs.manifests.map { _ in [:] }
    var problem: String?
    do {
      sent = try carryOut(limits, end, of: work, at: now)
    } catch {
      problem = EngineFault.describe(error)
    }
    return records(after: end) { record, manifest, declared in
      let name = declared.request.name.value
      let session = declared.request.session.value
      let longest = jobs.all[manifest].manifest.sessions.first { $0.name.value == session }?
        .timeoutForResource
      let limit = limits[manifest][name].map { min($0, longest ?? $0) }
      record.take(sent[manifest][name], within: limit, problem: problem)
    }
  }

  /// The records of the requests if the run is killed before they have ended. Empty if none of them are sent.
  func recordsIfKilled(after end: RunEnd) -> [RunRecord.OnEndRecord] {
    guard !end.isHurried else { return [] }
    return records(after: end) { record, _, _ in
      record.state = .ambiguous
      record.reason = .init(
        code: .stopped, message: "the run was killed before this request had ended; it may have been sent")
    }
  }

  /// One record for each request of each manifest.
  ///
  /// - Parameter outcome: records the outcome of a request whose `when` allows it.
  private func records(
    after end: RunEnd, _ outcome: (inout RunRecord.OnEndRecord, _ manifest: Int, OnEndRequest) -> Void
  ) -> [RunRecord.OnEndRecord] {
    jobs.manifests.flatMap { manifest in
      jobs.all[manifest].manifest.onEnd.map { declared in
        var record = RunRecord.OnEndRecord(
          manifest: jobs.all.count > 1 ? jobs.plan.manifests[manifest] : nil,
          name: declared.request.name.value, state: .skipped, required: declared.isRequired)
        if declared.request.when.allows(end.values[manifest].exitCode) {
          outcome(&record, manifest, declared)
        }
        return record
      }
    }
  }

  /// The time that remains for each request that is to be sent, by name.
  private func timeLimits(
    of requests: [OnEndRequest], _ values: Bindings.RunValues, _ end: RunEnd, at now: Instant
  ) -> [String: Duration] {
    var limits: [String: Duration] = [:]
    for declared in requests where declared.request.when.allows(values.exitCode) && !end.isHurried {
      let spent = end.stoppedAt.map { $0.duration(to: now) } ?? .zero
      if spent < declared.grace { limits[declared.request.name.value] = declared.grace - spent }
    }
    return limits
  }

  /// Returns the records of the requests, by manifest and name.
  private func carryOut(
    _ limits: [[String: Duration]], _ end: RunEnd, of work: CaptureStore?, at now: Instant
  ) throws -> [[String: RunRecord.NodeRecord]] {
    let jobs = try Jobs(
      zip(jobs.all, limits).map { job, limits in
        var job = job
        job.plan = Plan(job.manifest.atEnd(limits: limits))
        return job
      })
    let ledger = try jobs.ledger(in: state, writtenBy: version, at: now)
    // The usage has already been recorded, so closing the ledger cannot lose data.
    defer { try? ledger.close() }
    let usageRecorder = UsageRecorder(
      ledger, on: run.threads.ledger, messages: messages, clock: clock, after: loop.transferredBytes)
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    // Refresh tokens are synced when they are recorded.
    defer { try? history.close() }
    let longest = limits.flatMap(\.values).max() ?? .zero
    let runLoop = try runLoop(
      jobs, end, of: work, usageRecorder, history,
      options: LaunchOptions(
        conditions: end.conditions, deadline: now.advanced(by: longest), grace: .zero, launch: .foreground,
        zones: run.zones, seed: UInt64.random(in: .min ... .max)))
    runLoop.observation.onTrace = run.onTrace
    runLoop.observation.flushEvents = run.flushEvents
    forgetMessages()
    runLoop.run()
    try usageRecorder.finish(total: loop.transferredBytes, on: runLoop.scheduler.conditions.network)
    if let fault = runLoop.fault { throw fault }
    let all = runLoop.scheduler.nodeRecords
    var records: [[String: RunRecord.NodeRecord]] = jobs.manifests.map { _ in [:] }
    for (node, record) in zip(jobs.plan.nodes, all) where node.kind == .request {
      var record = record
      // A request without attempts may have waited for its token, so report the token's attempts.
      if record.attempts.isEmpty, let token = node.steps[0].token {
        record.attempts = all[token.index].attempts
      }
      records[node.manifest.index][node.name] = record
    }
    return records
  }

  /// Discards messages about the work that has ended, except messages that stop the run.
  private func forgetMessages() {
    for message in messages.take() where message.isStop { messages.post(message) }
  }

  private func runLoop(
    _ jobs: Jobs, _ end: RunEnd, of work: CaptureStore?, _ usageRecorder: UsageRecorder,
    _ history: RunHistory, options: LaunchOptions
  ) throws -> RunLoop {
    let launchState = try LaunchState(
      jobs, journals: SessionJournals(jobs.plan.sessions.map { _ in nil }), rounds: run.rounds,
      selection: Selection([], in: jobs.plan), listers: [:], at: clock.now)
    let steps = PreparedSteps(jobs, secrets: run.secrets, connections: run.connections)
    let captures = CaptureStore(
      jobs.plan, runID: run.id, secrets: run.secrets, filters: jobs.secretFilters, launchState: launchState,
      after: end.values, of: work)
    captures.refreshTokens = RefreshTokens(history: history, clock: clock)
    let writes = UnrecordedWrites(messages)
    return RunLoop(
      scheduler: Scheduler(plan: jobs.plan, starts: launchState.starts, options: options), clock: clock,
      loop: loop, messages: messages,
      requests: RequestFactory(
        jobs, steps: steps, captures: captures, listers: [:], rounds: run.rounds,
        random: { .random(in: .min ... .max) }),
      responses: ResponseInterpreter(jobs.plan, steps: steps, captures: captures, rootIdentities: [:]),
      captures: captures, fetches: FetchCache([:]),
      journalEncoder: JournalEncoder(
        plan: jobs.plan, rounds: run.rounds, writer: writes, sessions: jobs.plan.sessions.map { _ in nil },
        // Placeholders, because `UnrecordedWrites` does not store rows.
        places: jobs.plan.nodes.indices.map { (journal: 0, row: Int64($0)) }, orphans: [:], nextOrphans: [1],
        postDeliveryWorker: PostDeliveryWorker([:], on: run.threads.after, writer: writes, metrics: [:])),
      usageRecorder: usageRecorder, search: SearchThread(on: run.threads.search, messages: messages)
    ) { _, _ in
      nil
    } onProgress: { _, _ in
    }
  }
}

extension RunRecord.OnEndRecord {
  /// Records the outcome of the request.
  ///
  /// - Parameters:
  ///   - node: the request's record in its own plan; `nil` if the request was not sent.
  ///   - limit: the time available for the request; `nil` if no time remained.
  ///   - problem: the reason why none of the requests could be sent.
  fileprivate mutating func take(_ node: RunRecord.NodeRecord?, within limit: Duration?, problem: String?) {
    guard let limit else {
      (state, reason) = (
        .failed, .init(code: .stopped, message: "the run was stopped, and no time remained for this request")
      )
      return
    }
    guard let node else {
      (state, reason) = (.failed, .init(code: .waiting, message: problem ?? "it was not sent"))
      return
    }
    state = node.state == .waiting ? .failed : node.state
    reason = node.reason
    attempts = node.attempts
    if let code = reason?.code, [.maxDuration, .init(.resourceTimeout)].contains(code) {
      reason = attempts.last.map {
        .init(code: $0.code, status: $0.status, message: $0.message, detail: $0.detail)
      }
      let seconds = (limit.seconds * 10).rounded() / 10
      reason = .init(
        code: reason?.code ?? code, status: reason?.status,
        message: "the request did not succeed within \(seconds) s\(reason.map { ": \($0.message)" } ?? "")",
        detail: reason?.detail)
    }
  }

  /// The failure as a warning; `nil` if there is none.
  var warning: String? {
    guard isFailure else { return nil }
    let title = manifest.map { "\($0)/\(name)" } ?? name
    return "on_end \(title): \(state)" + (reason.map { ": \(ReasonText.text($0))" } ?? "")
  }
}
