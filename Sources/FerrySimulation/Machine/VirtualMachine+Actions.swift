import FerryManifest
import FerryPlan

/// Performs the scheduler's actions.
extension VirtualMachine {
  mutating func handle(_ event: Event) {
    guard !isDead else { return }
    counters.events += 1
    counters.eventsAtOnce += 1
    see(.event(event))
    let actions = scheduler.handle(event, at: now)
    if checksInvariants { for message in scheduler.checkInvariants() { see(.contradiction(message)) } }
    for action in actions {
      counters.actions += 1
      see(.action(action))
      perform(action)
      if fate?.diesAfterAction() == true { return die() }
    }
    if leaseDelay == .zero {
      while !answers.isEmpty, !isDead {
        let answer = answers.removeFirst()
        handle(.leased(answer.lease, for: answer.request))
      }
    }
    if recorded > written, writeDelay == .zero { write() }
  }

  /// Marks all records as written: they survive SIGKILL.
  mutating func write() {
    guard !isDead, recorded > written else { return }
    written = recorded
    fate?.journalWasWritten(journal)
  }

  private mutating func perform(_ action: Action) {
    switch action {
    case .start(let attempt): send(attempt)
    case .cancel(let id): cancel(id)
    case .record(let entries): record(entries)
    case .lease(let request):
      let lease = ledger.lease(request, at: now)
      see(.leased(lease))
      answers.append((now.advanced(by: leaseDelay), request, lease))
    case .keepLeases(let bytes): ledger.keep(bytes, at: now)
    case .windowExpired: break
    case .list(let node): portions.append((now.advanced(by: listingDelay), node))
    case .sync: if synced < recorded { syncAt = now.advanced(by: syncDuration) }
    case .end: hasEnded = true
    }
  }

  private mutating func record(_ entries: [JournalEntry]) {
    recorded += 1
    // Records are synced within 50 ms, and intents sooner because a request waits for them.
    var delay = Duration.milliseconds(50)
    for entry in entries {
      let ids = givenIDs
      journal.apply(entry, tables: tables, uploadID: { ids[$0] }, round: round)
      switch entry {
      case .intentRecorded: delay = .milliseconds(1)
      case .uploadIDAllocated(let ref, _): givenIDs[ref] = nil
      case .itemClosed(let ref, .done, _, let at):
        if case .fetch = plan.nodes[ref.node.index].work {
          journal.fetches[ref.node.index] = .init(
            at: at, interval: scheduler.fetchInterval(of: ref.node), document: StoredDocument())
        }
      case .itemsQueued, .intentWithdrawn, .transferAdvanced, .uploadIDUpdated, .fileTransferred,
        .uploadIDDiscarded,
        .itemClosed,
        .sessionResumed,
        .sessionInForeground,
        .batchCompleted, .uploadIDOrphaned,
        .orphanResolved, .orphanReleaseFailed, .fetchFailed, .nodeFailing:
        break
      }
    }
    syncAt = min(syncAt ?? .distantFuture, now.advanced(by: delay))
    if writeDelay > .zero { writeAt = min(writeAt ?? .distantFuture, now.advanced(by: writeDelay)) }
  }

  private mutating func send(_ attempt: Attempt) {
    let call = call(attempt)
    var reply = serve(call)
    if let limit = attempt.byteLimit { reply.cut(at: limit) }
    if let deadline = attempt.deadline { reply.cut(after: now.duration(to: deadline)) }
    counters.requests += 1
    see(.sent(call, reply))
    let end = now.advanced(by: reply.after)
    flights[attempt.id] = VirtualFlight(attempt: attempt, startedAt: now, endsAt: end, at: end, reply: reply)
    arrivals.insert(Arrival(at: end, id: attempt.id))
    if tickAt == nil, let progressInterval { tickAt = now.advanced(by: progressInterval) }
  }

  private mutating func call(_ attempt: Attempt) -> Call {
    let ref = attempt.ref
    var number = 0
    if countsAttempts {
      let key = AttemptStep(ref: ref, step: attempt.step)
      number = (attemptsAt[key] ?? 0) + 1
      attemptsAt[key] = number
    }
    var call = Call(
      attempt: attempt, number: number, node: plan.nodes[ref.node.index].name, pathBytes: [], fileSize: 0,
      uploadID: nil, now: now)
    if let orphan = ref.orphan {
      call.uploadID = journal.orphans[ref.node.index]?.first { $0.number == orphan }?.uploadID
      return call
    }
    guard let item = ref.item, let table = tables[ref.node.index] else { return call }
    call.pathBytes = table.files.path(item)
    if attempt.step.transfersItem { call.fileSize = table.files.sizes[item] }
    let row = Int(table.rows[item]) - 1
    if row < journal.items[ref.node.index].count {
      call.uploadID = journal.items[ref.node.index].uploadID(row)
    }
    return call
  }

  private mutating func cancel(_ id: UInt64) {
    guard var flight = flights[id] else { return }
    let end = now.advanced(by: flight.reply.lingers)
    // A request that completes before its cancellation takes effect keeps its result.
    guard end < flight.at || flight.reply.lingers == .zero else { return }
    flight.reply.answer = .failure(.init(.cancelled, "canceled", mayHaveReachedServer: true))
    flight.isCancelled = true
    flight.at = end
    flights[id] = flight
    arrivals.insert(Arrival(at: end, id: id))
  }
}

extension Reply {
  /// Ends the request after at most this time.
  mutating func cut(after limit: Duration) {
    guard after > limit else { return }
    let part = limit.seconds / after.seconds
    after = limit
    sent = Int64(Double(sent) * part)
    received = Int64(Double(received) * part)
    answer = .failure(.init(.resourceTimeout, "exceeded its time limit", mayHaveReachedServer: true))
  }

  /// Ends the request after at most this number of body bytes in either direction.
  mutating func cut(at limit: Int64) {
    let most = max(sent, received)
    guard most > limit else { return }
    let part = Double(limit) / Double(most)
    after = .seconds(fraction: after.seconds * part)
    sent = min(sent, limit)
    received = min(received, limit)
    answer = .failure(.init(.byteLimit, "reached its byte limit", mayHaveReachedServer: true))
  }
}
