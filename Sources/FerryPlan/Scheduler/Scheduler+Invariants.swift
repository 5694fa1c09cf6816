/// Invariants that hold after every event. The tests and the simulated worlds check them.
extension Scheduler {
  /// Returns the contradictions in the scheduler's state; empty if there are none. The cost depends on the number of
  /// items.
  package func checkInvariants() -> [String] {
    var found: [String] = []
    for (index, upload) in uploads.enumerated() where isTallied(upload) {
      found += upload.contradictions
      found += misplaced(of: index)
    }
    for (index, hostQueue) in hostQueues.enumerated() {
      let count = flights.values.reduce(0) { $0 + ($1.hostQueue == index ? $1.attempt.connections : 0) }
      if count != hostQueue.inFlight {
        found.append("host queue \(index) counts \(hostQueue.inFlight) connections, but \(count) are in use")
      }
      if count > hostQueue.limit {
        found.append("host queue \(index) uses \(count) connections, but its limit is \(hostQueue.limit)")
      }
      if isStuck(index) { found.append("steps wait in host queue \(index), although nothing prevents them") }
    }
    return found
  }

  /// Whether steps wait in a queue without anything that would ever start them.
  private func isStuck(_ index: Int) -> Bool {
    let hostQueue = hostQueues[index]
    guard stop == nil, !isEnding, hostQueue.hasReadyItems, hostQueue.givenUp == nil, hostQueue.hold == nil,
      hostQueue.inFlight == 0, hostQueue.intending.isEmpty, hasRoomInWindow(index)
    else { return false }
    return hostQueue.resumeAt.map { $0 <= now } ?? true
  }

  /// Whether the upload's items are counted individually. In an upload that was not opened, and in a launch
  /// that is ending, the remaining items are counted as a whole.
  private func isTallied(_ upload: UploadState) -> Bool {
    guard !isEnding else { return false }
    switch nodes[upload.node.index].phase {
    case .waiting, .open: return true
    case .notSelected, .finished, .settling, .closed, .left: return false
    }
  }

  /// Returns the violations of the rule that every item that has begun is in exactly one place: a request, a
  /// queue or a wait. A transfer can send several requests at the same time.
  private func misplaced(of upload: Int) -> [String] {
    let node = uploads[upload].node
    var places: [Int: [(name: String, activity: ItemProgress.Activity)]] = [:]
    func note(_ ref: ItemRef, _ name: String, _ activity: ItemProgress.Activity) {
      if ref.node == node, let item = ref.item { places[item, default: []].append((name, activity)) }
    }
    for flight in flights.values { note(flight.attempt.ref, "request", .inProgress) }
    for hostQueue in hostQueues {
      for ready in hostQueue.waiting { note(ready.ref, "host queue", .inProgress) }
    }
    for token in tokens.values { for ready in token.waiters { note(ready.ref, "token", .inProgress) } }
    for ready in gates.flatMap(\.waiters) { note(ready.ref, "budget", .inProgress) }
    for timer in timers.unordered { note(timer.ready.ref, "timer", .waiting) }
    for timer in creations.unordered { note(timer.ready.ref, "resume delay", .waiting) }
    for ready in sessions.flatMap(\.rejected) { note(ready.ref, "resume", .waiting) }
    for ready in uploads[upload].sent { note(ready.ref, "batch", .waiting) }
    var found: [String] = []
    let active = uploads[upload].active
    for item in active.items {
      var names = places[item, default: []].map(\.name)
      let requests = names.count { $0 == "request" }
      if requests == active[attempts: item]?.requestsInFlight {
        names.removeFirst(max(0, min(requests, names.count) - 1))
      }
      if names.count != 1 { found.append("item \(item) of \(plan.nodes[node.index].name) is in \(names)") }
      if let place = places[item]?.first, let activity = active.progress(of: item)?.activity,
        place.activity != activity
      {
        found.append("item \(item) is \(activity), but waits in \(place.name)")
      }
    }
    for item in places.keys where !active.contains(item) {
      found.append("item \(item) of \(plan.nodes[node.index].name) waits, but has not begun")
    }
    return found
  }
}
