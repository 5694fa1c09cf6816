import FerryManifest

/// Lanes that wait as one: the host failed, or asked for patience.
extension Scheduler {
  mutating func pause(_ lane: Int, after flight: Flight, _ failure: RecordedFailure, retryAfter: Duration?) {
    let policy = plan.nodes[flight.attempt.place.node.index].retry
    // Requests that were under way together fail together and count as one.
    if let ended = lanes[lane].waveEnded, flight.startedAt < ended {
      if let retryAfter {
        let until = now.advanced(by: min(retryAfter, policy.max))
        lanes[lane].resumeAt = max(lanes[lane].resumeAt ?? until, until)
        endWaitsInTime(on: lane)
      }
      return
    }
    lanes[lane].failures += 1
    lanes[lane].waveEnded = now
    guard lanes[lane].failures <= policy.limit else { return giveUp(lane, failure) }
    lanes[lane].resumeAt = now.advanced(
      by: policy.wait(beforeRetry: lanes[lane].failures, retryAfter: retryAfter, random: random.fraction()))
    endWaitsInTime(on: lane)
  }

  /// What would wait for the lane beyond its own deadline waits for that instead, and fails then.
  private mutating func endWaitsInTime(on lane: Int) {
    var paused = lanes[lane]
    let late = paused.take { isTooLate($0, on: lane) }
    lanes[lane] = paused
    for ready in late { waitForDeadline(ready) }
  }

  /// Whether the lane is paused beyond the deadline.
  func isTooLate(_ ready: Ready, on lane: Int) -> Bool {
    guard let resumeAt = lanes[lane].resumeAt else { return false }
    return deadline(of: ready.place) < resumeAt
  }

  mutating func waitForDeadline(_ ready: Ready) {
    if let upload = itemsUpload(of: ready.place) { uploads[upload].inProgress -= 1 }
    timers.insert(Timer(at: deadline(of: ready.place), ready: ready))
  }

  /// The host stays away: what goes there is left for a later launch.
  private mutating func giveUp(_ lane: Int, _ failure: RecordedFailure) {
    lanes[lane].givenUp = failure
    for ready in lanes[lane].take(where: { _ in true }).sorted() { leave(ready.place, failure) }
  }
}
