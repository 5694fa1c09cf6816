import Foundation

/// Bytes that are written to the last one, to whatever an open descriptor is of.
package enum WholeWrite {
  /// Writes a file beside the place, syncs, and renames it, so that nobody reads half of it. The mode of what was
  /// there stays.
  ///
  /// - Returns: why it could not be written, as an error number; then what was there is as it was.
  static func failure(of bytes: [UInt8], replacing path: String) -> Int32? {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    // A name of its own: behind a long one there is no room for more.
    let temporary = folder + ".ferry-" + String(UInt64.random(in: .min ... .max), radix: 36)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return errno }
    var failure = failure(of: bytes, to: descriptor)
    var status = stat()
    if failure == nil, stat(path, &status) == 0, fchmod(descriptor, status.st_mode & 0o7777) != 0 {
      failure = errno
    }
    if failure == nil, fsync(descriptor) != 0 { failure = errno }
    // Some file systems tell only now.
    if close(descriptor) != 0, failure == nil { failure = errno }
    if failure == nil, rename(temporary, path) != 0 { failure = errno }
    if failure != nil { unlink(temporary) }
    return failure
  }

  /// - Returns: why they could not be written, as an error number; EPIPE where who reads has gone.
  package static func failure(of bytes: [UInt8], to descriptor: Int32) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A pipe that does not wait and is full.
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      case let code: return code
      }
    }
    return nil
  }
}
