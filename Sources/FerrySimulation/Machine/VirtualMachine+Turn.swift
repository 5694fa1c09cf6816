import FerryPlan

/// Advances the virtual machine by one event at a time.
extension VirtualMachine {
  /// Advances to the next event. Returns `false` if nothing more will happen or the launch has ended.
  package mutating func step() -> Bool {
    trace.removeAll(keepingCapacity: true)
    guard !hasEnded, !isDead else { return false }
    let arrival = nextArrival()
    guard let next = nextMoment(arrival) else { return false }
    if next > now {
      now = next
      counters.eventsAtOnce = 0
    }
    if let first = occurrences.first, first.at <= now {
      happen(takeOccurrence())
    } else if let answer = answers.first, answer.at <= now {
      answers.removeFirst()
      handle(.leased(answer.lease, for: answer.request))
    } else if let portion = portions.first, portion.at <= now {
      portions.removeFirst()
      listFurther(portion.node)
    } else if let writeAt, writeAt <= now {
      self.writeAt = nil
      write()
    } else if let syncAt, syncAt <= now {
      self.syncAt = nil
      synced = recorded
      written = recorded
      writeAt = nil
      fate?.journalWasSynced(journal)
      handle(.synced(through: synced))
    } else if let id = nextAssignment(until: now) {
      assignResource(to: id)
    } else if let arrival, arrival <= now {
      finishArrived()
    } else if let tickAt, tickAt <= now {
      self.tickAt = flights.isEmpty ? nil : progressInterval.map { now.advanced(by: $0) }
      tellMoved()
    } else {
      handle(.timer)
    }
    return true
  }

  private func nextMoment(_ arrival: Instant?) -> Instant? {
    var next = scheduler.nextWakeup ?? .distantFuture
    if let arrival { next = min(next, arrival) }
    for flight in flights.values { if let at = flight.assignment { next = min(next, at) } }
    if let syncAt { next = min(next, syncAt) }
    if let writeAt { next = min(next, writeAt) }
    if let tickAt { next = min(next, tickAt) }
    if let answer = answers.first { next = min(next, answer.at) }
    if let portion = portions.first { next = min(next, portion.at) }
    if let first = occurrences.first { next = min(next, first.at) }
    return next == .distantFuture ? nil : next
  }

  /// The first attempt to which the server has assigned an upload resource that the client does not know yet.
  private func nextAssignment(until now: Instant) -> UInt64? {
    flights.filter { $0.value.assignment.map { $0 <= now } ?? false }.keys.min()
  }

  /// Reports the upload resource of an attempt.
  private mutating func assignResource(to id: UInt64) {
    guard let flight = flights[id], let resource = flight.reply.resource else { return }
    flights[id]?.knowsResource = true
    guard isLastPartial(flight) else { return }
    givenIDs[flight.attempt.ref] = resource.id
    var assignment = ResourceAssignment(limit: flight.reply.limit, origins: flight.reply.resourceOrigins)
    assignment.expires = flight.reply.expires
    handle(.resourceAssigned(id, assignment))
  }

  /// Whether the client knows all upload resources of the file once it knows the upload resource of this
  /// attempt.
  private mutating func isLastPartial(_ flight: VirtualFlight) -> Bool {
    let attempt = flight.attempt
    guard let item = attempt.ref.item, case .upload(let work) = plan.nodes[attempt.ref.node.index].work,
      let machine = work.transferProtocol.machine,
      let size = tables[attempt.ref.node.index]?.files.sizes[item]
    else { return true }
    createdPartials[attempt.ref, default: []].insert(
      machine.resourceNumber(of: attempt.operation, size: size))
    guard createdPartials[attempt.ref]?.count == machine.resourceCount(size: size) else { return false }
    createdPartials[attempt.ref] = nil
    return true
  }

  private mutating func nextArrival() -> Instant? {
    while let first = arrivals.min {
      if flights[first.id]?.at == first.at { return first.at }
      arrivals.removeMin()
    }
    return nil
  }

