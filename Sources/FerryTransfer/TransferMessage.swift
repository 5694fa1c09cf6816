import FerryPlan

/// Identifies a transfer even if the caller reuses its ID.
struct TransferKey: Hashable, Sendable {
  var id: UInt64
  var serial: UInt64
}

/// A message from a helper thread to the loop.
enum TransferMessage: Sendable {
  /// Bytes of the stream have been hashed.
  case hashed(TransferKey, bytes: Int)
  /// The whole stream has been hashed.
  case digest(TransferKey, [UInt8])
  /// The downloaded file is at its destination, or could not be stored for the given reason.
  case stored(TransferKey, Result<DownloadFile.Stored, TransportFailure>)
  /// A file that is not being sent has been hashed.
  case fileDigest(TransferKey, Result<[UInt8], TransportFailure>)
}
