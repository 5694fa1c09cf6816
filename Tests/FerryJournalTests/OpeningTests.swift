import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct OpeningTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  /// Leaves a journal with two items, as a killed process does.
  private func leave(log: Bool, sharedMemory: Bool) throws {
    let origin = try TemporaryState()
    let journal = try origin.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 2))
    ])
    if !log { try journal.close() }
    try state.directory.create()
    for suffix in [""] + (log ? ["-wal"] : []) + (sharedMemory ? ["-shm"] : []) {
      try FileManager.default.copyItem(atPath: journal.path + suffix, toPath: state.database() + suffix)
    }
    if log { try journal.close() }
  }

  @Test(arguments: [(false, false), (true, true), (true, false)])
  func readingForAPlanChangesNothingInTheFolder(log: Bool, sharedMemory: Bool) throws {
    try leave(log: log, sharedMemory: sharedMemory)
    let before = try state.contents()
    let journal = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(!journal.isWritable)
    #expect(try journal.items(journal.photos().id).count == 2)
    let unknown = try journal.node(manifest: "m", name: "other", kind: .upload, origin: "http://h:80")
    #expect(unknown.id == 0)
    #expect(try state.contents() == before)
    try journal.close()
    #expect(try state.contents() == before)
  }

  /// A process can be stopped while it opens the file.
  @Test func aLockThatAnotherProcessKeepsIsNotAwaitedForLong() throws {
    let path = state.directory.path + "/ferry.lock"
    try state.directory.create()
    let other = open(path, O_RDWR | O_CREAT, 0o600)
    #expect(flock(other, LOCK_EX) == 0)
    let error = #expect(throws: JournalError.self) { try OpeningLock(path, patience: 0.02) }
    #expect(error?.code == .busy && error?.file == path)
    close(other)
    try OpeningLock(path, patience: 0).release()
  }

  /// The log has a size of one terabyte, but occupies no space on the disk. A copy would fill the disk.
  @Test(.timeLimit(.minutes(1)), arguments: [false, true])
  func aHugeSparseLogIsNotCopied(hasHeader: Bool) throws {
    try leave(log: hasHeader, sharedMemory: false)
    let log = try state.database() + "-wal"
    let descriptor = open(log, O_RDWR | O_CREAT, 0o600)
    #expect(ftruncate(descriptor, 1 << 40) == 0)
    close(descriptor)
    guard !hasHeader else {
      let error = #expect(throws: JournalError.self) {
        _ = try SessionJournal.openForReading(session: "s", in: state.directory)
      }
      #expect(error?.code == .diskFull)
      return
    }
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.items(reader.photos().id).count == 2)
    try reader.close()
  }

  /// The log has no valid frame, as after a kill before the first frame was written, or after a power failure before
  /// the log was synced.
  @Test(arguments: [("the header alone", 32), ("torn", 4096)])
  func anUnchangedLogDoesNotBlockAReader(log: (kind: String, size: Int)) throws {
    try leave(log: false, sharedMemory: false)
    let source = try TemporaryState()
    let journal = try source.open()
    let header = try Data(contentsOf: URL(filePath: journal.path + "-wal")).prefix(32)
    #expect(header.count == 32)
    let bytes = log.size > header.count ? Data(repeating: 7, count: log.size) : header
    try bytes.write(to: URL(filePath: state.database() + "-wal"))
    try FileManager.default.copyItem(atPath: journal.path + "-shm", toPath: state.database() + "-shm")
    try journal.close()
    let before = try state.contents()
    let began = ContinuousClock.now
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.items(reader.photos().id).count == 2)
    try reader.close()
    #expect(began.duration(to: .now) < .seconds(5))
    #expect(try state.contents() == before)
  }

  @Test func readingDuringARunSeesCommittedRows() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 2))
    ])
    let before = try state.contents().filter { !$0.key.hasSuffix("-shm") }
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.items(reader.photos().id).count == 2)
    try reader.close()
    #expect(try state.contents().filter { !$0.key.hasSuffix("-shm") } == before)
    try journal.close()
  }

  @Test func aMissingJournalReadsAsEmpty() throws {
    let journal = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try journal.nodes.isEmpty)
    #expect(try journal.nextRow == 1)
    #expect(!FileManager.default.fileExists(atPath: state.directory.path))
    let history = try RunHistory.openForReading(in: state.directory)
    #expect(try history.runs().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: state.directory.path))
  }

  @Test func migratingTwiceLeavesOneLineOfHistoryForEachStep() throws {
    try state.open(at: .start).close()
    try state.open(at: .start(plus: 100)).close()
    let raw = try DatabaseQueue(path: state.database())
    try raw.read { db in
      let history = try Row.fetchAll(db, sql: "SELECT * FROM history ORDER BY version")
      #expect(history.map { $0["version"] as Int } == Array(1...DatabaseSchema.session.migrations.count))
      for line in history {
        #expect(line["ferry"] == "0.0-test")
        #expect(line["migrated_at"] == Instant.start.nanoseconds)
      }
      #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == DatabaseSchema.session.migrations.count)
      #expect(try Int32.fetchOne(db, sql: "PRAGMA application_id") == 0x4652_5953)
      #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
    }
  }

  @Test(arguments: ["PRAGMA user_version = 99", "INSERT INTO grdb_migrations VALUES ('session 99')"])
  func aNewerSchemaIsRefusedAndUntouched(change: String) throws {
    try state.open().close()
    let raw = try DatabaseQueue(path: state.database())
    try raw.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      try db.execute(sql: change)
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try raw.close()
    try refuses(.newerSchema)
  }

  @Test func anotherProgramsDatabaseIsRefusedAndUntouched() throws {
    try state.directory.create()
    let raw = try DatabaseQueue(path: state.database())
    try raw.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    try raw.close()
    try refuses(.foreign)
  }

  @Test(arguments: [
    "no database at all, but a text that is longer than the header of one would be"
      + String(repeating: ".", count: 200), "short",
  ])
  func aFileThatIsNoDatabaseIsRefusedAndUntouched(text: String) throws {
    try state.directory.create()
    try Data(text.utf8).write(to: URL(fileURLWithPath: state.database()))
    try refuses(.foreign)
  }

  @Test func aDamagedFileIsRefusedAndUntouched() throws {
    try leave(log: false, sharedMemory: false)
    let url = URL(fileURLWithPath: try state.database())
    var bytes = try Data(contentsOf: url)
    // The file's header stays valid, but the rest of the schema page is overwritten.
    for index in 100..<4096 { bytes[index] = 0xa5 }
    try bytes.write(to: url)
    try refuses(.damaged)
  }

  /// Writes a file as a power failure leaves it during its first transaction: its first page was not written, and the
  /// rollback journal states that the file had no pages (https://www.sqlite.org/fileformat.html#the_rollback_journal).
  private func interruptFirstTransaction(of path: String, magic: [UInt8]) throws {
    try state.directory.create()
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let noRecords: [UInt8] = [0, 0, 0, 0]
    let nonce: [UInt8] = [1, 2, 3, 4]
    let noPages: [UInt8] = [0, 0, 0, 0]
    let sectorSize: [UInt8] = [0, 0, 2, 0]
    let pageSize: [UInt8] = [0, 0, 0x10, 0]
    let header = Data(magic + noRecords + nonce + noPages + sectorSize + pageSize)
    try (header + Data(count: 512 - header.count)).write(to: URL(filePath: path + "-journal"))
    try (Data(count: 4096) + Data([13]) + Data(count: 8191)).write(to: URL(filePath: path))
    for suffix in ["", "-journal"] { chmod(path + suffix, 0o600) }
  }

  private static let journalMagic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

  @Test func aFirstTransactionThatAPowerFailureInterruptedIsRolledBack() throws {
    try interruptFirstTransaction(of: state.database(), magic: Self.journalMagic)
    let before = try state.contents()
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.nodes.isEmpty)
    try reader.close()
    #expect(try state.contents() == before)
    let journal = try state.open()
    #expect(try journal.photos().id > 0)
    try journal.close()
  }

  @Test(arguments: [false, true])
  func theFirstTransactionOfASharedFileIsRolledBack(_ isShared: Bool) throws {
    try interruptFirstTransaction(of: state.directory.history, magic: Self.journalMagic)
    #expect(try RunHistory.openForReading(in: state.directory).runs().isEmpty)
    let database = try SharedDatabase.open(
      in: state.directory, durability: .everyCommit, isShared: isShared, writtenBy: "0.0-test", at: .start)
    #expect(try database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    try database.close()
  }

  @Test func aFileOfZerosWithoutAValidRollbackJournalIsRefusedAndUntouched() throws {
    try interruptFirstTransaction(of: state.database(), magic: [1, 2, 3, 4, 5, 6, 7, 8])
    try refuses(.foreign)
  }

  @Test func aFileOfAnotherUserIsRefused() throws {
    guard geteuid() == 0 else { return }
    try state.open().close()
    chown(try state.database(), 65534, 65534)
    let error = try #require(throws: JournalError.self) { try state.open() }
    #expect(error.code == .wrongOwner)
    #expect(error.description.contains("chown"))
  }

  private func refuses(_ code: JournalError.Code) throws {
    chmod(try state.database(), 0o600)
    func files() throws -> [String: String] {
      // SQLite's shared-memory index of the log does not count: it holds no state, and a reader of an existing journal
      // may leave it behind.
      try state.contents().filter {
        !$0.key.hasSuffix("-shm") && !($0.key.hasSuffix("-wal") && $0.value.hasSuffix(" "))
      }
    }
    let before = try files()
    let writing = try #require(throws: JournalError.self) { try state.open() }
    #expect(writing.code == code)
    #expect(writing.file == (try state.database()))
    #expect(writing.description.contains(writing.file) && writing.description.contains("help: "))
    let reading = try #require(throws: JournalError.self) {
      try SessionJournal.openForReading(session: "s", in: state.directory)
    }
    #expect(reading.code == code)
    #expect(try files() == before)
  }
}
