import CCurl

/// Enforces the bandwidth limits of a request.
///
/// libcurl's CURLOPT_MAX_SEND_SPEED_LARGE and CURLOPT_MAX_RECV_SPEED_LARGE apply to one transfer each, and do not limit
/// bodies in memory, which are sent at once.
extension EasyHandle {
  /// Whether the request may transfer bytes. If not, it waits for its turn.
  func hasTurn(_ direction: Bandwidth.Direction) -> Bool {
    guard let exchange else { return true }
    for index in exchange.credits.indices {
      let bandwidth = exchange.credits[index].bandwidth
      guard bandwidth.bytesPerSecond != nil, exchange.credits[index][direction] <= 0 else { continue }
      if exchange.credits[index].isWaiting.insert(direction).inserted {
        // libcurl sends a small body at once.
        let least = exchange.isHeld && exchange.file == nil && direction == .sending ? exchange.bodySize : 0
        bandwidth.wait(exchange.key, atLeast: least, direction)
      }
      exchange.speedMark = nil
      return false
    }
    return true
  }

  /// The number of body bytes that may be sent; 0 if the body must wait.
  func sendable(_ count: Int) -> Int {
    guard let exchange, !exchange.credits.isEmpty else { return count }
    guard hasTurn(.sending) else { return 0 }
    return exchange.credits.filter { $0.bandwidth.bytesPerSecond != nil }
      .reduce(count) { Int(clamping: min(Int64($0), $1[.sending])) }
  }

  /// Counts bytes against the limits.
  func spend(_ count: Int64, _ direction: Bandwidth.Direction) {
    guard let exchange else { return }
    for index in exchange.credits.indices { exchange.credits[index][direction] -= count }
  }

  /// Counts received bytes. If the request has used up its turn, it stops receiving until the next one.
  func spendReceived(_ count: Int) {
    guard let exchange, !exchange.credits.isEmpty else { return }
    spend(Int64(count), .receiving)
    guard !exchange.pauses.contains(.receiving), !hasTurn(.receiving) else { return }
    exchange.pauses.insert(.receiving)
    applyPauses()
  }

  func resume(_ pause: Exchange.Pauses) {
    guard let exchange, exchange.pauses.contains(pause) else { return }
    exchange.pauses.remove(pause)
    applyPauses()
  }

  private func applyPauses() {
    guard let exchange else { return }
    let isSendingPaused = !exchange.pauses.isDisjoint(with: [.hashing, .sending])
    let flags =
      (isSendingPaused ? CURLPAUSE_SEND : 0) | (exchange.pauses.contains(.receiving) ? CURLPAUSE_RECV : 0)
    curl_easy_pause(curl, CInt(flags))
  }
}

extension Exchange {
  /// Counts bytes that are sent without waiting for turns.
  func spendAtOnce(_ count: Int64) {
    for index in credits.indices {
      let excess = max(0, count - credits[index][.sending])
      credits[index][.sending] -= count - excess
      credits[index].bandwidth.spend(excess, .sending)
    }
  }

  /// Returns unused turns to the limits, and counts what was transferred beyond them.
  func settleCredits() {
    for credit in credits {
      for direction in Bandwidth.Direction.allCases {
        credit.bandwidth.spend(-credit[direction], direction)
      }
    }
    credits = []
  }

  /// The reason why a transfer does not continue.
  struct Pauses: OptionSet {
    let rawValue: UInt8
    /// The hash thread has not hashed enough.
    static let hashing = Pauses(rawValue: 1)
    /// A bandwidth limit does not allow more bytes to be sent.
    static let sending = Pauses(rawValue: 2)
    static let receiving = Pauses(rawValue: 4)
  }
}
