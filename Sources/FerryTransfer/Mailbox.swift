import CCurl
import FerryPlan
import Synchronization

/// What the helper threads and other threads tell the loop.
final class Mailbox: Sendable {
  /// Names a transfer even where the caller uses its id again.
  struct Key: Hashable, Sendable {
    var id: UInt64
    var serial: UInt64
  }

  enum Message: Sendable {
    /// So many bytes of the stream are hashed.
    case hashed(Key, bytes: Int)
    /// The whole stream is hashed.
    case digest(Key, [UInt8])
    /// The downloaded file is in place, or why it is not.
    case stored(Key, Result<DownloadFile.Stored, TransportFailure>)
    /// A file was hashed for its own sake.
    case fileDigest(Key, Result<[UInt8], TransportFailure>)
  }

  private struct State {
    var messages: [Message] = []
    var isWoken = false
    var multi: UnsafeMutableRawPointer?
  }

  private let state = Mutex(State())

  /// From now on the multi handle is woken.
  func open(_ multi: UnsafeMutableRawPointer) {
    // A handle travels as its address: a pointer may not cross into the lock's region.
    let address = UInt(bitPattern: multi)
    state.withLock { $0.multi = UnsafeMutableRawPointer(bitPattern: address) }
  }

  /// The multi handle is about to go; later messages are kept and nobody is woken.
  func close() {
    state.withLock { $0.multi = nil }
  }

  func post(_ message: Message) {
    state.withLock {
      let wasEmpty = $0.messages.isEmpty
      $0.messages.append(message)
      // One wake-up is enough for all messages that the loop then finds.
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

  /// Everything since the last call, and whether `wake` was used.
  func take() -> (messages: [Message], isWoken: Bool) {
    state.withLock {
      let taken = ($0.messages, $0.isWoken)
      $0.isWoken = false
      if !$0.messages.isEmpty { $0.messages = [] }
      return taken
    }
  }
}
