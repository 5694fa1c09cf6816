import FerryPlan
import Foundation
import Synchronization

/// The open file `sessions/IDENT.commits` of a journal that is open for writing.
///
/// The file is written after each commit and after each sync of the log, and is never synced itself. A record that is
/// older than the journal detects fewer losses, but never reports a false one. Only the holder of the session's lock
/// writes the file.
final class CommitRecord: Sendable {
  private let path: String
  private let descriptor: Int32
  /// Protects the counts, which two threads change: one commits, the other syncs. The file is written under
  /// the same lock, so that it always contains the latest counts.
  private let counts: Mutex<CommitCounts>

  private init(path: String, descriptor: Int32, counts: CommitCounts) {
    self.path = path
    self.descriptor = descriptor
    self.counts = Mutex(counts)
  }

  deinit { close(descriptor) }

  /// Opens or creates the file with mode 0600, and writes the counts.
  static func open(_ path: String, counts: CommitCounts) throws(JournalError) -> CommitRecord {
    let descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    let record = CommitRecord(path: path, descriptor: descriptor, counts: counts)
    try record.change { $0 = counts }
    return record
  }

  /// The number of the next transaction, which the transaction stores as the journal's own count. The number
  /// does not exceed the maximum, which a damaged journal may already contain.
  var next: Int64 { counts.withLock { $0.committed } +| 1 }

  /// The number of committed transactions. A sync that starts now will cover all of them.
  var committed: Int64 { counts.withLock { $0.committed } }

  /// Records that the transaction `next` was committed.
  func recordCommit() throws(JournalError) { try change { $0.committed +|= 1 } }

  /// Records that a sync of these transactions has completed.
  func recordSync(through committed: Int64) throws(JournalError) {
    try change { $0.synced = max($0.synced, committed) }
  }

  /// Continues from the count that another process had reached before this one took over the journal.
  func takeOver(committed: Int64) throws(JournalError) {
    try change { $0.committed = committed }
  }

  private func change(_ body: (inout CommitCounts) -> Void) throws(JournalError) {
    let failure: Int32? = counts.withLock { counts in
      body(&counts)
      let bytes = counts.bytes
      let written = pwrite(descriptor, bytes, bytes.count, 0)
      if written == bytes.count { return nil }
      return written < 0 ? errno : ENOSPC
    }
    if let failure { throw JournalError(errno: failure, doing: "record a commit", file: path) }
  }
}

/// The content found at the path of a record.
enum StoredCommits: Equatable, Sendable {
  /// There is no file, or it is empty: the journal is new, was written by an older version of ferry, or a
  /// power failure destroyed the record.
  case missing
  case counts(CommitCounts)
  /// The file is not a record, or its checksum is wrong.
  case damaged

  /// The counts; `nil` if the record is damaged or missing.
  var counts: CommitCounts? {
    switch self {
    case .counts(let counts): counts
    case .missing, .damaged: nil
    }
  }

  static func read(_ path: String) throws(JournalError) -> StoredCommits {
    // If another user created a FIFO here, opening it must not block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return .missing }
      throw JournalError(errno: errno, doing: "read", file: path)
    }
    defer { close(descriptor) }
    // One extra byte detects a longer file, which is not a valid record.
    var bytes = [UInt8](repeating: 0, count: CommitCounts.length + 1)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw JournalError(errno: errno, doing: "read", file: path) }
    if count == 0 { return .missing }
    return CommitCounts(Array(bytes[..<count])).map(StoredCommits.counts) ?? .damaged
  }
}
