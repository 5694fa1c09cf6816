import FerryPlan
import Foundation
import Synchronization

/// The kernel's lock on a session. Only one process runs a session at a time.
///
/// The lock belongs to an open file (an open file description lock, fcntl(2)). It is released when its process ends for
/// any reason, and its state can be queried without acquiring it. The text in the file is for human readers; only the
/// kernel's lock counts.
package final class SessionLock: Sendable {
  package enum Attempt: Sendable {
    case acquired(SessionLock)
    /// Another process holds the session. Both values, as read from the lock file, are `nil` until the holder
    /// has written them.
    case held(by: Int32?, since: Instant?)
  }

  /// What a process uses the session for.
  package enum Use: String, Sendable {
    /// A run. If a run of a shard is stopped, another process may take the shard over although the lock is held.
    case run
    /// A command that changes the journal, such as `ferry reset`.
    case command
  }

  package let path: String
  private let descriptor: Mutex<Int32?>

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = Mutex(descriptor)
  }

  deinit { release() }

  /// Acquires the lock, or returns its holder, without waiting.
  package static func `try`(
    session identifier: String, in state: StateDirectory, at now: Instant, for use: Use = .command
  ) throws(JournalError) -> Attempt {
    try state.create()
    let path = try state.lock(ofSession: identifier)
    let descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    while setLock(descriptor) != 0 {
      let code = errno
      if code == EINTR { continue }
      defer { close(descriptor) }
      guard code == EAGAIN || code == EACCES else {
        throw JournalError(errno: code, doing: "lock", file: path)
      }
      let holder = read(descriptor)
      return .held(by: holder.pid, since: holder.since)
    }
    return .acquired(try SessionLock(path: path, locked: descriptor, since: now, for: use))
  }

  /// Takes ownership of the open, locked file, and writes this process to it as the holder.
  convenience init(
    path: String, locked descriptor: Int32, since now: Instant, for use: Use
  ) throws(JournalError) {
    self.init(path: path, descriptor: descriptor)
    try write(since: now, use)
  }

  /// Releases the session. A second call has no effect.
  package func release() {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return }
      ftruncate(open, 0)
      close(open)
      descriptor = nil
    }
  }

  /// Linux's fcntl commands for open file description locks. glibc declares them only with _GNU_SOURCE.
  static let setOpenFileLock: Int32 = 37
  static let setOpenFileLockWaiting: Int32 = 38
  static let getOpenFileLock: Int32 = 36

  static func setLock(_ descriptor: Int32, _ command: Int32 = setOpenFileLock) -> Int32 {
    var lock = wholeFile(F_WRLCK)
    return fcntl(descriptor, command, &lock)
  }

  static func wholeFile(_ type: Int32) -> flock {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }

  private func write(since: Instant, _ use: Use) throws(JournalError) {
    let code: Int32 = descriptor.withLock { descriptor in
      guard let descriptor else { return EBADF }
      let text = "pid \(getpid())\nsince \(since.rfc3339.prefix(19))Z\nuse \(use.rawValue)\n"
      guard ftruncate(descriptor, 0) == 0 else { return errno }
      let written = text.utf8.withContiguousStorageIfAvailable {
        pwrite(descriptor, $0.baseAddress, $0.count, 0)
      }
      return written == text.utf8.count ? 0 : errno
    }
    guard code == 0 else { throw JournalError(errno: code, doing: "write", file: path) }
  }

  static func read(_ descriptor: Int32) -> Holder {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    var holder = Holder()
    for line in String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2 else { continue }
      switch words[0] {
      case "pid": holder.pid = Int32(words[1])
      case "since": holder.since = Instant(rfc3339: words[1])
      case "use": holder.use = Use(rawValue: String(words[1]))
      default: break
      }
    }
    return holder
  }
}
