import FerryPlan
import Synchronization

/// Ends the computation of a downloaded file's checksum. The thread that stores the file asks it before each piece.
final class StoreInterruption: Sendable {
  private let state = Mutex<TransportFailure?>(nil)

  /// The reason why the file must not be stored; `nil` if it may be.
  var failure: TransportFailure? { state.withLock { $0 } }

  /// Has no effect after the first call, or once the checksum is known.
  func interrupt(_ failure: TransportFailure) {
    state.withLock { state in if state == nil { state = failure } }
  }
}
