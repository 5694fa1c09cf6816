import CCurl

/// Bandwidth limits.
extension TransferLoop {
  func credits(for limits: [TransferLimit]) -> [BandwidthCredit] {
    limits.map { limit in
      let known = bandwidths[limit.name] ?? Bandwidth(limit, at: now)
      bandwidths[limit.name] = known
      return BandwidthCredit(known)
    }
  }

  /// Starts a hop, if its limits allow it to send and to receive; otherwise it waits for its turns.
  func admit(_ handle: EasyHandle) {
    guard let exchange = handle.exchange else { return }
    exchange.isHeld = true
    guard handle.hasTurn(.sending), handle.hasTurn(.receiving) else { return }
    exchange.isHeld = false
    // libcurl sends a small body at once. The bytes that exceed the turn delay all other requests, not only this one.
    if exchange.file == nil { exchange.spendAtOnce(exchange.bodySize) }
    addToLibcurl(handle)
  }

  /// Gives turns to waiting requests.
  func grantBandwidth() {
    for bandwidth in bandwidths.values {
      bandwidth.update(at: now)
      for direction in Bandwidth.Direction.allCases {
        bandwidth.grant(direction, at: now) { key, turn in take(key, turn, direction, of: bandwidth) }
      }
    }
  }

  /// Returns whether the request still exists.
  private func take(
    _ key: TransferKey, _ turn: Int64, _ direction: Bandwidth.Direction, of bandwidth: Bandwidth
  ) -> Bool {
    guard let handle = handle(key), let exchange = handle.exchange,
      let index = exchange.credits.firstIndex(where: { $0.bandwidth === bandwidth })
    else { return false }
    exchange.credits[index][direction] += turn
    exchange.credits[index].isWaiting.remove(direction)
    if exchange.isHeld {
      admit(handle)
    } else if handle.hasTurn(direction) {
      handle.resume(direction == .sending ? .sending : .receiving)
    }
    return true
  }

  /// The time at which a waiting request gets its turn or a limit is read again; `nil` if no request waits.
  var nextTurn: SuspendingClock.Instant? {
    bandwidths.values.compactMap { $0.delay(at: now) }.min().map { now.advanced(by: $0) }
  }
}

extension TransferRequest {
  /// The versions of HTTP that may be used. A bandwidth limit pauses responses. In libcurl 7.88, an HTTP/2
  /// connection fails after one of its responses was paused. A download over several connections does not let the
  /// server choose HTTP/2, because libcurl would send all its requests over one connection.
  var httpVersion: ConnectionOptions.HTTPVersion {
    let needsHTTP1 = !limits.isEmpty || connections > 1 && connection.httpVersion == .auto
    return needsHTTP1 ? .http1 : connection.httpVersion
  }
}
