import FerryPlan
import Foundation

extension SessionLock {
  /// Who holds a session, as its lock file says.
  package struct Holder: Hashable, Sendable {
    /// `nil` in the moment before the holder has written it.
    package var pid: Int32?
    package var since: Instant?
  }

  /// Who holds the session now; `nil` where nobody does. The lock is not touched, so nobody is kept from it.
  ///
  /// Linux tells of locks in `/proc/locks`; elsewhere the process that the file names must be alive.
  package static func holder(
    session identifier: String, in state: StateDirectory
  ) throws(JournalError) -> Holder? {
    let path = try state.lock(ofSession: identifier)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT || errno == ENOTDIR else {
        throw JournalError(errno: errno, doing: "read", file: path)
      }
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw JournalError(errno: errno, doing: "stat", file: path)
    }
    let written = read(descriptor)
    // No such file: this is not Linux.
    if let table = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) {
      guard isLocked(status, by: written.pid, in: table) else { return nil }
    } else {
      guard let pid = written.pid, kill(pid, 0) == 0 || errno == EPERM else { return nil }
    }
    return Holder(pid: written.pid, since: written.since)
  }

  /// Whether a line of proc(5) `locks` is of this file: `1: FLOCK ADVISORY WRITE 708 fe:00:131 0 EOF`.
  ///
  /// Some file systems show another device there than stat(2) gives: then the process has to be the one that the
  /// file names.
  static func isLocked(_ status: stat, by pid: Int32?, in table: String) -> Bool {
    let device = UInt64(status.st_dev)
    // The kernel's own form of dev_t (makedev(3)).
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    return table.split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      // A line of a process that waits has `->` behind its number.
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE" else { return false }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt64(place[2]) == UInt64(status.st_ino) else { return false }
      if UInt64(place[0], radix: 16) == major, UInt64(place[1], radix: 16) == minor { return true }
      return pid != nil && Int32(words[4]) == pid
    }
  }
}
