/// The state of a transfer that sends its file in several requests, under one upload ID in one launch.
///
/// It is not journaled: after an interruption, the server states its offset again.
package struct TransferState: Hashable, Sendable {
  /// The number of bytes, counted from the start of the file, that the server has stated to have.
  package var confirmedOffset: Int64 = 0
  /// Whether the server may have a different offset, because an earlier launch may have sent bytes or a request has
  /// failed. The server is then asked for its offset before more bytes are sent.
  package var isUncertain: Bool

  package init(isUncertain: Bool) { self.isUncertain = isUncertain }
}
