import FerryPlan
import GRDB
import GRDBSQLite

/// The prepared statements that execute `JournalWrite`s, inside one transaction.
///
/// They are stepped directly: GRDB's argument handling and observers cost more than SQLite's own work here.
struct JournalStatements {
  /// The only row of `session`.
  private static let session: Int64 = 1

  private let db: Database
  private var prepared: [OpaquePointer?]

  init(_ db: Database) {
    self.db = db
    prepared = Array(repeating: nil, count: Statement.allCases.count)
  }

  private enum Statement: Int, CaseIterable {
    case insert, requeue, adopt, intent, commitIntent, withdraw, allocated, confirmedBytes, transferred,
      released, closed,
      closedAmbiguous
    case closedShared, captures, setCaptures, source, confirmed, after, afterTried
    case nodeIntent, nodeWithdraw, nodeClosed, fetchFailed, resumed, foreground, events
    case servers, orphaned, regained, orphanSettled, orphanDoubted, orphanKept

    /// A new delivery gets a new key.
    private static let noKey = "key_header = NULL, key_value = NULL"
    private static let noServers = "servers = NULL"

    var sql: String {
      switch self {
      case .insert:
        """
        INSERT INTO item (id, path, size, modified, node, round, handed_over, state)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)
        """
      case .requeue:
        """
        UPDATE item SET size = ?2, modified = ?3, round = ?4, handed_over = ?5, state = 0, intent = NULL,
        expires = NULL, closed_at = NULL, captures = NULL, secret_captures = NULL, sha256 = NULL,
        failure_code = NULL, failure_status = NULL, failure_message = NULL, after = NULL, inode = NULL,
        root_device = NULL, root_inode = NULL, after_tried = NULL, confirmed_bytes = NULL, \(Self.noKey),
        \(Self.noServers) WHERE id = ?1
        """
      case .adopt: "UPDATE item SET round = ?2, handed_over = ?3 WHERE id = ?1"
      case .intent: "UPDATE item SET intent = ?2 WHERE id = ?1"
      case .commitIntent: "UPDATE item SET intent = ?2, key_header = ?3, key_value = ?4 WHERE id = ?1"
      case .withdraw: "UPDATE item SET intent = NULL WHERE id = ?1"
      case .allocated:
        """
        UPDATE item SET state = 1, intent = NULL, captures = ?2, secret_captures = ?3, expires = ?4,
        \(Self.noKey) WHERE id = ?1
        """
      case .confirmedBytes: "UPDATE item SET confirmed_bytes = ?2 WHERE id = ?1"
      case .transferred:
        "UPDATE item SET state = 2, intent = NULL, sha256 = ?2, \(Self.noKey) WHERE id = ?1"
      case .released:
        """
        UPDATE item SET state = 0, intent = NULL, captures = NULL, secret_captures = NULL, expires = NULL,
        sha256 = NULL, confirmed_bytes = NULL, \(Self.noKey), \(Self.noServers) WHERE id = ?1
        """
      case .closed:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, intent = NULL, captures = NULL, secret_captures = NULL, expires = NULL,
        \(Self.noKey), \(Self.noServers) WHERE id = ?1
        """
      case .closedShared:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, intent = NULL, expires = NULL, \(Self.noKey) WHERE id = ?1
        """
      case .closedAmbiguous:
        """
        UPDATE item SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6 WHERE id = ?1
        """
      case .captures: "SELECT captures, secret_captures FROM item WHERE id = ?1"
      case .setCaptures: "UPDATE item SET captures = ?2, secret_captures = ?3 WHERE id = ?1"
      case .source:
        """
        UPDATE item SET inode = coalesce(?2, inode), sha256 = coalesce(?3, sha256),
        root_device = CASE WHEN ?2 IS NULL THEN root_device ELSE ?4 END,
        root_inode = CASE WHEN ?2 IS NULL THEN root_inode ELSE ?5 END WHERE id = ?1
        """
      case .confirmed: "UPDATE item SET modified = ?2, sha256 = ?3 WHERE id = ?1 AND state = 3"
      case .after: "UPDATE item SET after = ?2, after_tried = NULL WHERE id = ?1"
      case .afterTried: "UPDATE item SET after_tried = 1 WHERE id = ?1"
      case .nodeIntent:
        """
        UPDATE node SET intent = 1, round = ?2, state = 0, closed_at = NULL, captures = NULL,
        secret_captures = NULL, failure_code = NULL, failure_status = NULL, failure_message = NULL
        WHERE id = ?1
        """
      case .nodeWithdraw: "UPDATE node SET intent = NULL WHERE id = ?1"
      case .nodeClosed:
        """
        UPDATE node SET state = ?2, closed_at = ?3, failure_code = ?4, failure_status = ?5,
        failure_message = ?6, round = ?7, captures = ?8, secret_captures = ?9,
        intent = CASE ?2 WHEN 5 THEN intent END,
        etag = CASE WHEN ?10 IS NULL THEN etag ELSE ?11 END,
        last_modified = CASE WHEN ?10 IS NULL THEN last_modified ELSE ?12 END,
        fetch_interval = CASE WHEN ?10 IS NULL THEN fetch_interval ELSE ?13 END,
        stored_file = CASE WHEN ?10 IS NULL THEN stored_file ELSE ?14 END,
        stored_from = CASE WHEN ?10 IS NULL THEN stored_from ELSE ?15 END,
        fresh_until = CASE WHEN ?10 IS NULL THEN fresh_until ELSE ?16 END,
        fetched_at = coalesce(?10, fetched_at),
        failed_at = CASE WHEN kind <> 2 OR ?2 = 3 THEN NULL WHEN ?2 IN (4, 5) THEN ?3 ELSE failed_at END
        WHERE id = ?1
        """
      case .fetchFailed:
        """
        UPDATE node SET round = ?2, state = 0, closed_at = NULL, failed_at = ?3, failure_code = ?4,
        failure_status = ?5, failure_message = ?6, intent = NULL, captures = NULL, secret_captures = NULL
        WHERE id = ?1
        """
      case .resumed: "UPDATE session SET delay_period = ?2, resumed_at = ?3 WHERE id = ?1"
      case .foreground: "UPDATE session SET foreground_at = ?2 WHERE id = ?1"
      case .events: "UPDATE session SET events_pending = ?2 WHERE id = ?1"
      case .servers: "UPDATE item SET servers = ?2 WHERE id = ?1"
      case .orphaned:
        OrphanRow.insert(id: "?2", reason: "?3", inDoubt: "?4", at: "?5", where: "id = ?1")
      case .regained:
        """
        DELETE FROM orphan WHERE node = (SELECT node FROM item WHERE id = ?1) AND captures IS ?2
        AND secret_captures IS ?3 AND in_doubt = 0 AND servers IS (SELECT servers FROM item WHERE id = ?1)
        """
      case .orphanSettled: "DELETE FROM orphan WHERE id = ?1"
      case .orphanDoubted: "UPDATE orphan SET in_doubt = 1 WHERE id = ?1"
      case .orphanKept:
        """
        UPDATE orphan SET tried_at = ?3, failure_code = ?4, failure_status = ?5, failure_message = ?6
        WHERE id = ?1
        """
      }
    }
  }

