/// How fast the largest file of an upload went in one launch, as one connection among those that were busy.
package struct TransferSample: Hashable, Sendable {
  /// Of the file.
  package var bytes: Int64
  /// From the request to its answer.
  package var duration: Duration

  package init(bytes: Int64, duration: Duration) {
    self.bytes = bytes
    self.duration = duration
  }

  /// Bytes a second; nil where nothing was measured.
  package var rate: Double? {
    bytes > 0 && duration > .zero ? Double(bytes) / duration.seconds : nil
  }

  /// Whether its rate says anything of a file of this size: what is over at once tells of the way there and
  /// back rather than of the rate.
  package func tells(of size: Int64) -> Bool { duration >= .seconds(1) || bytes >= size / 100 }
}
