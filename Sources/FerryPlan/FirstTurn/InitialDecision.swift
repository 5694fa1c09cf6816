/// The work that a launch would start immediately, and the reasons why the rest would wait.
///
/// It runs the scheduler's first turn as if all records were written immediately, and as if no request ended
/// except the requests of canceled sessions.
package struct InitialDecision: Sendable {
  package private(set) var scheduler: Scheduler
  /// The attempts that the launch would start.
  package private(set) var starts: [Attempt] = []

  /// - Parameters:
  ///   - cancelled: sessions that were canceled earlier.
  ///   - lease: returns the lease that the ledger would grant.
  package init(
    _ scheduler: Scheduler, at now: Instant, cancelled: [SessionID] = [], lease: (Lease.Request) -> Lease
  ) {
    self.scheduler = scheduler
    var recorded: UInt64 = 0
    // Events are handled in reverse order.
    var events: [Event] = [.launched] + cancelled.map { .cancelled($0, finishing: false) }
    while let event = events.popLast() {
      for action in self.scheduler.handle(event, at: now) {
        switch action {
        case .start(let attempt): starts.append(attempt)
        case .record:
          recorded += 1
          events.append(.synced(through: recorded))
        case .lease(let request): events.append(.leased(lease(request), for: request))
        case .cancel(let id):
          // The attempt was never sent.
          starts.removeAll { $0.id == id }
          let failure = TransportFailure(.cancelled, "canceled", mayHaveReachedServer: false)
          events.append(.finished([AttemptResult(id: id, answer: .failure(failure))]))
        // Lists that are read when their uploads open are not read in a preview.
        case .sync, .keepLeases, .windowExpired, .end, .list: break
        }
      }
    }
  }

  /// The reasons why nodes would not begin, by node. Only deferrals (by the machine's conditions, a budget or
  /// a delay) and the end of the execution window are included.
  package var reasons: [Int: RecordedFailure] {
    let started = Set(starts.map(\.ref.node.index))
    var reasons: [Int: RecordedFailure] = [:]
    for index in scheduler.plan.nodes.indices where !started.contains(index) {
      guard let reason = scheduler.reasonOfOpen(index), reason.isDeferral || reason == .expired else {
        continue
      }
      reasons[index] = reason
    }
    return reasons
  }

  /// The next time at which a launch would have work: `now` if it would start anything; `nil` if only an
  /// event can make progress.
  package func nextMoment(at now: Instant) -> Instant? {
    guard starts.isEmpty else { return now }
    return ([scheduler.metrics.deferredUntil] + scheduler.nodes.map(\.notBefore)).compactMap(\.self).min()
  }
}

extension Scheduler {
  /// The reason why the remaining work of a node is waiting; `nil` if the node is not open.
  func reasonOfOpen(_ index: Int) -> RecordedFailure? {
    guard tokens[index] == nil else { return nil }
    switch nodes[index].phase {
    case .open: return reasonForWaiting(index)
    case .left(let reason): return reason
    case .notSelected, .waiting, .finished, .settling, .closed: return nil
    }
  }
}
