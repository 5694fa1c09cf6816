import FerryPlan
import Foundation
import Testing

@testable import FerryJournal

/// A journal that has lost transactions is rejected.
@Suite struct LostTransactionsTests {
  let state: TemporaryState
  let journal: SessionJournal
  /// The journal's files as a kill leaves them: no part of the log has been moved into the database file.
  let killed: TemporaryState
  static let outcomes: Int64 = 40

  init() throws {
    state = try TemporaryState()
    journal = try state.open()
    let node = try journal.photos().id
    let files = FileColumns(count: Int(Self.outcomes))
    try journal.write([.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: files)])
    for row in 1...Self.outcomes {
      try journal.write([.closed(row: row, state: .done, at: .start, failure: nil)])
    }
    killed = try TemporaryState()
    try killed.directory.create()
    try copy(from: state, to: killed)
  }

  private func copy(from: TemporaryState, to: TemporaryState) throws {
    for suffix in [".db", ".db-wal", ".commits"] {
      let name = "/sessions/s" + suffix
      try? FileManager.default.removeItem(atPath: to.directory.path + name)
      guard FileManager.default.fileExists(atPath: from.directory.path + name) else { continue }
      try FileManager.default.copyItem(
        atPath: from.directory.path + name, toPath: to.directory.path + name)
    }
  }

  private func done() throws -> Int {
    let reader = try SessionJournal.openForReading(session: "s", in: killed.directory)
    defer { try? reader.close() }
    return try reader.items(reader.photos().id).count { $0.state == .done }
  }

  private func flip(_ path: String, at offset: Int, bit: Int) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[offset] ^= 1 << bit
    try bytes.write(to: URL(filePath: path))
    chmod(path, 0o600)
  }

  private func refusal(_ code: JournalError.Code = .commitsLost) throws -> JournalError {
    let error = try #require(throws: JournalError.self) { try killed.open() }
    #expect(error.code == code, "\(error)")
    return error
  }

  /// Another process opens the journal, as it can if the lock file was removed while a process held the lock.
  @Test func twoWritersAreNotMixed() throws {
    let other = try state.open()
    try other.write([.closed(row: 1, state: .failed, at: .start, failure: nil)])
    let error = #expect(throws: JournalError.self) {
      try journal.write([.closed(row: 2, state: .failed, at: .start, failure: nil)])
    }
    #expect(error?.code == .otherWriter, "\(String(describing: error))")
    try other.write([.closed(row: 3, state: .failed, at: .start, failure: nil)])
    #expect(try other.items(other.photos().id).filter { $0.state == .failed }.count == 2)
  }

  @Test func anIntactLogIsAccepted() throws {
    #expect(try done() == Int(Self.outcomes))
    try killed.open().close()
    #expect(try done() == Int(Self.outcomes))
    #expect(try ReleasedSchemaTests.findings(in: killed).isEmpty)
  }

  /// Changes one bit at each of many places in the log: in its header, in the frames' headers and in the pages.
  @Test func aChangedBitInTheLogIsAlwaysDetected() throws {
    let path = try killed.database() + "-wal"
    let size = try Data(contentsOf: URL(filePath: path)).count
    #expect(size > 100_000)
    var refused = 0
    let offsets = Array(0..<56) + Array(stride(from: 57, to: size, by: size / 150))
    for (index, offset) in offsets.enumerated() {
      try copy(from: state, to: killed)
      try flip(path, at: offset, bit: index % 8)
      do {
        #expect(try done() == Int(Self.outcomes), "byte \(offset)")
      } catch let error as JournalError {
        #expect(error.code == .commitsLost, "\(error)")
        refused += 1
      }
    }
    // Every change is detected. Only the header's checksum covers the checkpoint sequence number.
    #expect(refused == offsets.count)
  }

  @Test func aWriterRefusesAndLeavesEverythingUnchanged() throws {
    let path = try killed.database() + "-wal"
    let size = try Data(contentsOf: URL(filePath: path)).count
    try flip(path, at: size / 2, bit: 3)
    let before = try killed.contents().filter { !$0.key.hasSuffix("-shm") }
    let error = try refusal()
    #expect(error.cause.contains("of the \(Self.outcomes + 1) recorded transactions are missing"))
    // The temporary folder's path may have a doubled slash, which the printed path does not have.
    let folder = AbsolutePath.text(of: killed.directory.path)
    #expect(error.remedy.contains("ferry journal accept-loss s --state \(folder)"), "\(error)")
    #expect(try killed.contents().filter { !$0.key.hasSuffix("-shm") } == before)
    let findings = try ReleasedSchemaTests.findings(in: killed)
    #expect(findings.map(\.code) == [.commitsLost])
    // Every later attempt reports the loss, too.
    _ = try refusal()
  }

  @Test func aLogThatIsRemovedIsALoss() throws {
    try FileManager.default.removeItem(atPath: killed.database() + "-wal")
    #expect(try refusal().cause.hasPrefix("\(Self.outcomes + 1) of the "))
    #expect(throws: JournalError.self) { try done() }
  }

  @Test func anEmptiedFileIsALossAndItsLogStays() throws {
    #expect(truncate(try killed.database(), 0) == 0)
    _ = try refusal(.missing)
    #expect(FileManager.default.fileExists(atPath: try killed.database() + "-wal"))
  }

  @Test func anOlderCopyIsALoss() throws {
    let copy = try Data(contentsOf: URL(filePath: killed.database()))
    try killed.open().close()
    try copy.write(to: URL(filePath: killed.database()))
    chmod(try killed.database(), 0o600)
    _ = try refusal()
  }

  @Test func anAcceptedLossIsNotReportedAgain() throws {
    try FileManager.default.removeItem(atPath: killed.database() + "-wal")
    let loss = try SessionJournal.acceptLoss(
      session: "s", in: killed.directory, writtenBy: "0.0-test", at: .start)
    #expect(loss == .transactions(Self.outcomes + 1))
    let journal = try killed.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1))
    ])
    try journal.close()
    #expect(try ReleasedSchemaTests.findings(in: killed).isEmpty)
    #expect(
      try SessionJournal.acceptLoss(
        session: "s", in: killed.directory, writtenBy: "0.0-test", at: .start) == nil)
    try FileManager.default.removeItem(atPath: killed.database())
    #expect(
      try SessionJournal.acceptLoss(
        session: "s", in: killed.directory, writtenBy: "0.0-test", at: .start) == .journal)
    #expect(try killed.open().nodes.isEmpty)
  }

  @Test func afterAnotherBootOnlyMissingSyncedTransactionsAreALoss() throws {
    let record = try killed.directory.commits(ofSession: "s")
    func store(synced: Int64) throws {
      let counts = CommitCounts(committed: Self.outcomes + 1, synced: synced, boot: "another")
      try Data(counts.bytes).write(to: URL(filePath: record))
    }
    try FileManager.default.removeItem(atPath: killed.database() + "-wal")
    try store(synced: 1)
    _ = try refusal()
    // A power failure may lose transactions that had not been synced.
    try store(synced: 0)
    try killed.open().close()
  }

  @Test func aDamagedRecordIsFoundAndBlocksNothing() throws {
    let record = try killed.directory.commits(ofSession: "s")
    try flip(record, at: 40, bit: 0)
    #expect(try ReleasedSchemaTests.findings(in: killed).map(\.code) == [.recordDamaged])
    try killed.open().close()
    #expect(try ReleasedSchemaTests.findings(in: killed).isEmpty)
  }

  /// Changes bits of a journal that was closed and has no log. A run must not accept a journal in which the check finds
  /// damage.
  @Test func aFindingOfTheCheckInAShortJournalStopsARun() throws {
    try killed.open().close()
    let path = try killed.database()
    let whole = try Data(contentsOf: URL(filePath: path))
    var found = 0
    for (index, offset) in stride(from: 30, to: whole.count, by: whole.count / 120).enumerated() {
      try whole.write(to: URL(filePath: path))
      chmod(path, 0o600)
      try flip(path, at: offset, bit: index % 8)
      let findings = try ReleasedSchemaTests.findings(in: killed)
      guard findings.contains(where: { $0.stopsRun && $0.code != .schemaDiffers }) else { continue }
      found += 1
      #expect(throws: JournalError.self, "byte \(offset): \(findings.map(\.message))") {
        // A run opens the journal in the same way. Reading does not change the file, so the next bit is changed in the
        // same file.
        let reader = try SessionJournal.openForReading(session: "s", in: killed.directory)
        try reader.checkContent()
      }
    }
    #expect(found > 10)
  }

  @Test func aRowThatNoFerryWritesStopsTheRunThatLoadsIt() throws {
    for change in [
      "state = 1", "closed_at = NULL", "intent = 3", "state = 6, captures = '{}'", "expires = 1",
      "intent = 9",
      "state = 7",
    ] {
      try copy(from: state, to: killed)
      let journal = try killed.open()
      let node = try journal.photos().id
      let files = FileColumns(count: Int(Self.outcomes))
      try journal.forEachItem(node: node, meeting: files) { _ in }
      try journal.access { try $0.execute(sql: "UPDATE item SET \(change) WHERE id = 20") }
      let error = #expect(throws: JournalError.self, "\(change)") {
        try journal.forEachItem(node: node, meeting: files) { _ in }
      }
      #expect(error?.code == .damaged && error?.cause.contains("the row whose id is 20") == true, "\(change)")
      try journal.close()
      for suffix in [".db", ".db-wal", ".db-shm"] {
        try? FileManager.default.removeItem(atPath: killed.directory.path + "/sessions/s" + suffix)
      }
    }
  }

  @Test func theRecordIsUpdatedWithEveryTransaction() throws {
    let journal = try killed.open()
    func counts() throws -> CommitCounts? {
      try StoredCommits.read(killed.directory.commits(ofSession: "s")).counts
    }
    let before = try #require(try counts())
    _ = try journal.cancelOpen(reason: .cancelled, at: .start)
    _ = try journal.forget([.done], before: .start(plus: 9))
    _ = try journal.reset(at: .start)
    let after = try #require(try counts())
    #expect(after.committed == before.committed + 3)
    #expect(after.synced == after.committed)
    try journal.close()
  }
}
