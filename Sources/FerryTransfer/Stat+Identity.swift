import FerryPlan
import FerryProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension stat {
  /// The device and inode combined in one number, which is never 0. It shows whether a path still leads to
  /// the listed file.
  /// The device is included because a root may contain other file systems. Files on one device differ by
  /// their inodes alone.
  package var identity: UInt64 {
    let mixed =
      UInt64(truncatingIfNeeded: st_ino) ^ (UInt64(truncatingIfNeeded: st_dev) &* 0x9E37_79B9_7F4A_7C15)
    return mixed == 0 ? 1 : mixed
  }

  /// The identity of a listed file, given the status of the file. If the listed name is a symbolic link, the identity
  /// differs from that of the file, so that the link is not confused with the file itself.
  package func identity(throughLink isLink: Bool) -> UInt64 {
    guard isLink else { return identity }
    return ~identity == 0 ? 1 : ~identity
  }

  /// The inode number, by which a file is recognized later. On a file system other than the root's, where
  /// inode numbers may be the same, it is combined with the device.
  ///
  /// - Parameter root: the device of the root; `nil` if unknown.
  package func inode(beneath root: UInt64?) -> UInt64 {
    root == nil || root == UInt64(st_dev) ? UInt64(st_ino) : identity
  }

  /// The inode by which a listed name is recognized later, given its status read without following a link. That of a link
  /// differs from that of any other file, to which the system may give the same number later.
  package func entryInode(beneath root: UInt64?) -> UInt64 {
    let inode = inode(beneath: root)
    return st_mode & S_IFMT == S_IFLNK ? ~inode : inode
  }

  /// The reason why a file of this size cannot be sent; `nil` if it can be. A sparse file can have any size, and larger
  /// numbers are not exact in JSON (RFC 8259, section 6).
  package var sizeRefusal: String? {
    st_size <= Self.largestFile
      ? nil : "its size is \(st_size) bytes, and the limit is \(Self.largestFile) (8 PiB)"
  }

  /// In bytes.
  private static let largestFile = 1 << 53

  /// Whether this is the same inode, unchanged since `other` was read.
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

  /// The status of the file with this name, without following a link; `nil` if there is none.
  package init?(path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}