  mutating func perform(_ write: JournalWrite) throws {
    switch write {
    case .insert(let node, let round, let handedOver, let firstRow, let files):
      try insert(files, from: 0, to: files.count, node, round, handedOver, firstRow)
    case .requeue(let round, let handedOver, let files, let firstOrphan):
      let statement = try handle(.requeue)
      bind(statement, 4, round)
      bind(statement, 5, handedOver.nanoseconds)
      for (index, file) in files.enumerated() {
        if let firstOrphan {
          try orphan(row: file.row, as: firstOrphan + Int64(index), .requeued, isInDoubt: nil, at: handedOver)
        }
        bind(statement, 2, file.size)
        bind(statement, 3, file.modified)
        try update(statement, row: file.row)
      }
    case .adopt(let round, let handedOver, let rows):
      let statement = try handle(.adopt)
      bind(statement, 2, round)
      bind(statement, 3, handedOver.nanoseconds)
      for row in rows { try update(statement, row: row) }
    case .intent(let row, let step, let key):
      let statement = try handle(step == .commit ? .commitIntent : .intent)
      bind(statement, 2, Int64(step.rawValue))
      if step == .commit {
        bind(statement, 3, text: key?.header)
        bind(statement, 4, text: key?.value)
      }
      try update(statement, row: row)
    case .withdraw(let row):
      try update(handle(.withdraw), row: row)
    case .allocated(let row, let captures, let expires):
      // The server may have issued the same ID again. An ID that is in use is not an orphan, unless it is in
      // doubt.
      let regained = try handle(.regained)
      bind(regained, 1, row)
      bind(regained, 2, captures: captures)
      try run(regained)
      let statement = try handle(.allocated)
      bind(statement, 2, captures: captures)
      bind(statement, 4, expires?.nanoseconds)
      try update(statement, row: row)
    case .confirmedBytes(let row, let bytes):
      let statement = try handle(.confirmedBytes)
      bind(statement, 2, bytes)
      try update(statement, row: row)
    case .servers(let row, let servers):
      let statement = try handle(.servers)
      bind(statement, 2, text: servers)
      try update(statement, row: row)
    case .transferred(let row, let captures, let sha256):
      if !captures.isEmpty { try add(captures, row: row) }
      let statement = try handle(.transferred)
      bind(statement, 2, blob: sha256)
      try update(statement, row: row)
    case .released(let row):
      try update(handle(.released), row: row)
    case .closed(let row, let state, let at, let failure, let keepsUploadID):
      let statement = try handle(
        state == .ambiguous ? .closedAmbiguous : keepsUploadID ? .closedShared : .closed)
      bind(statement, end: state, at: at, failure: failure)
      try update(statement, row: row)
    case .orphaned(let row, let orphan, let orphaning, let at):
      try self.orphan(row: row, as: orphan, orphaning.reason, isInDoubt: orphaning.isInDoubt, at: at)
    case .orphanSettled(let orphan):
      // The ID may be in use again, in which case the orphan no longer exists.
      let statement = try handle(.orphanSettled)
      bind(statement, 1, orphan)
      try run(statement)
    case .orphanDoubted(let orphan):
      let statement = try handle(.orphanDoubted)
      bind(statement, 1, orphan)
      try run(statement)
    case .orphanKept(let orphan, let failure, let at):
      let statement = try handle(.orphanKept)
      bind(statement, 1, orphan)
      bind(statement, 3, at.nanoseconds)
      bind(statement, 4, text: failure.code.rawValue)
      bind(statement, 5, failure.status.map { Int64($0) })
      bind(statement, 6, text: failure.message)
      try run(statement)
    case .source(let row, let inode, let root, let sha256):
      let statement = try handle(.source)
      bind(statement, 2, inode.map { Int64(bitPattern: $0) })
      bind(statement, 3, blob: sha256)
      bind(statement, 4, root.map { Int64(bitPattern: $0.device) })
      bind(statement, 5, root.map { Int64(bitPattern: $0.inode) })
      try update(statement, row: row)
    case .confirmed(let files):
      let statement = try handle(.confirmed)
      for file in files {
        bind(statement, 2, file.modified)
        bind(statement, 3, blob: file.digest.bytes)
        try update(statement, row: file.row)
      }
    case .after(let row, let state):
      let statement = try handle(.after)
      bind(statement, 2, Int64(state.rawValue))
      try update(statement, row: row)
    case .afterTried(let row):
      try update(handle(.afterTried), row: row)
    case .nodeIntent(let node, let round):
      let statement = try handle(.nodeIntent)
      bind(statement, 2, round)
      try update(statement, row: node)
    case .nodeWithdraw(let node):
      try update(handle(.nodeWithdraw), row: node)
    case .nodeClosed(let node, let closing):
      let statement = try handle(.nodeClosed)
      bind(statement, end: closing.state, at: closing.at, failure: closing.failure)
      bind(statement, 7, closing.round)
      bind(statement, 8, captures: closing.captures)
      bind(statement, 10, closing.fetch?.fetchedAt.nanoseconds)
      bind(statement, 11, text: closing.fetch?.etag)
      bind(statement, 12, text: closing.fetch?.lastModified)
      bind(statement, 13, closing.fetch?.interval?.nanoseconds)
      bind(statement, 14, text: closing.fetch?.file?.description)
      bind(statement, 15, text: closing.fetch?.source)
      bind(statement, 16, closing.fetch?.freshUntil?.nanoseconds)
      try update(statement, row: node)
    case .fetchFailed(let node, let round, let failure, let at):
      let statement = try handle(.fetchFailed)
      bind(statement, 2, round)
      bind(statement, 3, at.nanoseconds)
      bind(statement, 4, text: failure.code.rawValue)
      bind(statement, 5, failure.status.map { Int64($0) })
      bind(statement, 6, text: failure.message)
      try update(statement, row: node)
    case .resumed(let period, let at):
      let statement = try handle(.resumed)
      // Without both the period and the time, there is no delay.
      bind(statement, 2, at == nil ? nil : period?.nanoseconds)
      bind(statement, 3, period == nil ? nil : at?.nanoseconds)
      try update(statement, row: Self.session)
    case .foreground(let moment):
      let statement = try handle(.foreground)
      bind(statement, 2, moment.nanoseconds)
      try update(statement, row: Self.session)
    case .events(let pending):
      let statement = try handle(.events)
      bind(statement, 2, pending ? 1 : 0)
      try update(statement, row: Self.session)
    }
  }

