import FerryDigest
import FerryJournal
import FerryPlan
import FerryProcess
import FerryTransfer

/// The run loop: performs the scheduler's actions and returns their results to it, on one thread.
///
/// The run loop does not make decisions. `RequestFactory` builds requests, `ResponseInterpreter` reads responses, and
/// `JournalEncoder` writes the scheduler's entries to the journal.
final class RunLoop {
  /// The scheduler before and after the run; `nil` during the run. `run` passes it to each function instead of keeping it
  /// in a property, because each use of a property would copy it.
  private var idle: Scheduler?
  /// The scheduler before and after the run.
  var scheduler: Scheduler {
    guard let idle else { preconditionFailure("the scheduler belongs to the run in progress") }
    return idle
  }
  private let clock: LaunchClock
  private let loop: any TransferPerforming
  private let messages: Mailbox<RunMessage>
  private var requests: RequestFactory
  private var responses: ResponseInterpreter
  private let captures: CaptureStore
  private var fetches: FetchCache
  /// Attempts whose requests are in the transfer loop or whose responses are being read.
  private var attempts: [UInt64: Attempt] = [:]
  private let journalEncoder: JournalEncoder
  /// Results of attempts that did not reach the transfer loop, or whose search was canceled.
  private var early: [AttemptResult] = []
  /// Attempts that wait for the digest of their file, or of the part of it that they send.
  private var hashing = HashingAttempts()
  /// Responses that the search thread is reading, by attempt ID.
  private var searching: [UInt64: TransferOutcome] = [:]
  private let searchThread: SearchThread
  /// Responses that the search thread has read but the scheduler has not handled yet.
  private var searched: [EndedRequest] = []
  /// A fault of ferry itself, which stops the run.
  private(set) var fault: JournalError?
  private let usageRecorder: UsageRecorder
  var observation: RunObservation
  /// Returns the next event from the sessions' inboxes, or the next manifest that joins because of a note in an inbox.
  private let news: (Scheduler, RequestFactory) throws(JournalError) -> InboxNews?
  /// Reads the list of an upload that opens; returns `nil` if the run is stopped before the list has been read.
  private let list: (NodeID, Scheduler) throws(JournalError) -> UploadList?
  /// Lists that were read but that the scheduler has not handled yet.
  private var listed: [(NodeID, UploadList)] = []
  /// The commands of the manifests; `nil` if the run must not start any.
  private let commands: RunCommands?
  /// The reason why this process no longer owns its journals; `nil` while it does.
  var leaseLoss: () -> JournalError? = { nil }
  /// The kind of network of the current leases.
  private var leased: DeviceConditions.Network
  private var lastCount: Instant

  init(
    scheduler: Scheduler, clock: LaunchClock, startedAt: Instant? = nil, loop: any TransferPerforming,
    messages: Mailbox<RunMessage>,
    requests: RequestFactory,
    responses: ResponseInterpreter, captures: CaptureStore, fetches: FetchCache,
    journalEncoder: JournalEncoder,
    usageRecorder: UsageRecorder, search: SearchThread, commands: RunCommands? = nil,
    news: @escaping (Scheduler, RequestFactory) throws(JournalError) -> InboxNews?,
    list: @escaping (NodeID, Scheduler) throws(JournalError) -> UploadList? = { _, _ in nil },
    onProgress: @escaping (Scheduler, () -> Traffic) -> Void
  ) {
    self.list = list
    self.commands = commands
    self.usageRecorder = usageRecorder
    self.news = news
    leased = scheduler.conditions.network
    lastCount = clock.now
    idle = scheduler
    self.clock = clock
    observation = RunObservation(
      startedAt: startedAt ?? clock.now, keepsDigests: scheduler.reportsEveryItem, onProgress: onProgress)
    self.loop = loop
    self.messages = messages
    searchThread = search
    self.requests = requests
    self.responses = responses
    self.captures = captures
    self.fetches = fetches
    self.journalEncoder = journalEncoder
  }

  /// Runs until the scheduler ends or a fault occurs.
  func run() {
    var scheduler = self.scheduler
    idle = nil
    run(&scheduler)
    idle = scheduler
  }

