import CCurl
import FerryPlan

/// What a multi handle waits for: events on its sockets, and the end of its timer.
///
/// `curl_multi_perform` would check all requests in progress, each with a poll(2), whenever one of them has data.
final class MultiEvents {
  /// When libcurl must be called even if no socket has an event.
  private enum Timer {
    case off
    case due
    case at(SuspendingClock.Instant)
  }

  let poller: SocketPoller
  private var timer = Timer.off
  private var events: [SocketPoller.Event] = []

  init(_ poller: SocketPoller) { self.poller = poller }

  /// Receives the multi handle's callbacks. The object must outlive the multi handle.
  func attach(to multi: UnsafeMutableRawPointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    ferry_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
    ferry_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
    ferry_multi_set_socket(multi) { _, descriptor, what, context, _ in
      guard let context else { return 0 }
      return Unmanaged<MultiEvents>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.poller.watch(descriptor, .init(rawValue: UInt8(truncatingIfNeeded: what) & 3))
        return 0
      }
    }
    ferry_multi_set_timer(multi) { _, milliseconds, context in
      guard let context else { return 0 }
      return Unmanaged<MultiEvents>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.timer =
          milliseconds < 0
          ? .off : milliseconds == 0 ? .due : .at(.now.advanced(by: .milliseconds(milliseconds)))
        return 0
      }
    }
  }

  /// The time at which libcurl must be called.
  func deadline(now: SuspendingClock.Instant) -> SuspendingClock.Instant? {
    switch timer {
    case .off: nil
    case .due: now
    case .at(let instant): instant
    }
  }

  /// Waits for events, which `perform` then passes to libcurl.
  func wait(milliseconds: CInt) { poller.wait(milliseconds: milliseconds, &events) }

  /// Makes libcurl handle the events of the last wait, and its timer if that has ended.
  func perform(_ multi: UnsafeMutableRawPointer, at now: SuspendingClock.Instant) {
    var running: CInt = 0
    for event in events {
      // Without an event, libcurl checks the socket itself, with the same distinctions of errors as in any other check.
      curl_multi_socket_action(multi, event.descriptor, CInt(event.ready.rawValue), &running)
    }
    events.removeAll(keepingCapacity: true)
    guard isDue(at: now) else { return }
    // libcurl sets the timer again.
    timer = .off
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
  }

  private func isDue(at now: SuspendingClock.Instant) -> Bool {
    switch timer {
    case .off: false
    case .due: true
    case .at(let instant): instant <= now
    }
  }
}