  /// Inserts rows `from ..< to` of one insert. A long insert is split into several transactions.
  mutating func insert(
    _ files: FileColumns, from: Int, to: Int, _ node: Int64, _ round: Int64, _ handedOver: Instant,
    _ firstRow: Int64
  ) throws {
    let statement = try handle(.insert)
    bind(statement, 5, node)
    bind(statement, 6, round)
    bind(statement, 7, handedOver.nanoseconds)
    try files.paths.withUnsafeBytes { paths in
      // The bytes outlive the statement's use of them, but not its bindings.
      defer { sqlite3_clear_bindings(statement) }
      for index in from..<to {
        let start = index == 0 ? 0 : files.ends[index - 1]
        let path = UnsafeRawBufferPointer(rebasing: paths[start..<files.ends[index]])
        bind(statement, 3, files.sizes[index])
        bind(statement, 4, files.modified[index])
        if let base = path.baseAddress, !path.isEmpty {
          sqlite3_bind_blob(statement, 2, base, Int32(path.count), nil)
        } else {
          sqlite3_bind_zeroblob(statement, 2, 0)
        }
        bind(statement, 1, firstRow + Int64(index))
        try run(statement)
      }
    }
  }

  /// Records the item's upload ID as an orphan, if it has one.
  ///
  /// - Parameter isInDoubt: `nil` if only the item's row determines the value.
  private mutating func orphan(
    row: Int64, as orphan: Int64, _ reason: OrphanReason, isInDoubt: Bool?, at: Instant
  ) throws {
    let statement = try handle(.orphaned)
    bind(statement, 1, row)
    bind(statement, 2, orphan)
    bind(statement, 3, Int64(reason.rawValue))
    bind(statement, 4, isInDoubt.map { $0 ? 1 : 0 })
    bind(statement, 5, at.nanoseconds)
    try run(statement)
  }

