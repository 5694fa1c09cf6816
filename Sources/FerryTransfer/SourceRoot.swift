import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The folder in which an upload's files are listed, held open. Files are opened only beneath it.
///
/// A symbolic link may lead to another file in the folder, as it may when files are listed. Links that lead
/// out of the folder are not followed, even if a link replaced a file or a folder after the listing.
package final class SourceRoot: Sendable {
  /// The reason why a file could not be opened.
  package enum OpenFailure: Error {
    case system(CInt)
    /// A link, or `..`, leads out of the root.
    case leavesRoot
    /// The path leads through more components than ferry looks up (`LookupBudget`).
    case tooManySteps
  }

  /// The path as given: absolute, or relative to the working directory, without a trailing slash.
  package let path: [UInt8]
  /// The path with all links resolved.
  package let real: [UInt8]
  /// The components of `real`.
  let realComponents: [[UInt8]]
  /// The components of `path`; those of `real` if `path` is relative.
  let givenComponents: [[UInt8]]
  let descriptor: CInt
  /// The device of the root's file system; `nil` if the system does not provide it.
  package let device: UInt64?
  /// Whether the kernel supports openat2(2) and no container filter blocks it.
  private let hasOpenBeneath: Bool

  /// The maximum number of attempts to open a file whose path is being renamed or mounted over. openat2(2)
  /// then reports EAGAIN.
  private static let tries = 16

  /// Opens the folder. In a world-writable folder, a link is followed only if it belongs to this user or to
  /// the folder's owner.
  package init(_ path: [UInt8]) throws(FolderPath.Failure) {
    let found = try FolderPath.descriptor(of: path, trusting: .foreignFolders)
    defer { close(found) }
    let opened = openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw .system(errno) }
    self.path = path
    descriptor = opened
    var status = stat()
    device = fstat(opened, &status) == 0 ? UInt64(status.st_dev) : nil
    real = Self.realPath(path) ?? path
    realComponents = Self.components(real)
    givenComponents = path.first == Self.slash ? Self.components(path) : realComponents
    let probe = ferry_open_beneath(opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 1)
    hasOpenBeneath = probe >= 0
    if probe >= 0 { close(probe) }
  }

  deinit { close(descriptor) }

  /// Opens another descriptor of the folder, for reading; the caller closes it. Returns -1 and sets `errno`
  /// on failure.
  package func openFolder() -> CInt { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

  /// Whether both roots are the same folder, compared by device and inode.
  package func isSameFolder(as other: SourceRoot) -> Bool {
    var (own, others) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && fstat(other.descriptor, &others) == 0
      && own.st_dev == others.st_dev && own.st_ino == others.st_ino
  }

  /// Opens a file in the folder for reading, without waiting for the writer of a FIFO.
  ///
  /// - Parameter relative: the file's path beneath the folder.
  func openFile(_ relative: [UInt8]) throws(OpenFailure) -> CInt {
    // A NUL would end the path early.
    guard !relative.contains(0) else { throw .system(ENOENT) }
    for _ in 0..<(hasOpenBeneath ? Self.tries : 0) {
      let opened = relative.withPath { ferry_open_beneath(descriptor, $0, Self.flags, 1) }
      if opened >= 0 { return opened }
      let code = errno
      if code == EAGAIN { continue }
      // A link with an absolute target, or one that leaves the root and returns, may still lead to a file
      // in the root.
      guard code == EXDEV else { throw .system(code) }
      break
    }
    return try openThroughLinks(relative, Self.flags).descriptor
  }

  /// Opens a folder in the root for reading, like `openFile`, and returns the owners of the links in its path.
  package func openFolder(
    _ relative: [UInt8]
  ) throws(OpenFailure) -> (descriptor: CInt, linkOwners: [uid_t]) {
    try openThroughLinks(relative, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  // O_NONBLOCK: opening a FIFO would wait for its writer and block the loop.
  private static let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY

  /// Opens what a path leads to, without letting the kernel follow a link.
  private func openThroughLinks(
    _ relative: [UInt8], _ flags: CInt
  ) throws(OpenFailure) -> (descriptor: CInt, linkOwners: [uid_t]) {
    var traversal = PathTraversal(self, limit: LookupBudget.pathLimit)
    let name = try traversal.follow(relative) ?? [Self.dot]
    let opened = name.withPath { openat(traversal.folder, $0, flags | O_NOFOLLOW) }
    guard opened >= 0 else {
      // A link has replaced the file since the traversal reached it.
      if errno == ELOOP { throw .leavesRoot }
      throw .system(errno)
    }
    return (opened, traversal.linkOwners)
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// Returns `nil` and sets `errno` if the path does not exist.
  private static func realPath(_ path: [UInt8]) -> [UInt8]? {
    guard let found = path.withPath({ realpath($0, nil) }) else { return nil }
    defer { free(found) }
    return Array(UnsafeRawBufferPointer(start: found, count: strlen(found)))
  }
}
