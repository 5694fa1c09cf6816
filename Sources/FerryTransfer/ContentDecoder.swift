import CZlib

/// Decodes the content codings gzip and deflate (RFC 9110, section 8.4.1), with bounded output.
///
/// libcurl can decode a body while it receives it, but then its sizes are those of the decoded body, which cannot be
/// compared with `Content-Length` and budgets.
package enum ContentDecoder {
  /// The value of `Accept-Encoding`.
  package static let accepted = "gzip, deflate"

  package enum Failure: Error, Equatable {
    /// The decoded body is larger than the limit.
    case tooLarge
    /// The bytes are not in this coding, or they are incomplete.
    case malformed(coding: String)
    case unknown(coding: String)
  }

  /// The maximum number of codings of a body.
  private static let mostCodings = 4

  /// - Parameters:
  ///   - codings: in the order in which the server applied them, in lowercase.
  ///   - limit: the maximum size of the result of each coding, in bytes.
  package static func decode(_ body: [UInt8], _ codings: [String], limit: Int) throws(Failure) -> [UInt8] {
    let applied = codings.filter { $0 != "identity" }
    guard applied.count <= mostCodings else { throw .unknown(coding: "many codings") }
    var bytes = body
    for coding in applied.reversed() {
      switch coding {
      case "gzip": bytes = try gunzip(bytes, limit: limit)
      case "deflate": bytes = try inflate(bytes, limit: limit)
      default: throw .unknown(coding: coding)
      }
    }
    return bytes
  }

  /// One or more gzip members (RFC 1952, section 2.2).
  private static func gunzip(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var (result, rest) = ([UInt8](), bytes[...])
    repeat {
      guard let count = inflate(rest, windowBits: 15 + 16, limit: limit, to: &result) else {
        throw .malformed(coding: "gzip")
      }
      guard result.count <= limit else { throw .tooLarge }
      rest = rest.dropFirst(count)
    } while !rest.isEmpty
    return result
  }

  /// The zlib format (RFC 1950), as RFC 9110 requires, or the bare deflate format (RFC 1951), which some servers send.
  private static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    for windowBits: CInt in [15, -15] {
      var result: [UInt8] = []
      let count = inflate(bytes[...], windowBits: windowBits, limit: limit, to: &result)
      guard result.count <= limit else { throw .tooLarge }
      if count == bytes.count { return result }
    }
    throw .malformed(coding: "deflate")
  }

  /// Appends the content of one stream. It stops when the result exceeds the limit.
  ///
  /// - Returns: the number of bytes of the stream, or of all bytes if the limit is exceeded; `nil` if the stream is
  ///   malformed or incomplete.
  private static func inflate(
    _ bytes: ArraySlice<UInt8>, windowBits: CInt, limit: Int, to result: inout [UInt8]
  ) -> Int? {
    var stream = z_stream()
    let size = CInt(MemoryLayout<z_stream>.size)
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    // zlib does not write to the input.
    var input = Array(bytes)
    var buffer = [UInt8](repeating: 0, count: 32 << 10)
    return input.withUnsafeMutableBufferPointer { input -> Int? in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      while true {
        let (code, count) = buffer.withUnsafeMutableBufferPointer { output in
          stream.next_out = output.baseAddress
          stream.avail_out = uInt(output.count)
          return (CZlib.inflate(&stream, Z_NO_FLUSH), output.count - Int(stream.avail_out))
        }
        result += buffer[..<count]
        guard result.count <= limit else { return input.count }
        switch code {
        case Z_STREAM_END: return input.count - Int(stream.avail_in)
        // Without progress, the stream is incomplete: zlib then returns Z_BUF_ERROR.
        case Z_OK: continue
        default: return nil
        }
      }
    }
  }
}