  /// Merges captures with the captures of earlier steps, for example a `Location` that changes with every
  /// step.
  private mutating func add(_ captures: [CapturedValue], row: Int64) throws {
    let select = try handle(.captures)
    bind(select, 1, row)
    let code = sqlite3_step(select)
    let open = code == SQLITE_ROW ? sqlite3_column_text(select, 0).map { String(cString: $0) } : nil
    let secret = code == SQLITE_ROW ? sqlite3_column_text(select, 1).map { String(cString: $0) } : nil
    sqlite3_reset(select)
    guard code == SQLITE_ROW || code == SQLITE_DONE else { throw db.failure(code) }
    guard let oldOpen = CaptureText.decode(open, secret: false),
      let oldSecret = CaptureText.decode(secret, secret: true)
    else {
      throw DatabaseError(
        resultCode: .SQLITE_CORRUPT, message: "item \(row) has captures that are not valid JSON")
    }
    let set = try handle(.setCaptures)
    bind(set, 2, captures: CaptureText.merge(oldOpen + oldSecret, captures))
    try update(set, row: row)
  }

  private mutating func handle(_ statement: Statement) throws -> OpaquePointer {
    if let handle = prepared[statement.rawValue] { return handle }
    // GRDB's cache keeps the statement prepared, and finalizes it before the connection closes.
    let handle = try db.cachedStatement(sql: statement.sql).sqliteStatement
    prepared[statement.rawValue] = handle
    return handle
  }

