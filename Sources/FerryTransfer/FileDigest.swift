import FerryDigest
import FerryPlan

/// Computes the digest of a file. While the file is read, it must match its listing.
package enum FileDigest {
  /// Bytes per read.
  private static let piece = 256 << 10

  /// Computes the SHA-256 digest of a file or of a part of a file.
  ///
  /// - Parameter isStopped: called before each piece of 256 KiB.
  /// - Returns: 32 bytes; `nil` if stopped.
  /// - Throws: `sourceMissing`, `sourceUnreadable` or `sourceChanged`, like an attempt to send the file.
  package static func sha256(
    of source: TransferRequest.FileSource, isStopped: () -> Bool
  ) throws(TransportFailure) -> [UInt8]? {
    let file = try UploadFile(source)
    let size = Int(min(Int64(piece), max(source.size, 1)))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    let hasher = SHA256()
    var offset: Int64 = 0
    while offset < source.size {
      if isStopped() { return nil }
      let count = try file.read(at: offset, into: buffer)
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
    return hasher.finalize()
  }
}
