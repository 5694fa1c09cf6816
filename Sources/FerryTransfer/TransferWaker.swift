import CCurl
import Synchronization

/// Ends the wait of a `TransferLoop.turn`, from any thread. Has no effect once the loop has been released.
package final class TransferWaker: Sendable {
  private struct State {
    var isWoken = false
    var multi: UnsafeMutableRawPointer?
  }

  private let state = Mutex(State())

  /// Enables waking the multi handle.
  func open(_ multi: UnsafeMutableRawPointer) {
    // The handle is captured as an integer, because a pointer must not cross into the lock's region.
    let address = UInt(bitPattern: multi)
    state.withLock { $0.multi = UnsafeMutableRawPointer(bitPattern: address) }
  }

  /// Must be called before the multi handle is destroyed.
  func close() { state.withLock { $0.multi = nil } }

  /// Makes the current turn, or else the next one, return without waiting further.
  package func wake() {
    state.withLock {
      guard !$0.isWoken else { return }
      $0.isWoken = true
      if let multi = $0.multi { curl_multi_wakeup(multi) }
    }
  }

  /// Makes the current turn handle pending messages, and then wait again if none of them concerns its caller.
  func interrupt() {
    state.withLock { state in
      if let multi = state.multi { curl_multi_wakeup(multi) }
    }
  }

  /// Returns whether `wake` has been called since the last call of this method.
  func takeWake() -> Bool {
    state.withLock { state in
      defer { state.isWoken = false }
      return state.isWoken
    }
  }
}
