import FerryPlan

/// Idle and time limits. The loop implements them itself, because libcurl's CURLOPT_LOW_SPEED_TIME has a
/// resolution of seconds, and CURLOPT_XFERINFOFUNCTION would be called for every transfer in every turn.
///
/// Only content and complete header lines count: a server could otherwise keep a request open with a chunk extension or a
/// header line that never ends. Every check compares the byte counts of each transfer with the previous check. The
/// interval between checks is an eighth of the idle timeout, so a timeout is never early and at most an eighth late.
extension TransferLoop {
  /// The shortest and the longest interval, in nanoseconds.
  private static let checkRange: ClosedRange<Int64> = 5_000_000...1_000_000_000

  func scheduleCheck(of exchange: borrowing Exchange) {
    var interval = Self.checkInterval(exchange.request.idleTimeout)
    if let minimum = exchange.request.connection.minimumSpeed {
      interval = min(interval, Self.checkInterval(minimum.period))
    }
    var next = now.advanced(by: interval)
    if let deadline = exchange.deadline { next = min(next, deadline) }
    nextCheck = min(nextCheck ?? next, next)
  }

  /// Schedules the check of a digest's time limit. If the file system does not respond, the hash thread blocks, and
  /// only the loop's thread can end the digest.
  func scheduleCheck(of hashing: FileHashing) {
    guard let deadline = hashing.deadline else { return }
    nextCheck = min(nextCheck ?? deadline, deadline)
  }

  private static func checkInterval(_ idleTimeout: Duration) -> Duration {
    .nanoseconds(min(max(idleTimeout.nanoseconds / 8, checkRange.lowerBound), checkRange.upperBound))
  }

  func checkTimeouts() {
    guard let due = nextCheck, due <= now else { return }
    nextCheck = nil
    for handle in Array(busy.values) {
      // Another exchange of the same document may have ended this one.
      guard let exchange = handle.exchange, busy[exchange.key.id] === handle else { continue }
      guard !exchange.isSettling else {
        checkStoring(exchange, handle)
        continue
      }
      if let deadline = exchange.deadline, deadline <= now {
        stop(handle, failure(.resourceTimeout, handle, "the request exceeded its time limit"))
      } else if isIdle(handle) {
        retireConnection(of: exchange, after: exchange.request.idleTimeout)
        stop(
          handle,
          failure(
            .requestTimeout, handle,
            "no complete header line and no content was transferred for \(exchange.request.idleTimeout.text)")
        )
      } else if let minimum = exchange.request.connection.minimumSpeed, isTooSlow(exchange, minimum) {
        let text =
          "less than \(minimum.bytes) bytes in \(minimum.period.text) ('minimum_speed' of the session)"
        retireConnection(of: exchange, after: minimum.period)
        stop(handle, failure(.requestTimeout, handle, text))
      } else if hasTooMuchFraming(exchange, handle) {
        let text =
          "the response has more than \(Self.mostFraming >> 20) MiB in addition to its header section and content"
        stop(handle, failure(.responseTooLarge, handle, text))
      } else {
        scheduleCheck(of: exchange)
      }
    }
    for (id, file) in hashing {
      guard let deadline = file.deadline, deadline <= now else {
        scheduleCheck(of: file)
        continue
      }
      cancelDigest(id)
      let failure = TransportFailure(
        .resourceTimeout,
        "\(file.name): computing its hash exceeded the time limit; increase 'timeout_for_resource'",
        mayHaveReachedServer: false)
      digests.append(DigestOutcome(id: id, result: .failure(failure)))
    }
  }

  /// Retires the HTTP/2 connection of a request that has reached a time limit, unless data has arrived on the
  /// connection in the second half of the limit's period. The period of a new connection begins before the server's
  /// first data arrives.
  private func retireConnection(of exchange: Exchange, after period: Duration) {
    guard exchange.mayBeHTTP2, let descriptor = exchange.descriptor else { return }
    sockets.retire(descriptor, ifSilentFor: period / 2)
  }