  private mutating func happen(_ what: Occurrence) {
    switch what {
    case .stop(let cause): handle(.stop(cause))
    case .hangUp: handle(.hangUp)
    case .conditions(let conditions):
      tellMoved()
      options.conditions = conditions
      if !isDead { handle(.conditions(conditions)) }
    case .othersMove(let network, let bytes):
      ledger.othersMove(network, bytes: bytes, at: now)
      see(.othersMoved(network, bytes))
    case .cancel(let session, let finishing, let failure):
      handle(.cancelled(session, finishing: finishing, failure: failure))
    case .drain(let session, let failure): handle(.drained(session, failure: failure))
    case .submit(let node, let files): submit(files, to: node)
    }
  }

  private mutating func submit(_ files: FileColumns, to node: NodeID) {
    // As in a run, submitted files wait until all files are listed.
    guard unlisted[node] == nil else {
      return schedule(.submit(node, files), at: now.advanced(by: listingDelay))
    }
    guard scheduler.takesItems(node), var table = tables[node.index] else { return }
    let unknown = scheduler.unknown(files, to: node)
    var row = max(Int64(journal.items[node.index].count), table.rows.max() ?? 0) + 1
    var items = ItemTable()
    for item in 0..<unknown.count where !isKnown(unknown.path(item), to: node) {
      items.append(
        path: unknown.path(item), size: unknown.sizes[item], modified: unknown.modified[item], row: row,
        entry: .new)
      row += 1
    }
    guard items.count > 0 else { return }
    table.append(contentsOf: items)
    tables[node.index] = table
    handle(.submitted(node, items))
  }

  private func isKnown(_ path: ArraySlice<UInt8>, to node: NodeID) -> Bool {
    let files = journal.items[node.index].files
    return (0..<files.count).contains { files.path($0).elementsEqual(path) }
  }

  private mutating func finishArrived() {
    var ended: [UInt64] = []
    while let first = arrivals.min, first.at <= now {
      arrivals.removeMin()
      if flights[first.id]?.at == first.at { ended.append(first.id) }
    }
    ended.sort()
    var results: [AttemptResult] = []
    var bytes: Int64 = 0
    for id in ended {
      if let flight = flights[id], !flight.knowsResource, flight.reply.resource != nil,
        case .response = flight.reply.answer
      {
        assignResource(to: id)
        if isDead { return }
      }
      guard var flight = flights.removeValue(forKey: id) else { continue }
      bytes +|= tell(&flight)
      if case .response = flight.reply.answer, let uploadID = flight.reply.uploadID {
        givenIDs[flight.attempt.ref] = uploadID
      }
      var result = AttemptResult(
        id: id, answer: flight.reply.answer,
        traffic: Traffic(
          bodySent: flight.bodySent, bodyReceived: flight.received, headersSent: flight.overhead),
        duration: flight.startedAt.duration(to: now))
      result.part = flight.reply.part
      result.sentInLastHop = flight.reply.sentOfFile
      results.append(result)
    }
    if bytes > 0 { handle(.moved(bytes)) }
    if !isDead, !results.isEmpty { handle(.finished(results)) }
  }

  /// Reports the bytes that all requests have transferred so far.
  private mutating func tellMoved() {
    var bytes: Int64 = 0
    for id in flights.keys.sorted() {
      guard var flight = flights[id] else { continue }
      bytes +|= tell(&flight)
      flights[id] = flight
    }
    if bytes > 0 { handle(.moved(bytes)) }
  }

  private mutating func tell(_ flight: inout VirtualFlight) -> Int64 {
    let moved = flight.moved(until: now)
    let (sent, received) = (moved.sent - flight.sent, moved.received - flight.received)
    let bytes = sent +| received +| (moved.overhead - flight.overhead)
    (flight.sent, flight.received, flight.overhead) = moved
    guard bytes > 0 else { return 0 }
    let network = options.conditions.network
    ledger.settle(network, bytes: bytes, at: now)
    see(.moved(flight.attempt.id, network, sent: sent, received: received))
    return bytes
  }

  /// Kills the process. Its unreported bytes have been transferred nevertheless.
  mutating func die() {
    isDead = true
    counters.deaths += 1
    for id in flights.keys.sorted() {
      guard let flight = flights[id] else { continue }
      let moved = flight.moved(until: now)
      let traceEvent = TraceEvent.moved(
        id, options.conditions.network, sent: moved.sent - flight.sent,
        received: moved.received - flight.received)
      see(traceEvent)
    }
    if let fate { journal = fate.surviving(journal) }
    see(.died)
  }
}
