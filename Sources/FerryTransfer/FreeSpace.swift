#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The free space of the file system of an open file.
struct FreeSpace {
  /// The number of bytes that this user may still write.
  var available: Int64
  /// The number of bytes that a download leaves free, so that a server cannot fill the disk on which
  /// journals and logs are written: one percent of the file system, at most 64 MiB.
  var reserve: Int64

  /// Returns `nil` if the file system does not report its free space.
  init?(_ descriptor: CInt) {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
    let block = UInt64(status.f_frsize)
    available = Self.bytes(UInt64(status.f_bavail), block)
    reserve = min(Self.bytes(UInt64(status.f_blocks), block) / 100, 64 << 20)
  }

  private static func bytes(_ blocks: UInt64, _ size: UInt64) -> Int64 {
    let (bytes, isTooMany) = blocks.multipliedReportingOverflow(by: size)
    return isTooMany ? .max : Int64(clamping: bytes)
  }
}
