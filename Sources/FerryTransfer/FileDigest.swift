import FerryDigest
import FerryPlan

/// The digest of a file that must stay as it was listed while it is read.
package enum FileDigest {
  /// Read at a time.
  private static let piece = 256 << 10

  /// - Parameter isStopped: asked before each piece of 256 KiB.
  /// - Returns: 32 bytes; `nil` where it was stopped.
  /// - Throws: `sourceMissing`, `sourceUnreadable` or `sourceChanged`, as an attempt to send the file would.
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
