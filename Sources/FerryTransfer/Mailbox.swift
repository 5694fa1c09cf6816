import CCurl
import FerryPlan
import Synchronization

/// Messages from the helper threads and other threads to the loop.
final class Mailbox: Sendable {
  /// Identifies a transfer even if the caller reuses its ID.
  struct Key: Hashable, Sendable {
    var id: UInt64
    var serial: UInt64
  }

  enum Message: Sendable {
    /// Bytes of the stream have been hashed.
    case hashed(Key, bytes: Int)
    /// The whole stream has been hashed.
    case digest(Key, [UInt8])
    /// The downloaded file is at its destination, or the reason why it is not.
    case stored(Key, Result<DownloadFile.Stored, TransportFailure>)
    /// A file that is not being sent has been hashed.
    case fileDigest(Key, Result<[UInt8], TransportFailure>)
  }

  private struct State {
    var messages: [Message] = []
    var isWoken = false
    var multi: UnsafeMutableRawPointer?
  }

  private let state = Mutex(State())

  /// From now on, messages wake the multi handle.
  func open(_ multi: UnsafeMutableRawPointer) {
    // The handle is captured as an integer, because a pointer must not cross into the lock's region.
    let address = UInt(bitPattern: multi)
    state.withLock { $0.multi = UnsafeMutableRawPointer(bitPattern: address) }
  }

  /// The multi handle is about to be destroyed. Later messages are kept and wake nobody.
  func close() {
    state.withLock { $0.multi = nil }
  }

  func post(_ message: Message) {
    state.withLock {
      let wasEmpty = $0.messages.isEmpty
      $0.messages.append(message)
      // One wake-up is enough for all messages that the loop finds.
      if wasEmpty, let multi = $0.multi { curl_multi_wakeup(multi) }
    }
  }

  func wake() {
    state.withLock {
      guard !$0.isWoken else { return }
      $0.isWoken = true
      if let multi = $0.multi { curl_multi_wakeup(multi) }
    }
  }

  /// All messages since the last call, and whether `wake` was called.
  func take() -> (messages: [Message], isWoken: Bool) {
    state.withLock {
      let taken = ($0.messages, $0.isWoken)
      $0.isWoken = false
      if !$0.messages.isEmpty { $0.messages = [] }
      return taken
    }
  }
}
