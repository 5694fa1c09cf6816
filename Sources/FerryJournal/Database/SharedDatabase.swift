import FerryPlan
import GRDB

/// A connection to `ferry.db`, which all processes of the user share.
///
/// The history, the ledger and the inbox each have a separate connection, because their commits reach the
/// disk at different times.
struct SharedDatabase: Sendable {
  let path: String
  private let queue: DatabaseQueue
  private let closer: DatabaseCloser
  /// Keeps the private copy until the connection is released.
  private let snapshot: DatabaseSnapshot?

  private init(path: String, queue: DatabaseQueue, snapshot: DatabaseSnapshot?) {
    self.path = path
    self.queue = queue
    closer = DatabaseCloser(queue)
    self.snapshot = snapshot
  }

  /// - Parameter isShared: whether processes on several machines use the file; `nil` if that depends on the folder.
  static func open(
    in state: StateDirectory, durability: DatabaseFile.Durability, isShared: Bool? = nil,
    writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> SharedDatabase {
    try state.create()
    // Two processes that create or migrate the file at the same time would conflict.
    let isShared = if let isShared { isShared } else { try state.isOfShard }
    let lock = try OpeningLock(
      state.path + "/ferry.lock", patience: isShared ? DatabaseFile.sharedPatience : DatabaseFile.patience)
    defer { lock.release() }
    let queue = try DatabaseFile(path: state.history, schema: .history, isShared: isShared)
      .openForWriting(durability: durability, writtenBy: ferry, at: now)
    return SharedDatabase(path: state.history, queue: queue, snapshot: nil)
  }

  /// Opens an existing file for reading without changing its folder. If there is no file, the database is
  /// empty.
  static func openForReading(in state: StateDirectory) throws(JournalError) -> SharedDatabase {
    let file = DatabaseFile(path: state.history, schema: .history)
    if let snapshot = try DatabaseSnapshot.open(file) {
      return SharedDatabase(path: state.history, queue: snapshot.queue, snapshot: snapshot)
    }
    return SharedDatabase(path: state.history, queue: try DatabaseFile.inMemory(.history), snapshot: nil)
  }

  func close() throws(JournalError) {
    do {
      try queue.close()
    } catch {
      throw JournalError(error, file: path)
    }
  }

  /// Runs one immediate transaction.
  func write<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    do {
      return try queue.writeWithoutTransaction { try $0.inImmediateTransaction(body) }
    } catch {
      throw JournalError(error, file: path, on: queue)
    }
  }

  func read<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    do {
      return try queue.read(body)
    } catch {
      throw JournalError(error, file: path)
    }
  }
}
