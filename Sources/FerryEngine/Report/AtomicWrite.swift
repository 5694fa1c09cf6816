import FerryPlan
import FerryTransfer
import Foundation

/// Bytes that are written to the last one, to whatever an open descriptor is of.
package enum AtomicWrite {
  /// Who may read and write a file that is written.
  enum Access {
    /// As the file that is replaced; a new one has the mode that the umask leaves.
    case ofReplaced
    /// The user alone, whatever the umask and the file that is replaced have.
    case userOnly
  }

  /// Of one write to a pipe: with room for so many bytes, which poll(2) reports, it does not wait (pipe(7), PIPE_BUF).
  private static let pipePiece = 4096

  /// Writes a file beside the place, syncs, and renames it, so that nobody reads half of it.
  ///
  /// - Returns: why it could not be written, as an error number; then what was there is as it was.
  static func failure(of bytes: [UInt8], replacing path: String, access: Access) -> Int32? {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    // A name of its own: behind a long one there is no room for more.
    let temporary = folder + ".ferry-" + String(UInt64.random(in: .min ... .max), radix: 36)
    let replaced = ReplacedFile(path)
    let mode: mode_t =
      switch access {
      case .ofReplaced: replaced.creationMode
      case .userOnly: 0o600
      }
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { return errno }
    var failure: Int32?
    // Before the first byte.
    switch access {
    case .ofReplaced:
      let code = replaced.restrict(descriptor)
      if code != 0 { failure = code }
    case .userOnly:
      // The umask may have taken bits that the user needs.
      if fchmod(descriptor, 0o600) != 0 { failure = errno }
    }
    if failure == nil { failure = Self.failure(of: bytes, to: descriptor) }
    if failure == nil, fsync(descriptor) != 0 { failure = errno }
    // Some file systems tell only now.
    if close(descriptor) != 0, failure == nil { failure = errno }
    if failure == nil, rename(temporary, path) != 0 { failure = errno }
    if failure != nil { unlink(temporary) }
    return failure
  }

  /// - Parameter patience: how long a reader may take nothing; without one it is waited for indefinitely.
  /// - Returns: why they could not be written, as an error number; EPIPE where who reads has gone, ETIMEDOUT where the
  ///   patience is over.
  package static func failure(
    of bytes: [UInt8], to descriptor: Int32, patience: Duration? = nil
  ) -> Int32? {
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let piece = patience == nil || isFile ? Int.max : pipePiece
    var rest = bytes[...]
    while !rest.isEmpty {
      if patience != nil, !isFile, let code = wait(for: descriptor, patience) { return code }
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, min($0.count, piece)) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A pipe that does not wait and is full.
        if let code = wait(for: descriptor, patience) { return code }
      case let code: return code
      }
    }
    return nil
  }

  /// Waits until a write would not; the error's number where it cannot, or for longer than the patience.
  private static func wait(for descriptor: Int32, _ patience: Duration?) -> Int32? {
    let deadline = patience.map { ContinuousClock.now + $0 }
    while true {
      var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      let milliseconds = left.map { max(0, Int32(clamping: Int64($0.seconds * 1000))) } ?? -1
      let count = poll(&wait, 1, milliseconds)
      if count > 0 { return nil }
      if count == 0 { return ETIMEDOUT }
      guard errno == EINTR else { return errno }
    }
  }
}
