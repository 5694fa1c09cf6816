import CCurl
import FerryPlan

/// The turn: waits for events, and handles them.
extension TransferLoop {
  /// The longest wait in nanoseconds. A turn that must wait longer waits repeatedly.
  private static let longestWait: Int64 = 1_000_000_000_000

  /// Performs I/O until a request or a digest ends, an interim response arrives, the waker is used, or
  /// `timeout` has passed (`nil` means no timeout). Returns all completed requests.
  package func turn(timeout: Duration?) -> [TransferOutcome] {
    now = .now
    let end = timeout.map { now.advanced(by: $0) }
    // Every turn checks the sockets at least once.
    var (isWoken, hasWaited) = (false, false)
    while true {
      if readMessages() { isWoken = true }
      if !bandwidths.isEmpty { grantBandwidth() }
      perform()
      if !segmented.isEmpty { startSegments() }
      if interimCount > 0 { for handle in busy.values { collectInterim(of: handle) } }
      now = .now
      checkTimeouts()
      let isOver = !ended.isEmpty || isWoken || !digests.isEmpty || !interim.isEmpty
      if hasWaited, isOver {
        defer { ended = [] }
        return ended
      }
      if hasWaited, let end, end <= now { return [] }
      events.wait(milliseconds: isOver ? 0 : milliseconds(until: end))
      hasWaited = true
      now = .now
    }
  }

  /// The time until the loop must act even without an event, at most until `end`.
  ///
  /// It is rounded up. If it were rounded down, the loop would spin during the last millisecond.
  private func milliseconds(until end: SuspendingClock.Instant?) -> CInt {
    var next = events.deadline(now: now)
    func consider(_ instant: SuspendingClock.Instant?) {
      if let instant { next = min(next ?? instant, instant) }
    }
    consider(end)
    consider(nextCheck)
    if !bandwidths.isEmpty { consider(nextTurn) }
    let nanoseconds = next.map { max(0, now.duration(to: $0).nanoseconds) } ?? .max
    return CInt((min(nanoseconds, Self.longestWait) + 999_999) / 1_000_000)
  }

  private func readMessages() -> Bool {
    let isWoken = waker.takeWake()
    for message in mailbox.take() {
      switch message {
      case .hashed(let key, let count):
        handle(key)?.didHash(count)
      case .digest(let key, let bytes):
        guard let handle = handle(key) else { continue }
        handle.exchange?.digest = .done(bytes)
        endIfSettled(handle)
      case .stored(let key, let result):
        guard let handle = handle(key) else { continue }
        handle.exchange?.storing = nil
        switch result {
        case .success(.stored(let file)): handle.exchange?.storedFile = file
        case .success(.refused(let why)): handle.exchange?.refusal = why
        case .failure(let failure): handle.exchange?.failure = failure
        }
        endIfSettled(handle)
      case .fileDigest(let key, let result):
        // A canceled digest may already have been posted.
        guard hashing[key.id]?.key == key else { continue }
        hashing[key.id] = nil
        digests.append(DigestOutcome(id: key.id, result: result))
      }
    }
    return isWoken
  }

  func handle(_ key: TransferKey) -> EasyHandle? {
    guard let handle = busy[key.id], handle.exchange?.key == key else { return nil }
    return handle
  }

  private func perform() {
    var isFollowing = true
    while isFollowing {
      isFollowing = false
      turnGuard.begin()
      events.perform(multi, at: now)
      shutDown = turnGuard.end()
      var left: CInt = 0
      while let message = curl_multi_info_read(multi, &left) {
        guard message.pointee.msg == CURLMSG_DONE, let curl = message.pointee.easy_handle,
          let handle = EasyHandle.of(curl)
        else { continue }
        // The message becomes invalid when its handle is removed.
        let code = message.pointee.data.result
        curl_multi_remove_handle(multi, curl)
        if complete(handle, code) { isFollowing = true }
      }
    }
  }
}
