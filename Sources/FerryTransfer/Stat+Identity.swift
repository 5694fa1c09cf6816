import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension stat {
  /// Nanoseconds since 1970: by them a file is known again.
  ///
  /// They wrap around outside the years 1677 to 2262, which a file may well be of (touch(1)); one of those is known
  /// again all the same.
  package var modifiedNanoseconds: Int64 {
    #if canImport(Darwin)
    Int64(st_mtimespec.tv_sec) &* 1_000_000_000 &+ Int64(st_mtimespec.tv_nsec)
    #else
    Int64(st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(st_mtim.tv_nsec)
    #endif
  }

  /// Device and inode in one number, which is never 0: whether a name still leads to the file that was listed.
  ///
  /// The device is mixed in because a root may have other file systems below it. What is on one device is told apart
  /// by its inodes alone.
  package var identity: UInt64 {
    let mixed =
      UInt64(truncatingIfNeeded: st_ino) ^ (UInt64(truncatingIfNeeded: st_dev) &* 0x9E37_79B9_7F4A_7C15)
    return mixed == 0 ? 1 : mixed
  }

  /// Whether this is the same inode, unchanged since the other look.
  func isSameEntry(as other: stat) -> Bool {
    #if canImport(Darwin)
    let (changed, otherChanged) = (st_ctimespec, other.st_ctimespec)
    #else
    let (changed, otherChanged) = (st_ctim, other.st_ctim)
    #endif
    return st_dev == other.st_dev && st_ino == other.st_ino && changed.tv_sec == otherChanged.tv_sec
      && changed.tv_nsec == otherChanged.tv_nsec
  }
}

extension FileVersion {
  package init(_ status: stat) {
    self.init(identity: status.identity, size: Int64(status.st_size), modified: status.modifiedNanoseconds)
  }

  /// Of the file of this name, without following a link; `nil` where there is none.
  package init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}
