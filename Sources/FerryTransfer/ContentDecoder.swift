import CZlib

/// Decodes the content codings gzip and deflate (RFC 9110, section 8.4.1), with bounded output.
///
/// libcurl can decode a body while receiving it, but then reports the sizes of the decoded body, which cannot
/// be compared with `Content-Length` and budgets.
package enum ContentDecoder {
  /// The value of `Accept-Encoding`.
  package static let accepted = "gzip, deflate"

  package enum Failure: Error, Equatable {
    /// The decoded body is larger than the limit.
    case tooLarge
    /// The bytes are not in this coding, or they are incomplete.
    case malformed(coding: String)
    /// A coding is neither gzip nor deflate, or there are too many codings.
    case unsupported
  }

  /// The maximum number of codings of a body.
  private static let mostCodings = 4

  /// - Parameters:
  ///   - codings: in the order in which the server applied them, in lowercase, without `identity`.
  ///   - limit: the maximum size of the result of each coding, in bytes.
  package static func decode(_ body: [UInt8], _ codings: [String], limit: Int) throws(Failure) -> [UInt8] {
    guard codings.count <= mostCodings else { throw .unsupported }
    var bytes = body
    for coding in codings.reversed() {
      switch coding {
      case "gzip": bytes = try gunzip(bytes, limit: limit)
      case "deflate": bytes = try inflate(bytes, limit: limit)
      default: throw .unsupported
      }
    }
    return bytes
  }

  /// One or more gzip members (RFC 1952, section 2.2).
  private static func gunzip(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var result: [UInt8] = []
    guard inflate(bytes, windowBits: 15 + 16, limit: limit, isRepeated: true, to: &result) else {
      throw .malformed(coding: "gzip")
    }
    guard result.count <= limit else { throw .tooLarge }
    return result
  }

  /// The zlib format (RFC 1950), as RFC 9110 requires, or the bare deflate format (RFC 1951), which some servers send.
  private static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    for windowBits: CInt in [15, -15] {
      var result: [UInt8] = []
      let isWhole = inflate(bytes, windowBits: windowBits, limit: limit, isRepeated: false, to: &result)
      guard result.count <= limit else { throw .tooLarge }
      if isWhole { return result }
    }
    throw .malformed(coding: "deflate")
  }

  /// Appends the content of one stream or of several in sequence. It stops when the result exceeds the limit.
  ///
  /// Each stream continues in the same buffer, because a body can contain many thousands of empty ones.
  ///
  /// - Returns: whether the bytes consist of complete streams, or the limit is exceeded.
  private static func inflate(
    _ bytes: [UInt8], windowBits: CInt, limit: Int, isRepeated: Bool, to result: inout [UInt8]
  ) -> Bool {
    var stream = z_stream()
    let size = CInt(MemoryLayout<z_stream>.size)
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else { return false }
    defer { inflateEnd(&stream) }
    // zlib does not write to the input.
    var input = bytes
    var buffer = [UInt8](repeating: 0, count: 32 << 10)
    return input.withUnsafeMutableBufferPointer { input in
      buffer.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = uInt(input.count)
        while true {
          stream.next_out = output.baseAddress
          stream.avail_out = uInt(output.count)
          let code = CZlib.inflate(&stream, Z_NO_FLUSH)
          result += output[..<(output.count - Int(stream.avail_out))]
          guard result.count <= limit else { return true }
          switch code {
          case Z_STREAM_END:
            guard stream.avail_in > 0 else { return true }
            guard isRepeated, inflateReset(&stream) == Z_OK else { return false }
          // Without progress, the stream is incomplete: zlib then returns Z_BUF_ERROR.
          case Z_OK: continue
          default: return false
          }
        }
      }
    }
  }
}