  private func run(_ scheduler: inout Scheduler) {
    launch(&scheduler)
    startCommands(scheduler)
    defer { observation.flushEvents() }
    while !scheduler.hasEnded, fault == nil {
      observation.flushEvents()
      let outcomes = loop.turn(timeout: timeout(scheduler))
      // Journal the new refresh tokens regardless of how the responses are interpreted, because the server may have
      // invalidated the old ones.
      if !captures.refreshes.isEmpty {
        for outcome in outcomes {
          if let attempt = attempts[outcome.id] { responses.keepRefreshToken(in: outcome, attempt) }
        }
      }
      if let loss = leaseLoss() {
        fault = loss
        for outcome in outcomes { attempts[outcome.id] = nil }
        break
      }
      // Handle interim responses before outcomes, because their requests may have ended in the same turn.
      for interim in loop.takeInterim() { take(interim, &scheduler) }
      for message in messages.take() { read(message, &scheduler) }
      startHashed(scheduler)
      var ended = searched
      searched = []
      for outcome in outcomes {
        if let attempt = attempts[outcome.id], let search = responses.search(of: outcome, attempt) {
          searching[outcome.id] = outcome
          searchThread.read(outcome.id, search)
        } else {
          ended.append(EndedRequest(outcome: outcome))
        }
      }
      // First, because an assignment is a separate event.
      for request in ended { takeResource(in: request.outcome, &scheduler) }
      let now = clock.now
      let results = early + results(of: ended, at: now, scheduler)
      early = []
      count(at: now, &scheduler)
      handle(results.isEmpty ? .timer : .finished(results), &scheduler)
      startCommands(scheduler)
      observation.turn(scheduler, loop, at: clock.now)
    }
    if fault != nil { cancelRequests() }
  }

  /// Cancels all requests and waits for their ends. After a fault, their outcomes cannot be recorded, and the requests of
  /// `on_end`, which may have the same IDs, use the same transfer loop.
  private func cancelRequests() {
    _ = hashing.cancelAll(on: loop)
    for id in searching.keys { attempts[id] = nil }
    for request in searched { attempts[request.outcome.id] = nil }
    // The server may have replaced a refresh token, and only the response contains the new one.
    for id in attempts.keys where captures.refreshes[id] == nil { loop.cancel(id) }
    let end = clock.now.advanced(by: LaunchOptions.defaultGrace)
    while !attempts.isEmpty {
      let remaining = clock.now.duration(to: end)
      if remaining <= .zero || messages.hasStop { for id in attempts.keys { loop.cancel(id) } }
      // Messages are not taken here, and while one waits, the next one, such as a signal, does not wake the loop.
      for outcome in loop.turn(timeout: .milliseconds(100)) {
        guard let attempt = attempts.removeValue(forKey: outcome.id) else { continue }
        if !captures.refreshes.isEmpty { responses.keepRefreshToken(in: outcome, attempt) }
      }
    }
    _ = loop.takeDigests()
    _ = loop.takeInterim()
  }

  /// The progress of the run so far.
  var timeline: RunTimeline { observation.timeline(of: scheduler, at: clock.now) }

  /// Records the upload resource that a server assigns while it receives a file.
  private func take(_ interim: InterimResponse, _ scheduler: inout Scheduler) {
    guard let attempt = attempts[interim.id] else { return }
    take(resourceIn: interim.response, of: attempt, &scheduler)
  }

  private func takeResource(in outcome: TransferOutcome, _ scheduler: inout Scheduler) {
    guard case .success(let response) = outcome.result, let attempt = attempts[outcome.id] else { return }
    take(resourceIn: response, of: attempt, &scheduler)
  }

  private func take(
    resourceIn response: TransferResponse, of attempt: Attempt, _ scheduler: inout Scheduler
  ) {
    guard responses.mayAssignResource(to: attempt) else { return }
    guard let assignment = responses.assignment(by: response, to: attempt, at: clock.now, scheduler) else {
      return
    }
    handle(.resourceAssigned(attempt.id, assignment), &scheduler)
  }

  /// Converts the outcomes of a turn.
  ///
  /// - Parameter scheduler: its state before these outcomes.
  private func results(
    of requests: [EndedRequest], at now: Instant, _ scheduler: Scheduler
  ) -> [AttemptResult] {
    requests.map { result(of: $0.outcome, $0.reading, at: now, scheduler) }
  }

