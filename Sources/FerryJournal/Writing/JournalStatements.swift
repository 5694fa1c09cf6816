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

  mutating func perform(_ write: JournalWrite) throws {
    switch write {
    case .insert(let node, let round, let handedOver, let firstRow, let files):
      try insert(files, from: 0, to: files.count, node, round, handedOver, firstRow)
    case .requeue(let round, let handedOver, let files, let firstOrphan):
      try requeue(files, round, handedOver, firstOrphan: firstOrphan)
    case .adopt(let round, let handedOver, let rows):
      let statement = try handle(.adopt)
      bind(statement, 2, round)
      bind(statement, 3, handedOver.nanoseconds)
      for row in rows { try update(statement, row: row) }
    case .intent(let row, let step, let key, _):
      try intend(step, key, row: row)
    case .withdraw(let row):
      try update(handle(.withdraw), row: row)
    case .allocated(let row, let captures, let expires):
      try allocate(captures, until: expires, row: row)
    case .confirmedBytes(let row, let bytes):
      try update(.confirmedBytes, row: row, to: bytes)
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
      try run(.orphanSettled, orphan: orphan)
    case .orphanDoubted(let orphan):
      try run(.orphanDoubted, orphan: orphan)
    case .orphanKept(let orphan, let failure, let at):
      let statement = try handle(.orphanKept)
      bind(statement, 1, orphan)
      bind(statement, at: at, failure: failure)
      try run(statement)
    case .source(let row, let inode, let root, let sha256):
      try keepSource(inode, root, sha256, row: row)
    case .confirmed(let files):
      let statement = try handle(.confirmed)
      for file in files {
        bind(statement, 2, file.modified)
        bind(statement, 3, blob: file.digest.bytes)
        try update(statement, row: file.row)
      }
    case .after(let row, let state):
      try update(.after, row: row, to: Int64(state.rawValue))
    case .afterTried(let row):
      try update(handle(.afterTried), row: row)
    case .nodeIntent(let node, let round):
      try update(.nodeIntent, row: node, to: round)
    case .nodeWithdraw(let node):
      try update(handle(.nodeWithdraw), row: node)
    case .nodeClosed(let node, let closing):
      try close(node, closing)
    case .fetchFailed(let node, let round, let failure, let at):
      let statement = try handle(.fetchFailed)
      bind(statement, 2, round)
      bind(statement, at: at, failure: failure)
      try update(statement, row: node)
    case .nodeFailing(let node, let round, let since):
      let statement = try handle(.nodeFailing)
      bind(statement, 2, round)
      bind(statement, 3, since?.nanoseconds)
      try update(statement, row: node)
    case .resumed(let period, let at):
      let statement = try handle(.resumed)
      // Without both the period and the time, there is no delay.
      bind(statement, 2, at == nil ? nil : period?.nanoseconds)
      bind(statement, 3, period == nil ? nil : at?.nanoseconds)
      try update(statement, row: Self.session)
    case .foreground(let moment):
      try update(.foreground, row: Self.session, to: moment.nanoseconds)
    case .events(let pending):
      try update(.events, row: Self.session, to: pending ? 1 : 0)
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

  /// Queues items again.
  ///
  /// - Parameter firstOrphan: the number under which the first item's upload ID is recorded as an orphan; the next items
  /// have the next numbers. `nil` if the items have no upload IDs.
  private mutating func requeue(
    _ files: [JournalWrite.Requeued], _ round: Int64, _ handedOver: Instant, firstOrphan: Int64?
  ) throws {
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
  }

  private mutating func intend(_ step: ItemStep, _ key: CommitKey?, row: Int64) throws {
    let statement = try handle(step == .commit ? .commitIntent : .intent)
    bind(statement, 2, Int64(step.rawValue))
    if step == .commit {
      bind(statement, 3, text: key?.header)
      bind(statement, 4, text: key?.value)
    }
    try update(statement, row: row)
  }

  private mutating func allocate(_ captures: [CapturedValue], until expires: Instant?, row: Int64) throws {
    // The server may have issued the same ID again. An ID that is in use is not an orphan, unless it is in
    // doubt.
    let texts = CaptureText.Pair(captures)
    let regained = try handle(.regained)
    bind(regained, 1, row)
    bind(regained, 2, captures: texts)
    try run(regained)
    let statement = try handle(.allocated)
    bind(statement, 2, captures: texts)
    bind(statement, 4, expires?.nanoseconds)
    try update(statement, row: row)
  }

  private mutating func keepSource(
    _ inode: UInt64?, _ root: FolderIdentity?, _ sha256: [UInt8]?, row: Int64
  ) throws {
    let statement = try handle(.source)
    bind(statement, 2, inode.map { Int64(bitPattern: $0) })
    bind(statement, 3, blob: sha256)
    bind(statement, 4, root.map { Int64(bitPattern: $0.device) })
    bind(statement, 5, root.map { Int64(bitPattern: $0.inode) })
    try update(statement, row: row)
  }

  private mutating func close(_ node: Int64, _ closing: NodeClosing) throws {
    let statement = try handle(.nodeClosed)
    bind(statement, end: closing.state, at: closing.at, failure: closing.failure)
    bind(statement, 7, closing.round)
    bind(statement, 8, captures: CaptureText.Pair(closing.captures))
    bind(statement, 10, closing.fetch?.fetchedAt.nanoseconds)
    bind(statement, 11, text: closing.fetch?.etag)
    bind(statement, 12, text: closing.fetch?.lastModified)
    bind(statement, 13, closing.fetch?.interval?.nanoseconds)
    bind(statement, 14, text: closing.fetch?.file?.description)
    bind(statement, 15, text: closing.fetch?.source)
    bind(statement, 16, closing.fetch?.freshUntil?.nanoseconds)
    try update(statement, row: node)
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
    bind(set, 2, captures: CaptureText.Pair(CaptureText.merge(oldOpen + oldSecret, captures)))
    try update(set, row: row)
  }

  private mutating func handle(_ statement: Statement) throws -> OpaquePointer {
    if let handle = prepared[statement.rawValue] { return handle }
    // GRDB's cache keeps the statement prepared, and finalizes it before the connection closes.
    let handle = try db.cachedStatement(sql: statement.sql).sqliteStatement
    prepared[statement.rawValue] = handle
    return handle
  }

  /// Sets one value of a row.
  private mutating func update(_ statement: Statement, row: Int64, to value: Int64) throws {
    let statement = try handle(statement)
    bind(statement, 2, value)
    try update(statement, row: row)
  }

  /// Changes an orphan, unless its ID is in use again. In that case, the orphan no longer exists.
  private mutating func run(_ statement: Statement, orphan: Int64) throws {
    let statement = try handle(statement)
    bind(statement, 1, orphan)
    try run(statement)
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
  private func bind(_ statement: OpaquePointer, _ index: Int32, captures: CaptureText.Pair) {
    bind(statement, index, text: captures.open)
    bind(statement, index + 1, text: captures.secret)
  }

  private func bind(_ statement: OpaquePointer, end state: ItemState, at: Instant, failure: RecordedFailure?)
  {
    bind(statement, 2, Int64(state.rawValue))
    bind(statement, at: at, failure: failure)
  }

  private func bind(_ statement: OpaquePointer, at: Instant, failure: RecordedFailure?) {
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
