/// One request of a transfer.
package enum TransferOperation: Hashable, Codable, Sendable {
  /// The whole file is sent in one request.
  case whole
  /// The server is asked how many bytes of the file it has.
  case queryOffset
  /// This range of the file's bytes is sent.
  case send(Range<Int64>)

  /// Whether the request has bytes of the file as its body, even if they are none.
  package var isSending: Bool {
    switch self {
    case .whole, .send: true
    case .queryOffset: false
    }
  }

  /// The number of the file's bytes in the body of the request.
  ///
  /// - Parameter size: the size of the file.
  package func length(of size: Int64) -> Int64 {
    switch self {
    case .whole: size
    case .queryOffset: 0
    case .send(let range): range.upperBound - range.lowerBound
    }
  }
}
