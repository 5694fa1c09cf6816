import FerryPlan
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// One session's durable state: its nodes and items.
///
/// A process must hold the session's lock to write to the journal. During a run, only the run's writer writes to it.
package final class SessionJournal: Sendable {
  package let identifier: String
  /// The file, or `:memory:`.
  package let path: String
  package let isWritable: Bool
  /// Whether the journal is stored on disk. An ephemeral session's journal is not.
  package var isOnDisk: Bool { path != Self.inMemory }
  /// Whether writes are stored on disk.
  package var isDurable: Bool { isWritable && isOnDisk }

  private static let inMemory = ":memory:"

  let queue: DatabaseQueue
  /// Counts the commits; `nil` if the journal is in memory or read-only.
  let commits: CommitRecord?
  private let closer: DatabaseCloser
  private let snapshot: DatabaseSnapshot?
  /// Whether processes on several machines may use the file (`DatabaseFile.isShared`).
  let isShared: Bool
  /// The epoch of the lease with which this process owns the journal; `nil` without one.
  private let epoch = Mutex<Int64?>(nil)
  private enum Life { case open, closed }
  private let life = Mutex(Life.open)

  private init(
    identifier: String, path: String, isWritable: Bool, queue: DatabaseQueue,
    commits: CommitRecord? = nil, snapshot: DatabaseSnapshot? = nil, isShared: Bool = false
  ) {
    self.isShared = isShared
    self.identifier = identifier
    self.path = path
    self.isWritable = isWritable
    self.queue = queue
    self.commits = commits
    closer = DatabaseCloser(queue)
    self.snapshot = snapshot
  }

  /// Opens or creates the session's journal. The caller holds the session's lock.
  ///
  /// A journal that is missing, is empty, or has fewer transactions than were recorded (`CommitCounts`) is
  /// rejected and remains unchanged.
  ///
  /// - Parameters:
  ///   - known: returns the sessions that have a journal (`RunHistory.knownJournals`); called if the journal
  ///     is missing or empty.
  ///   - acceptsLoss: whether a journal that has lost transactions is opened anyway.
  package static func open(
    session identifier: String, in state: StateDirectory,
    known: @autoclosure () throws(JournalError) -> Set<String>, acceptsLoss: Bool = false,
    writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> SessionJournal {
    try state.create()
    let path = try state.database(ofSession: identifier)
    let stored = try StoredCommits.read(state.commits(ofSession: identifier)).counts
    // A loss is detected before the file is opened, because SQLite removes the log of an empty file.
    if let loss = try Self.loss(of: identifier, in: state, stored, known: known()) { throw loss }
    var found: Int64 = 0
    let isShared = try state.isOfShard
    let queue = try DatabaseFile(path: path, schema: .session, isShared: isShared).openForWriting(
      durability: .onRequest, writtenBy: ferry, at: now
    ) { db, verdict in
      found = try Self.transactions(db, verdict)
      if !acceptsLoss, let loss = Self.loss(in: path, stored, found: found) { throw loss }
      try OpeningCheck.pages(db, file: path)
    }
    do throws(JournalError) {
      if stored == nil, !isShared { try Self.settle(queue, path: path) }
      let boot = ProcessIdentity.currentBoot
      let counts = CommitCounts(committed: found, synced: min(stored?.synced ?? 0, found), boot: boot)
      let commits = try CommitRecord.open(state.commits(ofSession: identifier), counts: counts)
      return SessionJournal(
        identifier: identifier, path: path, isWritable: true, queue: queue, commits: commits,
        isShared: isShared)
    } catch {
      DatabaseCloser.abandon(queue)
      throw error
    }
  }

  /// Lets each transaction check that the lease still has this epoch.
  func own(epoch: Int64) { self.epoch.withLock { $0 = epoch } }

  /// The epoch that each transaction checks; `nil` if the journal has no lease.
  var ownedEpoch: Int64? { epoch.withLock(\.self) }

  /// Performs the checks of `open` and `checkRows` on a journal that was opened for reading, because
  /// `openForReading` also opens damaged journals.
  package func checkContent() throws(JournalError) {
    try access { try OpeningCheck.pages($0, file: self.path) }
    try checkRows()
  }

  /// Throws an error if the journal contains a row that affects a run and that no version of ferry writes.
  package func checkRows() throws(JournalError) {
    try access { try OpeningCheck.rows($0, file: self.path) }
  }

  /// Opens the session's journal like `open`, but does not create one. Returns `nil` if there is no journal
  /// and the session is not known to have had one.
  package static func openExisting(
    session identifier: String, in state: StateDirectory,
    known: @autoclosure () throws(JournalError) -> Set<String>, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> SessionJournal? {
    if try state.presence(ofSession: identifier) == .missing {
      let stored = try StoredCommits.read(state.commits(ofSession: identifier)).counts
      guard let loss = try Self.loss(of: identifier, in: state, stored, known: known()) else { return nil }
      throw loss
    }
    return try open(session: identifier, in: state, known: known(), writtenBy: ferry, at: now)
  }

  /// Opens an existing journal for reading without changing its folder. If there is no file, the journal is
  /// empty.
  ///
  /// - Parameter known: as for `open`. A lost journal is also rejected here.
  package static func openForReading(
    session identifier: String, in state: StateDirectory,
    known: @autoclosure () throws(JournalError) -> Set<String> = []
  ) throws(JournalError) -> SessionJournal {
    let path = try state.database(ofSession: identifier)
    for attempt in 1... {
      // The commit record is read first. The journal is therefore never older than the record, even while a process
      // writes to it.
      let stored = try StoredCommits.read(state.commits(ofSession: identifier)).counts
      let snapshot = try DatabaseSnapshot.open(DatabaseFile(path: path, schema: .session))
      var loss: JournalError?
      if let snapshot {
        // A count that cannot be read indicates damage. The caller detects the damage when it reads further,
        // and an export writes the remaining data.
        let found = try? snapshot.queue.read { try Self.transactions($0) }
        loss = found.flatMap { Self.loss(in: path, stored, found: $0) }
      } else {
        loss = try Self.loss(of: identifier, in: state, stored, known: known())
      }
      if let loss {
        // The file and its log were copied while a process ran a checkpoint.
        guard attempt < 3 else { throw loss }
        continue
      }
      let queue: DatabaseQueue
      if let snapshot {
        queue = snapshot.queue
      } else {
        queue = try DatabaseFile.inMemory(.session)
      }
      return SessionJournal(
        identifier: identifier, path: path, isWritable: false, queue: queue, snapshot: snapshot)
    }
    preconditionFailure("the last attempt returns or throws")
  }

  /// An ephemeral session's journal: the same tables, in memory.
  package static func ephemeral(session identifier: String) throws(JournalError) -> SessionJournal {
    let queue = try DatabaseFile.inMemory(.session)
    return SessionJournal(
      identifier: identifier, path: inMemory, isWritable: true, queue: queue)
  }

  /// The node with this identity. A writable journal adds it if it is missing. If it is missing in a journal
  /// opened for reading, the result has the ID 0 and no items.
  package func node(
    manifest: String, name: String, kind: NodeRow.Kind, origin: String
  ) throws(JournalError) -> NodeRow {
    try access { db in
      let identity: StatementArguments = [manifest, name, Int64(kind.rawValue), origin]
      if self.isWritable {
        try db.execute(
          sql: """
            INSERT INTO node (manifest, name, kind, origin) VALUES (?, ?, ?, ?)
            ON CONFLICT (manifest, name, kind, origin) DO NOTHING
            """,
          arguments: identity)
      }
      let known = try db.first(
        "SELECT * FROM node WHERE manifest = ? AND name = ? AND kind = ? AND origin = ?", identity,
        of: "node",
        in: self.path, self.node)
      return known
        ?? NodeRow(
          id: 0, manifest: manifest, name: name, kind: kind, origin: origin, round: 0, state: .queued,
          hasIntent: false, closedAt: nil, fetch: nil, captures: [], failure: nil)
    }
  }

  /// All nodes, in the order in which they were added.
  package var nodes: [NodeRow] {
    get throws(JournalError) {
      try access { db in
        try db.rows("SELECT * FROM node ORDER BY id", of: "node", in: self.path, self.node)
      }
    }
  }

  /// The next free item ID. The holder of the session's lock reads it once, and then assigns consecutive IDs
  /// itself.
  package var nextRow: Int64 {
    get throws(JournalError) {
      try access { db in
        let last = try Int64.fetchOne(db, sql: "SELECT coalesce(max(id), 0) FROM item") ?? 0
        guard last < ItemRow.mostNumber else {
          throw JournalError(.damaged, file: self.path, cause: "an item has the number \(last)")
        }
        return last + 1
      }
    }
  }

  /// Checks that every item belongs to a node. An item without a node would be overlooked, and its file
  /// would be sent again. The check looks up one item of each node.
  package func checkItems() throws(JournalError) {
    try access { db in
      let nodes = Set(
        try db.rows("SELECT id FROM node", of: "node", in: self.path) { try $0.value("id", as: Int64.self) })
      func next(_ condition: String, _ arguments: StatementArguments) throws -> Int64? {
        try db.first(
          "SELECT node FROM item INDEXED BY item_path WHERE \(condition) ORDER BY node LIMIT 1", arguments,
          of: "item",
          in: self.path
        ) { row in
          let node: Int64 = try row.value("node")
          guard nodes.contains(node) else { throw row.damaged("node", "\(node), but there is no such node") }
          return node
        }
      }
      // NULL sorts before every number; text and blobs sort after.
      guard var node = try next("1", []) else { return }
      while let following = try next("node > ?", [node]) { node = following }
    }
  }

  /// Calls `body` with each item of the node, in byte order of the paths (memcmp). Throws any error from
  /// `body`, or a `JournalError`.
  package func forEachItem(node: Int64, _ body: (borrowing ItemRow) throws -> Void) throws {
    try forEachItem(
      sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? ORDER BY path", node: node, body)
  }

  /// Calls `body` with each item of the node that is not delivered, in any order.
  package func forEachUndelivered(
    node: Int64, _ body: (borrowing ItemRow) -> Void
  ) throws(JournalError) {
    do {
      // Rows are read in storage order: with the index, each of a million rows would be looked up individually.
      try forEachItem(
        sql:
          "SELECT \(ItemRow.columns) FROM item NOT INDEXED WHERE node = ? AND state <> \(ItemState.done.rawValue)",
        node: node
      ) { item in body(item) }
    } catch {
      throw JournalError(error, file: path)
    }
  }

  func forEachItem(
    sql: String, node: Int64, _ body: (borrowing ItemRow) throws -> Void
  ) throws {
    try queue.writeWithoutTransaction { db in
      let statement: Statement
      do {
        statement = try db.cachedStatement(sql: sql)
      } catch {
        throw JournalError(error, file: path)
      }
      let handle = statement.sqliteStatement
      sqlite3_bind_int64(handle, 1, node)
      try forEachRow(handle, db, body)
    }
  }

  /// Calls `body` with each row of a statement that selects `ItemRow.columns`, and resets the statement.
  func forEachRow(
    _ statement: OpaquePointer, _ db: Database, _ body: (borrowing ItemRow) throws -> Void
  ) throws {
    defer { sqlite3_reset(statement) }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: try body(ItemRow(statement: statement, file: path))
      case SQLITE_DONE: return
      case let code: throw JournalError(db.failure(code), file: path)
      }
    }
  }

  /// Calls `body` with the item that has this path, if there is one. While a run writes to the journal, this
  /// waits for the current transaction.
  package func item(node: Int64, path: [UInt8], _ body: (borrowing ItemRow) throws -> Void) throws {
    try queue.writeWithoutTransaction { db in
      let statement: Statement
      do {
        statement = try db.cachedStatement(
          sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? AND path = ?")
        try statement.setArguments([node, Data(path)])
      } catch {
        throw JournalError(error, file: self.path)
      }
      try forEachRow(statement.sqliteStatement, db, body)
    }
  }

  /// The number of bytes of an item's file that the server has confirmed; `nil` if it has confirmed none.
  package func confirmedBytes(row: Int64) throws(JournalError) -> Int64? {
    try access { db in
      try Int64.fetchOne(db, sql: "SELECT confirmed_bytes FROM item WHERE id = ?", arguments: [row])
    }
  }

  /// Checkpoints the log into the file and closes the journal, which must not be used afterwards. A second
  /// call has no effect.
  package func close() throws(JournalError) {
    let wasOpen = life.withLock { life in
      defer { life = .closed }
      return life == .open
    }
    guard wasOpen else { return }
    do {
      try queue.close()
    } catch {
      throw JournalError(error, file: path)
    }
  }

  /// After a failed write or sync, leaves the files unchanged for the next process to recover.
  func abandon() {
    life.withLock { life in
      guard life == .open else { return }
      life = .closed
      if isDurable { DatabaseCloser.abandon(queue) }
    }
  }

  func access<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    do {
      return try queue.writeWithoutTransaction(body)
    } catch {
      throw JournalError(error, file: path, on: queue)
    }
  }
}

extension JournalRow {
  /// The captures: non-secret ones in the order of capture, then secret ones.
  var captures: [CapturedValue] {
    get throws { try captures("captures", secret: false) + captures("secret_captures", secret: true) }
  }

  private func captures(_ column: String, secret: Bool) throws -> [CapturedValue] {
    guard let values = CaptureText.decode(try optional(column), secret: secret) else {
      throw damaged(column, "not a JSON object of strings")
    }
    return values
  }

  var failure: RecordedFailure? {
    get throws {
      let code: String? = try optional("failure_code")
      let status: Int? = try optional("failure_status")
      let message: String? = try optional("failure_message")
      return code.map { RecordedFailure(code: .init(rawValue: $0), status: status, message: message ?? "") }
    }
  }
}
