#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Removes the temporary files of downloads whose process was killed. Each download removes those of earlier
/// downloads to the same path.
///
/// A temporary file belongs to the process that holds its lock (flock(2)). The kernel releases the lock when
/// that process ends.
extension DownloadFile {
  /// Locks a newly created temporary file without blocking the loop.
  ///
  /// - Returns: whether the file belongs to the caller. Before the lock was taken, another process may have
  ///   mistaken the file for a leftover and removed it, or may be about to remove it.
  static func claim(_ descriptor: CInt) -> Bool {
    // On a file system without locks, leftovers are not removed.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
    var status = stat()
    return fstat(descriptor, &status) != 0 || status.st_nlink > 0
  }

  /// Removes temporary files that processes left behind when they were killed.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names of all temporary files for one destination.
  ///   - replaced: the file at the destination. As root, ferry gives its owner to the temporary files.
  ///   - own: the path of the caller's temporary file.
  static func removeLeftovers(
    in folder: String, prefix: String, replacing replaced: ReplacedFile, but own: String
  ) {
    for bytes in LeftoverNames.shared.names(in: folder, prefix: prefix) {
      let name = String(decoding: bytes, as: UTF8.self)
      guard !(folder + name).utf8.elementsEqual(own.utf8) else { continue }
      removeLeftover(folder + name, replacing: replaced)
    }
  }

  /// Removes a temporary file, unless a process uses it.
  ///
  /// - Returns: whether it was removed.
  @discardableResult
  static func removeLeftover(_ path: String, replacing replaced: ReplacedFile) -> Bool {
    // O_NONBLOCK: opening a FIFO would wait for its writer and block the loop.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var (status, entry) = (stat(), stat())
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      // In a world-writable folder, another user may be downloading to the same name, or may own an unrelated
      // file with a matching name.
      status.st_uid == geteuid() || status.st_uid == replaced.owner
    else { return false }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && lstat(path, &entry) == 0
      && entry.isSameEntry(as: status)
      && unlink(path) == 0
  }
}
