import FerryJournal
import FerryPlan
import FerryTransfer

/// The run loop: performs the scheduler's actions and feeds back what happened, on one thread.
///
/// It decides nothing. Requests are built and answers are read by `Exchanges`; facts go to the journal
/// through `Scribe`.
final class RunLoop {
  private(set) var scheduler: Scheduler
  private let clock: LaunchClock
  private let loop: TransferLoop
  private let mail: MailSlot
  private let exchanges: Exchanges
  private let scribe: Scribe
  /// Ends of attempts that never reached the loop.
  private var early: [AttemptResult] = []
  /// Attempts that wait for their file's digest.
  private var hashing: [UInt64: Attempt] = [:]
  /// Responses that the search thread reads, by attempt.
  private var searching: [UInt64: TransferOutcome] = [:]
  private let searchThread: SearchThread
  /// Responses that the search thread has read and the scheduler has not handled.
  private var searched: [(outcome: TransferOutcome, reading: ResponseReading)] = []
  /// A fault of ferry's own; the run stops.
  private(set) var fault: JournalError?
  private let accountant: Accountant
  /// The next of what has come into the sessions' inboxes.
  private let news: (Scheduler) throws(JournalError) -> Event?
  private let onProgress: (Scheduler, Traffic) -> Void
  /// The kind of network that leases are of.
  private var leased: DeviceConditions.Network
  private var lastCount: Instant

  init(
    scheduler: Scheduler, clock: LaunchClock, loop: TransferLoop, mail: MailSlot, exchanges: Exchanges,
    scribe: Scribe, accountant: Accountant, search: SearchThread,
    news: @escaping (Scheduler) throws(JournalError) -> Event?,
    onProgress: @escaping (Scheduler, Traffic) -> Void
  ) {
    self.accountant = accountant
    self.news = news
    leased = scheduler.conditions.network
    lastCount = clock.now
    self.scheduler = scheduler
    self.clock = clock
    self.loop = loop
    self.mail = mail
    searchThread = search
    self.exchanges = exchanges
    self.scribe = scribe
    self.onProgress = onProgress
  }

  /// Runs to the scheduler's end, or to a fault.
  func run() {
    launch()
    while !scheduler.hasEnded, fault == nil {
      let outcomes = loop.turn(timeout: timeout)
      for letter in mail.take() { read(letter) }
      startHashed()
      var results = early
      early = []
      let now = clock.now
      for (outcome, reading) in searched {
        results.append(exchanges.result(of: outcome, reading, at: now, scheduler))
      }
      searched = []
      for outcome in outcomes {
        if let search = exchanges.search(of: outcome) {
          searching[outcome.id] = outcome
          searchThread.read(outcome.id, search)
        } else {
          results.append(exchanges.result(of: outcome, at: now, scheduler))
        }
      }
      count(at: now)
      handle(results.isEmpty ? .timer : .finished(results))
      onProgress(scheduler, loop.progress)
    }
  }

  /// Begins, unless a signal came while files were listed.
  private func launch() {
    let letters = mail.take()
    for letter in letters where letter.isStop { read(letter) }
    if !scheduler.isStopping { handle(.launched) }
    for letter in letters where !letter.isStop { read(letter) }
  }

  private var timeout: Duration? {
    if !early.isEmpty || scheduler.hasEnded { return .zero }
    let wait = scheduler.nextWakeup.map { max(.zero, clock.now.duration(to: $0)) }
    // What a long transfer moves is written down on the way: a kill takes no more with it.
    return loop.inFlight > 0 ? min(wait ?? Self.countInterval, Self.countInterval) : wait
  }

  /// From one look at the sockets to the next, where no budget asks for more.
  private static let countInterval = Duration.seconds(10)