  /// Applies the time limit to the computation of a downloaded file's checksum. The sync of a file is not interrupted.
  private func checkStoring(_ exchange: Exchange, _ handle: EasyHandle) {
    guard let storing = exchange.storing, let deadline = exchange.deadline, storing.failure == nil else {
      return
    }
    guard deadline <= now else {
      nextCheck = min(nextCheck ?? deadline, deadline)
      return
    }
    storing.interrupt(
      failure(.resourceTimeout, handle, "the checksum of the file was not computed within the time limit"))
  }

  /// Whether fewer bytes than the minimum were transferred within the period of the minimum speed. Called
  /// after `isIdle`, which counts the bytes.
  private func isTooSlow(_ exchange: Exchange, _ minimum: ConnectionOptions.MinimumSpeed) -> Bool {
    guard exchange.attempts > 0, !exchange.isPaused, let mark = exchange.speedMark,
      mark.count <= exchange.lastCount
    else {
      exchange.speedMark = (exchange.lastCount, now)
      return false
    }
    if exchange.lastCount - mark.count >= minimum.bytes {
      exchange.speedMark = (exchange.lastCount, now)
      return false
    }
    return mark.time.duration(to: now) >= minimum.period
  }

  /// The maximum number of bytes of a response over HTTP/1.1 that belong neither to its header section nor to its content:
  /// 4 MiB, plus eight times the content. A chunk extension (RFC 9112, section 7.1.1) can be endless, and libcurl does not
  /// report its bytes. An honest server may send each byte in its own chunk, which takes six bytes.
  private static let mostFraming: Int64 = 4 << 20

  private func hasTooMuchFraming(_ exchange: Exchange, _ handle: EasyHandle) -> Bool {
    // Over HTTP/2, the connection also carries other responses.
    guard case .chunked = exchange.framing, !exchange.mayBeHTTP2, let descriptor = exchange.descriptor,
      let read = sockets.bytesRead(from: descriptor)
    else { return false }
    let counted = exchange.bodyReceived + exchange.headersReceived
    guard let mark = exchange.framingMark, mark.descriptor == descriptor, mark.counted <= counted else {
      exchange.framingMark = (descriptor, read, counted)
      return false
    }
    let content = counted - mark.counted
    return read - mark.read - content > Self.mostFraming +| 8 *| content
  }

  private func isIdle(_ handle: EasyHandle) -> Bool {
    guard let exchange = handle.exchange else { return false }
    // Until the request can be sent, CURLOPT_CONNECTTIMEOUT_MS applies. While a body waits for the hash thread, the
    // server does not cause the delay.
    let isWaitingHere = exchange.attempts == 0 || exchange.isPaused
    let count =
      handle.bodySent + exchange.bodyReceived + exchange.headersReceived + Int64(exchange.attempts)
    if isWaitingHere || count != exchange.lastCount {
      handle.exchange?.lastCount = count
      handle.exchange?.lastProgress = now
      return false
    }
    return exchange.lastProgress.duration(to: now) >= exchange.request.idleTimeout
  }

  private func failure(
    _ code: TransportFailure.Code, _ handle: EasyHandle, _ text: String
  ) -> TransportFailure {
    let address = handle.exchange.flatMap { CurlFailure.address(of: $0.hop.url) } ?? "the server"
    return TransportFailure(code, "\(address): \(text)", mayHaveReachedServer: false)
  }
}

/// A file that is being hashed before its request can be built.
struct FileHashing {
  let key: TransferKey
  /// The path as messages show it.
  let name: String
  let deadline: SuspendingClock.Instant?
}

extension Duration {
  /// The duration in seconds or milliseconds, for messages.
  fileprivate var text: String {
    self < .seconds(1) ? "\(nanoseconds / 1_000_000) ms" : "\(nanoseconds / 1_000_000_000) s"
  }
}
