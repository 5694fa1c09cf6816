/// One request of a transfer that sends a file.
package enum TransferOperation: Hashable, Codable, Sendable {
  /// The whole file is sent in one request.
  case whole
  /// The first bytes of the file are sent with the request that the manifest declares. The server may assign
  /// an upload resource to that request.
  case create(Range<Int64>)
  /// The server is asked how many bytes of the file it has.
  case queryOffset
  /// The server is asked how many bytes it has of the partial upload with this number.
  case queryPart(Int)
  /// The server is asked for the parts that it has, in the order of their numbers.
  case listParts(after: Int)
  /// This range of the file's bytes is sent.
  case send(Range<Int64>)

  /// Whether the body of the request consists of bytes of the file. There may be none.
  package var isSending: Bool {
    switch self {
    case .whole, .create, .send: true
    case .queryOffset, .queryPart, .listParts: false
    }
  }

  /// The number of the file's bytes in the body of the request.
  ///
  /// - Parameter size: the size of the file.
  package func length(of size: Int64) -> Int64 {
    switch self {
    case .whole: size
    case .queryOffset, .queryPart, .listParts: 0
    case .create(let range), .send(let range): range.upperBound - range.lowerBound
    }
  }

  /// The bytes of the file in the body of the request; `nil` for the whole file, and for a request without
  /// bytes of the file.
  package var range: Range<Int64>? {
    switch self {
    case .whole, .queryOffset, .queryPart, .listParts: nil
    case .create(let range), .send(let range): range
    }
  }
}
