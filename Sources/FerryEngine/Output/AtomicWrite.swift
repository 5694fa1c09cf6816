import FerryPlan
import FerryTransfer
import Foundation

/// Writes all bytes to a file or to an open descriptor.
package enum AtomicWrite {
  /// The access permissions of a new file.
  enum Access {
    /// The mode of the replaced file; for a new file, the default mode according to the umask.
    case ofReplaced
    /// Only the user has access, regardless of the umask and the replaced file.
    case userOnly
    /// Likewise, for a program.
    case userOnlyProgram
  }

  /// The state of a file after a power failure.
  enum Durability {
    /// Either the new file or the replaced file remains.
    case synced
    /// The file may be empty. This suits files that have no meaning after a restart of the system.
    case notSynced
  }

  /// The number of bytes per write to a pipe. If poll(2) reports room, a write of this size does not block
  /// (pipe(7), PIPE_BUF).
  private static let pipePiece = 4096

  /// Writes a file next to the destination, syncs it unless `durability` is `notSynced`, and renames it, so that an
  /// incomplete file is never visible.
  ///
  /// - Returns: the error number if the file could not be written; in that case, the previous file is unchanged.
  static func failure(
    of bytes: [UInt8], replacing path: String, access: Access, durability: Durability = .synced
  ) -> Int32? {
    failure(replacing: path, access: access, durability: durability) { failure(of: bytes, to: $0) }
  }

  /// Like `failure(of:replacing:access:durability:)`, for a file that is written piece by piece.
  ///
  /// - Parameter write: writes to a descriptor, and returns the error number if that fails.
  static func failure(
    replacing path: String, access: Access, durability: Durability = .synced,
    write: (_ descriptor: Int32) throws -> Int32?
  ) rethrows -> Int32? {
    let temporary = SplitPath(path).start + TemporaryName.anonymous
    let replaced = ReplacedFile(path)
    let mode: mode_t =
      switch access {
      case .ofReplaced: replaced.creationMode
      case .userOnly: 0o600
      case .userOnlyProgram: 0o700
      }
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { return errno }
    var failure: Int32?
    // Restrict access before the first byte is written.
    switch access {
    case .ofReplaced:
      let code = replaced.restrict(descriptor)
      if code != 0 { failure = code }
    case .userOnly, .userOnlyProgram:
      // The umask may have removed permissions that the user needs.
      if fchmod(descriptor, mode) != 0 { failure = errno }
    }
    if failure == nil {
      do {
        failure = try write(descriptor)
      } catch {
        close(descriptor)
        unlink(temporary)
        throw error
      }
    }
    switch durability {
    case .synced: if failure == nil, fsync(descriptor) != 0 { failure = errno }
    case .notSynced: break
    }
    // Some file systems report errors only when the file is closed.
    if close(descriptor) != 0, failure == nil { failure = errno }
    if failure == nil, rename(temporary, path) != 0 { failure = errno }
    if failure != nil { unlink(temporary) }
    return failure
  }

  /// Writes all bytes to an open file, pipe or terminal.
  ///
  /// - Parameter patience: the maximum time to wait for a reader that does not read; `nil` to wait indefinitely.
  /// - Returns: the error number if the bytes could not be written: EPIPE if the reader has closed the pipe,
  ///   ETIMEDOUT if the patience was exceeded.
  package static func failure(
    of bytes: [UInt8], to descriptor: Int32, patience: Duration? = nil
  ) -> Int32? {
    bytes.withUnsafeBufferPointer { failure(of: $0, to: descriptor, patience: patience) }
  }

  /// Like `failure(of:to:patience:)`, for bytes in memory.
  static func failure(
    of bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32, patience: Duration? = nil
  ) -> Int32? {
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let piece = patience == nil || isFile ? Int.max : pipePiece
    var rest = UnsafeRawBufferPointer(bytes)[...]
    while !rest.isEmpty {
      if patience != nil, !isFile, let code = wait(for: descriptor, patience) { return code }
      let count = write(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, min(rest.count, piece))
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A nonblocking pipe is full.
        if let code = wait(for: descriptor, patience) { return code }
      case let code: return code
      }
    }
    return nil
  }

  /// Waits until a write would not block. Returns an error number if the wait fails, or ETIMEDOUT if it exceeds the
  /// patience.
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
