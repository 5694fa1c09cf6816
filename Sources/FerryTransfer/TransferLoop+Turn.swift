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
    while true {
      let isWoken = readMessages()
      if !bandwidths.isEmpty {
        now = .now
        grantBandwidth()
      }
      perform()
      if !segmented.isEmpty { startSegments() }
      if interimCount > 0 { for handle in busy.values { collectInterim(of: handle) } }
      now = .now
      checkTimeouts()
      if !ended.isEmpty || isWoken || !digests.isEmpty || !interim.isEmpty {
        defer { ended = [] }
        return ended
      }
      if let end, end <= now { return [] }
      guard curl_multi_poll(multi, nil, 0, milliseconds(until: end), nil) == CURLM_OK else { return [] }
    }
  }

  /// The time until the loop must act even if nothing happens, at most until `end`.
  ///
  /// It is rounded up. If it were rounded down, the loop would spin during the last millisecond.
  private func milliseconds(until end: SuspendingClock.Instant?) -> CInt {
    var next = end
    if let nextCheck { next = min(next ?? nextCheck, nextCheck) }
    if let nextTurn { next = min(next ?? nextTurn, nextTurn) }
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
    var running: CInt = 0
    var isFollowing = true
    while isFollowing {
      isFollowing = false
      turnGuard.begin()
      sockets.combiningPackets { curl_multi_perform(multi, &running) }
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