  private func result(
    of outcome: TransferOutcome, _ reading: ResponseReading?, at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult {
    guard let attempt = attempts.removeValue(forKey: outcome.id) else {
      preconditionFailure("an outcome belongs to a request that was started")
    }
    let result = responses.result(of: outcome, attempt, reading, &fetches, at: now, scheduler)
    // The result is not used if the refresh token in it is not on disk.
    fault = fault ?? captures.journalFault
    observation.onEvent?(scheduler.event(attempt, result, at: now))
    if let onTrace = observation.onTrace {
      responses.trace(of: outcome, attempt, at: now, scheduler).forEach(onTrace)
    }
    return result
  }

  /// Starts the scheduler, unless a signal arrived while files were being listed.
  private func launch(_ scheduler: inout Scheduler) {
    let arrived = messages.take()
    for message in arrived where message.isStop { read(message, &scheduler) }
    if !scheduler.isStopping { handle(.launched, &scheduler) }
    for message in arrived where !message.isStop { read(message, &scheduler) }
  }

  private func timeout(_ scheduler: Scheduler) -> Duration? {
    if !early.isEmpty || scheduler.hasEnded { return .zero }
    let wait = scheduler.nextWakeup.map { max(.zero, clock.now.duration(to: $0)) }
    // The bytes of a long transfer are recorded while it runs, so that a kill loses at most one interval.
    let longest = observation.longestWait(busy: loop.inFlight > 0 ? Self.countInterval : nil)
    return longest.map { min(wait ?? $0, $0) } ?? wait
  }

  /// The interval between two counts of the sockets' bytes, if no budget needs more frequent ones.
  private static let countInterval = Duration.seconds(10)

  /// Reports the bytes transferred on the sockets to the scheduler and to the ledger.
  private func count(at now: Instant, _ scheduler: inout Scheduler) {
    guard scheduler.hasBudget || lastCount.duration(to: now) >= Self.countInterval else { return }
    lastCount = now
    let bytes = usageRecorder.moved(total: loop.transferredBytes, on: scheduler.conditions.network)
    if bytes > 0, scheduler.hasBudget { handle(.moved(bytes), &scheduler) }
  }

  private func read(_ message: RunMessage, _ scheduler: inout Scheduler) {
    switch message {
    case .journal(.synced(let sequence)):
      let record = journalEncoder.record(syncedBy: sequence)
      commands?.synced(through: record)
      handle(.synced(through: record), &scheduler)
    case .childEnded: commands?.takeEndings()
    case .journal(.failed(let error)): fault = error
    case .stop(let cause): handle(.stop(cause), &scheduler)
    case .hangUp: handle(.hangUp, &scheduler)
    case .uploadIDsInUse(let orphans): handle(.uploadIDsInUse(orphans), &scheduler)
    case .leased(let lease, let request): handle(.leased(lease, for: request), &scheduler)
    case .conditions(let conditions):
      usageRecorder.settle(total: loop.transferredBytes, on: scheduler.conditions.network)
      handle(.conditions(conditions), &scheduler)
    case .inbox:
      do throws(JournalError) {
        while let news = try news(scheduler, requests) {
          switch news {
          case .event(let event): handle(event, &scheduler)
          case .joining(let manifest): join(manifest, &scheduler)
          }
        }
      } catch {
        fault = error
      }
    case .filesListed(let node):
      perform(.list(node), scheduler)
      handleListed(&scheduler)
    case .searched(let id, let reading):
      // A canceled search already has its result.
      guard let outcome = searching.removeValue(forKey: id) else { return }
      searched.append(EndedRequest(outcome: outcome, reading: reading))
    }
  }

  /// Starts `on_events` for the batches that have completed. While the launch is ending, the batches wait for
  /// the end, when the report exists.
  private func startCommands(_ scheduler: Scheduler) {
    commands?.windowEndsAt = scheduler.windowEndsAt
    guard let commands, !scheduler.hasEnded, !scheduler.isStopping, fault == nil else { return }
    do throws(JournalError) {
      for session in commands.startDue() { try journalEncoder.eventsStarted(session) }
    } catch {
      fault = error
    }
  }

  private func join(_ manifest: JoiningManifest, _ scheduler: inout Scheduler) {
    scheduler.join(manifest.plan, starts: manifest.starts)
    journalEncoder.join(manifest, allocatedBefore: manifest.allocatedBefore)
    (requests, responses) = (manifest.requests, manifest.responses)
  }

  private func handle(_ event: Event, _ scheduler: inout Scheduler) {
    let actions = scheduler.handle(event, at: clock.now)
    perform(actions, scheduler)
    if scheduler.isStopping { giveBackHashing() }
    handleListed(&scheduler)
  }

  private func handleListed(_ scheduler: inout Scheduler) {
    while fault == nil, !listed.isEmpty {
      let (node, list) = listed.removeFirst()
      handle(.listed(node, list), &scheduler)
    }
  }

  /// Cancels the attempts that wait for their file's digest. They were not sent, because a stopped run does
  /// not start requests.
  private func giveBackHashing() {
    for id in hashing.cancelAll(on: loop) { giveBack(id) }
  }

  private func giveBack(_ id: UInt64) {
    early.append(
      .init(id: id, answer: .failure(.init(.cancelled, "canceled", mayHaveReachedServer: false))))
  }

  /// Cancels an attempt whose response is being searched. The result of the search will be discarded.
  private func giveUp(_ outcome: TransferOutcome, _ scheduler: Scheduler) {
    outcome.result = .failure(.init(.cancelled, "canceled", mayHaveReachedServer: true))
    early.append(result(of: outcome, nil, at: clock.now, scheduler))
  }

  /// Performs the actions of one event.
  ///
  /// - Parameter scheduler: the scheduler after the event.
  private func perform(_ actions: [Action], _ scheduler: Scheduler) {
    for action in actions where fault == nil { perform(action, scheduler) }
  }

  private func perform(_ action: Action, _ scheduler: Scheduler) {
    switch action {
    case .start(let attempt):
      fault = leaseLoss()
      if fault == nil { start(attempt, scheduler) }
    case .cancel(let id):
      if hashing.cancel(id, on: loop) {
        giveBack(id)
      } else if let outcome = searching.removeValue(forKey: id) {
        giveUp(outcome, scheduler)
      } else {
        loop.cancel(id)
      }
    case .record(let entries):
      observation.take(entries, scheduler, captures, at: clock.now)
      do throws(JournalError) {
        try journalEncoder.write(entries, scheduler: scheduler, captures: captures, fetches: fetches)
      } catch {
        fault = error
      }
      for case .batchCompleted(let session) in entries {
        commands?.batchCompleted(session, in: journalEncoder.lastRecord)
      }
      // The message is posted before the record is synced, and therefore before the release can begin.
      let shared = journalEncoder.takeSharedUploadIDs()
      if !shared.isEmpty { messages.post(.uploadIDsInUse(shared)) }
    case .sync:
      do throws(JournalError) { try journalEncoder.sync() } catch { fault = error }
    case .list(let node):
      do throws(JournalError) {
        if let list = try list(node, scheduler) { listed.append((node, list)) }
      } catch {
        fault = error
      }
    case .lease(let request):
      leased = request.network
      usageRecorder.lease(request)
    case .keepLeases(let bytes): usageRecorder.keep(bytes, total: loop.transferredBytes, on: leased)
    case .windowExpired:
      commands?.windowEndsAt = scheduler.windowEndsAt
      commands?.startOnExpiry()
    case .end: break
    }
  }

  /// Starts an attempt. If its request contains digests that are not yet known, they are computed first.
  ///
  /// - Parameter digests: the known digests of the bytes that the attempt sends.
  private func start(_ attempt: Attempt, part digests: PartDigests = [:], _ scheduler: Scheduler) {
    let requests = requests
    do throws(TransportFailure) {
      if let source = try requests.fileToHash(before: attempt, scheduler) {
        return hashing.start(.init(attempt: attempt), source, on: loop, at: clock.now)
      }
      if let part = try requests.partToHash(before: attempt, knowing: digests, scheduler) {
        return hashing.start(
          .init(attempt: attempt, part: part.algorithm, known: digests), part.source, on: loop, at: clock.now)
      }
      if !digests.isEmpty, let listed = responses.listedPart(attempt, digests, scheduler) {
        return early.append(listed)
      }
      let request = try requests.request(for: attempt, scheduler, &fetches, at: clock.now, part: digests)
      attempts[attempt.id] = attempt
      loop.start(consume request)
    } catch {
      fault = fault ?? captures.journalFault
      early.append(.init(id: attempt.id, answer: .failure(error)))
    }
  }

  private func startHashed(_ scheduler: Scheduler) {
    for digest in loop.takeDigests() {
      guard let hashed = hashing.remove(digest.id) else { continue }
      let attempt = hashed.attempt
      switch digest.result {
      case .success(let bytes) where hashed.part != nil:
        start(attempt, part: hashed.known.merging([hashed.algorithm: bytes]) { $1 }, scheduler)
      case .success(let sha256):
        captures.keep(sha256: sha256, of: attempt.ref)
        start(attempt, scheduler)
      case .failure(let failure): early.append(.init(id: attempt.id, answer: .failure(failure)))
      }
    }
  }

  /// Records a signal that arrived after the loop had ended.
  func recordStop(_ cause: StopCause) { idle?.recordStop(cause, at: clock.now) }

  /// Records that a write was lost after the loop had ended.
  func fail(_ error: JournalError) { fault = fault ?? error }
}

/// A request that has ended.
private struct EndedRequest {
  var outcome: TransferOutcome
  /// What the search thread has read in the response; `nil` if it has not searched the response.
  var reading: ResponseReading?
}
