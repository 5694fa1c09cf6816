/// The speed of an upload's largest file in one launch, on one of the connections in use.
package struct TransferSample: Hashable, Sendable {
  /// The size of the file.
  package var bytes: Int64
  /// The time from the request to its response.
  package var duration: Duration

  package init(bytes: Int64, duration: Duration) {
    self.bytes = bytes
    self.duration = duration
  }

  /// Bytes per second; `nil` if nothing was measured.
  package var rate: Double? {
    bytes > 0 && duration > .zero ? Double(bytes) / duration.seconds : nil
  }

  /// Whether the rate is representative for a file of this size. The duration of a very short transfer
  /// reflects the round-trip time rather than the rate.
  package func tells(of size: Int64) -> Bool { duration >= .seconds(1) || bytes >= size / 100 }
}
