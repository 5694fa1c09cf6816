import FerryPlan
import Foundation
import Synchronization

/// The open file `sessions/IDENT.commits` of a journal that is written to.
///
/// It is written after each commit and after each sync of the log, and is never synced itself: a record that is older
/// than the journal detects less, and is never wrong. The holder of the session's lock has it alone.
final class CommitRecord: Sendable {
  private let path: String
  private let descriptor: Int32
  /// Two threads write: one commits, one syncs. The write is under the lock too, so that the file has the newest.
  private let counts: Mutex<CommitCounts>

  private init(path: String, descriptor: Int32, counts: CommitCounts) {
    self.path = path
    self.descriptor = descriptor
    self.counts = Mutex(counts)
  }

  deinit { close(descriptor) }

  /// Opens or creates the file, 0600, and writes the counts.
  static func open(_ path: String, counts: CommitCounts) throws(JournalError) -> CommitRecord {
    let descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    let record = CommitRecord(path: path, descriptor: descriptor, counts: counts)
    try record.change { $0 = counts }
    return record
  }

  /// The number of the next transaction, which the journal's own count takes in it. A count that a damaged journal has at
  /// the end of the range stays there.
  var next: Int64 { counts.withLock { $0.committed } +| 1 }

  /// Transactions that a sync covers that begins now.
  var committed: Int64 { counts.withLock { $0.committed } }

  /// The transaction `next` was committed.
  func recordCommit() throws(JournalError) { try change { $0.committed +|= 1 } }

  /// A sync that covers these transactions has ended.
  func recordSync(through committed: Int64) throws(JournalError) {
    try change { $0.synced = max($0.synced, committed) }
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

/// What lies in the place of a record.
enum StoredCommits: Equatable, Sendable {
  /// Nothing: the journal is new, an older ferry wrote it, or a power cut took the record.
  case missing
  case counts(CommitCounts)
  /// It is no record, or its checksum does not fit.
  case damaged

  /// Where it is damaged, nothing is known of the journal by it.
  var counts: CommitCounts? {
    switch self {
    case .counts(let counts): counts
    case .missing, .damaged: nil
    }
  }

  static func read(_ path: String) throws(JournalError) -> StoredCommits {
    // Another user's pipe there must not hold us up.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return .missing }
      throw JournalError(errno: errno, doing: "read", file: path)
    }
    defer { close(descriptor) }
    // One byte more: a longer file is no record.
    var bytes = [UInt8](repeating: 0, count: CommitCounts.length + 1)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw JournalError(errno: errno, doing: "read", file: path) }
    if count == 0 { return .missing }
    return CommitCounts(Array(bytes[..<count])).map(StoredCommits.counts) ?? .damaged
  }
}
