import FerryManifest

/// Pauses of whole host queues, after the host failed or requested a pause.
extension Scheduler {
  mutating func pause(
    _ hostQueue: Int, after flight: Flight, _ failure: RecordedFailure, retryAfter: Duration?
  ) {
    let policy = plan.nodes[flight.attempt.ref.node.index].retry
    // Requests that were running at the same time fail together and count as one failure.
    if let ended = hostQueues[hostQueue].waveEnded, flight.startedAt < ended {
      if let retryAfter {
        let until = now.advanced(by: min(retryAfter, policy.max))
        hostQueues[hostQueue].resumeAt = max(hostQueues[hostQueue].resumeAt ?? until, until)
        endWaitsInTime(on: hostQueue)
      }
      withdrawIntents(on: hostQueue)
      return
    }
    hostQueues[hostQueue].failures += 1
    hostQueues[hostQueue].waveEnded = now
    // A host that responds is only paused: each request is limited by its own retries. A failure to reach the host
    // does not use up these retries, so the failures of the host are limited instead.
    guard failure.status != nil || hostQueues[hostQueue].failures <= policy.limit else {
      return giveUp(hostQueue, failure, of: flight.attempt.ref)
    }
    hostQueues[hostQueue].resumeAt = now.advanced(
      by: policy.wait(
        beforeRetry: hostQueues[hostQueue].failures, retryAfter: retryAfter, random: random.fraction()))
    endWaitsInTime(on: hostQueue)
    withdrawIntents(on: hostQueue)
  }

  /// Withdraws the intents that were recorded in advance. If the launch is killed before the host's requests may be sent
  /// again, the next one must know that these requests were not sent.
  mutating func withdrawIntents(on hostQueue: Int) {
    let recorded = hostQueues[hostQueue].writtenAhead.filter { intent(of: $0.ref) == .recorded }
    for ready in recorded { withdrawIntent(ready.ref) }
    // The others wait only for their upload IDs, or may have been sent before.
    let withdrawn = Set(recorded.map(\.ref).filter { intent(of: $0) != .recorded })
    guard !withdrawn.isEmpty else { return }
    for ready in hostQueues[hostQueue].takeWrittenAhead(where: { withdrawn.contains($0.ref) }) {
      enqueue(ready)
    }
  }

  /// Pauses a host after a request that is not sent again. Another request tests the host. If it has not recovered after as
  /// many pauses as the request could have had retries, the others remain for a later launch.
  mutating func pauseForOthers(_ flight: Flight, _ failure: RecordedFailure, retryAfter: Duration?) {
    pause(flight.hostQueue, after: flight, failure, retryAfter: retryAfter)
    let policy = plan.nodes[flight.attempt.ref.node.index].retry
    guard hostQueues[flight.hostQueue].failures > policy.limit else { return }
    giveUp(flight.hostQueue, failure, of: flight.attempt.ref)
  }

  /// Steps whose deadline precedes the end of the pause wait for the deadline instead, and then fail.
  private mutating func endWaitsInTime(on hostQueue: Int) {
    var paused = hostQueues[hostQueue]
    let late = paused.take { isTooLate($0, on: hostQueue) }
    hostQueues[hostQueue] = paused
    for ready in late { waitForDeadline(ready) }
  }

  /// Whether the queue is paused beyond the step's deadline.
  func isTooLate(_ ready: Ready, on hostQueue: Int) -> Bool {
    guard let resumeAt = hostQueues[hostQueue].resumeAt else { return false }
    return deadline(of: ready.ref) < resumeAt
  }

  mutating func waitForDeadline(_ ready: Ready) {
    withdrawIntent(ready.ref)
    change(ready.ref, .wait)
    timers.insert(Timer(at: deadline(of: ready.ref), ready: ready))
  }

  /// Gives up on a host that does not recover: everything in this queue remains for a later launch.
  ///
  /// - Parameter ref: the item or node whose request failed.
  mutating func giveUp(_ hostQueue: Int, _ failure: RecordedFailure, of ref: ItemRef) {
    // The detail belongs to one request, and the other requests were not sent.
    let others = failure.with(nil)
    hostQueues[hostQueue].givenUp = others
    for ready in hostQueues[hostQueue].take(where: { _ in true }).sorted() {
      leave(ready.ref, ready.ref == ref ? failure : others)
    }
  }
}