  private func update(_ statement: OpaquePointer, row: Int64) throws {
    bind(statement, 1, row)
    try run(statement)
    guard sqlite3_changes(db.sqliteConnection) == 1 else {
      throw DatabaseError(resultCode: .SQLITE_MISMATCH, message: "the row \(row) to update does not exist")
    }
  }

  private func run(_ statement: OpaquePointer) throws {
    let code = sqlite3_step(statement)
    guard code == SQLITE_DONE else {
      // The message describes the failed step; resetting the statement may replace it.
      let failure = db.failure(code)
      sqlite3_reset(statement)
      throw failure
    }
    sqlite3_reset(statement)
  }

  private func bind(_ statement: OpaquePointer, _ index: Int32, _ value: Int64?) {
    if let value {
      sqlite3_bind_int64(statement, index, value)
    } else {
      sqlite3_bind_null(statement, index)
    }
  }

  private func bind(_ statement: OpaquePointer, _ index: Int32, text: String?) {
    guard var text else {
      sqlite3_bind_null(statement, index)
      return
    }
    text.withUTF8 { bytes in
      _ = bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), copied)
      }
    }
  }

  private func bind(_ statement: OpaquePointer, _ index: Int32, blob: [UInt8]?) {
    guard let blob else {
      sqlite3_bind_null(statement, index)
      return
    }
    sqlite3_bind_blob(statement, index, blob, Int32(blob.count), copied)
  }

  /// Binds non-secret captures at `index`, and secret captures after it.
  private func bind(_ statement: OpaquePointer, _ index: Int32, captures: [CapturedValue]) {
    bind(statement, index, text: CaptureText.encode(captures, secret: false))
    bind(statement, index + 1, text: CaptureText.encode(captures, secret: true))
  }

  private func bind(_ statement: OpaquePointer, end state: ItemState, at: Instant, failure: RecordedFailure?)
  {
    bind(statement, 2, Int64(state.rawValue))
    bind(statement, 3, at.nanoseconds)
    bind(statement, 4, text: failure?.code.rawValue)
    bind(statement, 5, failure?.status.map { Int64($0) })
    bind(statement, 6, text: failure?.message)
  }

  /// SQLITE_TRANSIENT, a C macro that Swift cannot import: SQLite copies the bytes.
  private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension Database {
  /// The error of a statement that was stepped directly.
  func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage)
  }
}
