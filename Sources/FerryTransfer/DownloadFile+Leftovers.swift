#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Temporary files of downloads whose process was killed: the next download to the same place removes them.
///
/// A file belongs to whoever has it locked (flock(2)), and the kernel takes the lock from the dead.
extension DownloadFile {
  /// Locks a temporary file that was just made, and never waits: the loop would wait too.
  ///
  /// - Returns: whether it is the caller's; another process may have taken it for a leftover before it was locked, and
  ///   removed it or be about to.
  static func claim(_ descriptor: CInt) -> Bool {
    // A file system without locks has leftovers.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
    var status = stat()
    return fstat(descriptor, &status) != 0 || status.st_nlink > 0
  }

  /// - Parameters:
  ///   - prefix: what the names of temporary files for one destination begin with.
  ///   - own: the caller's, as a path.
  static func removeLeftovers(in folder: String, prefix: String, but own: String) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.utf8.starts(with: prefix.utf8), !(folder + name).utf8.elementsEqual(own.utf8) else {
        continue
      }
      // O_NONBLOCK: the open of a FIFO would wait for its writer, and the loop with it.
      let descriptor = open(folder + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(folder + name) }
    }
  }
}