  /// Tells the scheduler and the ledger what the sockets have carried.
  private func count(at now: Instant) {
    guard scheduler.hasBudget || lastCount.duration(to: now) >= Self.countInterval else { return }
    lastCount = now
    let bytes = accountant.moved(total: loop.socketBytes.total, on: scheduler.conditions.network)
    if bytes > 0, scheduler.hasBudget { handle(.moved(bytes)) }
  }

  private func read(_ letter: Mail) {
    switch letter {
    case .journal(.synced(let sequence)): handle(.synced(through: scribe.record(syncedBy: sequence)))
    case .journal(.failed(let error)): fault = error
    case .stop(let cause): handle(.stop(cause))
    case .hangUp: handle(.hangUp)
    case .leased(let lease, let request): handle(.leased(lease, for: request))
    case .conditions(let conditions):
      accountant.settle(total: loop.socketBytes.total, on: scheduler.conditions.network)
      handle(.conditions(conditions))
    case .inbox:
      do throws(JournalError) {
        while let event = try news(scheduler) { handle(event) }
      } catch {
        fault = error
      }
    case .searched(let id, let reading):
      // A search that was cancelled has its result already.
      guard let outcome = searching.removeValue(forKey: id) else { return }
      searched.append((outcome, reading))
    }
  }

  private func handle(_ event: Event) {
    for action in scheduler.handle(event, at: clock.now) where fault == nil { perform(action) }
    if scheduler.isStopping { giveBackHashing() }
  }

  /// A stop starts nothing more: what waited for its file's digest was not sent.
  private func giveBackHashing() {
    for id in hashing.keys.sorted() { giveBack(id) }
    hashing = [:]
  }

  private func giveBack(_ id: UInt64) {
    early.append(
      .init(id: id, answer: .failure(.init(.cancelled, "cancelled", mayHaveReachedServer: false))))
  }

  /// Ends an attempt whose response is being searched; the search's result will be dropped.
  private func giveUp(_ outcome: TransferOutcome) {
    var outcome = outcome
    outcome.result = .failure(.init(.cancelled, "cancelled", mayHaveReachedServer: true))
    early.append(exchanges.result(of: outcome, at: clock.now, scheduler))
  }

  private func perform(_ action: Action) {
    switch action {
    case .start(let attempt): start(attempt)
    case .cancel(let id):
      if hashing.removeValue(forKey: id) != nil {
        giveBack(id)
      } else if let outcome = searching.removeValue(forKey: id) {
        giveUp(outcome)
      } else {
        loop.cancel(id)
      }
    case .record(let entries):
      do throws(JournalError) {
        try scribe.write(entries, scheduler: scheduler, exchanges: exchanges)
      } catch {
        fault = error
      }
    case .sync:
      do throws(JournalError) { try scribe.sync() } catch { fault = error }
    case .lease(let request):
      leased = request.network
      accountant.lease(request)
    case .releaseLeases:
      accountant.settle(total: loop.socketBytes.total, on: leased)
      accountant.release(leased)
    case .end: break
    }
  }

  private func start(_ attempt: Attempt) {
    do throws(TransportFailure) {
      if let source = try exchanges.fileToHash(before: attempt, scheduler) {
        hashing[attempt.id] = attempt
        loop.digest(id: attempt.id, source: source)
        return
      }
      loop.start(try exchanges.request(for: attempt, scheduler, at: clock.now))
    } catch {
      exchanges.forget(attempt.id)
      early.append(.init(id: attempt.id, answer: .failure(error)))
    }
  }

  private func startHashed() {
    for digest in loop.takeDigests() {
      guard let attempt = hashing.removeValue(forKey: digest.id) else { continue }
      switch digest.result {
      case .success(let sha256):
        exchanges.keep(sha256: sha256, of: attempt.place)
        start(attempt)
      case .failure(let failure): early.append(.init(id: attempt.id, answer: .failure(failure)))
      }
    }
  }

  /// A write was lost after the loop had ended.
  func fail(_ error: JournalError) { fault = fault ?? error }
}
