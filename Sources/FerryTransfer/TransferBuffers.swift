/// The sizes of libcurl's buffers, in bytes. libcurl allocates them for each transfer that uses them.
struct TransferBuffers: Equatable {
  /// `CURLOPT_BUFFERSIZE`; initially libcurl's default.
  private(set) var receiving = 16 << 10
  /// `CURLOPT_UPLOAD_BUFFERSIZE`; initially libcurl's default.
  private(set) var sending = 64 << 10

  init() {}

  /// - Parameters:
  ///   - bodySize: the size of the request's body.
  ///   - isLimited: whether the request has a limit of its bytes or its bandwidth.
  init(_ shape: EasyHandle.Shape, bodySize: Int64, isLimited: Bool) {
    // A download reads in pieces of the size that the curl tool uses; the response to an upload is small. If a limit
    // applies, up to one piece beyond the limit may be received, so the pieces are small. A bandwidth limit also requires
    // small pieces.
    if shape == .get, !isLimited { receiving = 100 << 10 }
    switch shape {
    case .get, .head: break
    // libcurl's minimum. Whenever a chunk of at least 64 KiB is freed, the C library consolidates its free chunks.
    case .memoryBody: if bodySize < Self.smallBody { sending = 16 << 10 }
    case .fileBody: sending = 512 << 10
    }
  }

  /// With its header section, a smaller body fits into the smallest buffer.
  private static let smallBody: Int64 = 15 << 10
}
