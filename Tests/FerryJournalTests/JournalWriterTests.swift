import FerryJournal
import FerryPlan
import Foundation
import Testing

@Suite struct JournalWriterTests {
  let state: TemporaryState
  let log = EventLog()

  init() throws { state = try TemporaryState() }

  private func journal(items count: Int) throws -> SessionJournal {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: count))
    ])
    return journal
  }

  private func writer(_ journal: SessionJournal, interval: Duration = .seconds(3600)) throws -> JournalWriter
  {
    var options = JournalWriter.Options()
    options.syncInterval = interval
    return try JournalWriter(journals: [journal], options: options, deliver: log.post)
  }

  @Test func anIntentIsSyncedAtOnce() throws {
    let journal = try journal(items: 1)
    let writer = try writer(journal)
    let number = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(log.waitForSync(through: number))
    #expect(try journal.items(journal.photos().id)[0].intent == .commit)
    try writer.close()
    #expect(writer.statistics.syncs == 1)
  }

  @Test func aLoneOutcomeIsSyncedAfterTheInterval() throws {
    let writer = try writer(journal(items: 1), interval: .milliseconds(50))
    let began = ContinuousClock.now
    let number = try writer.append([.transferred(row: 1, captures: [], sha256: nil)], to: 0)
    #expect(log.waitForSync(through: number))
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    try writer.close()
  }

  @Test func outcomesAreSyncedInGroups() throws {
    let writer = try writer(journal(items: 1024))
    var number: UInt64 = 0
    for row in 1...1024 {
      number = try writer.append([.closed(row: Int64(row), state: .done, at: .start, failure: nil)], to: 0)
    }
    #expect(log.waitForSync(through: 512))
    try writer.close()
    #expect(log.waitForSync(through: number))
    let statistics = writer.statistics
    #expect((1...3).contains(statistics.syncs))
    #expect(statistics.writes == 1024 && statistics.commits >= statistics.syncs)
  }

  @Test func outcomesBelowTheBoundWaitForTheInterval() throws {
    let writer = try writer(journal(items: 511))
    for row in 1...511 {
      try writer.append([.closed(row: Int64(row), state: .done, at: .start, failure: nil)], to: 0)
    }
    let number = try writer.sync()
    #expect(log.waitForSync(through: number))
    #expect(writer.statistics.syncs <= 1)
    try writer.close()
    #expect(writer.statistics.syncs == 1)
  }

  @Test func aSyncOfNothingCompletes() throws {
    let writer = try writer(journal(items: 1))
    #expect(try writer.sync() == 0)
    #expect(log.waitForSync(through: 0))
    try writer.close()
    #expect(writer.statistics.syncs == 0)
  }

  @Test func severalJournalsShareAWriterAndStaySeparate() throws {
    let first = try state.open("a")
    let second = try state.open("b")
    let nodes = [try first.photos().id, try second.photos().id]
    let writer = try JournalWriter(journals: [first, second], deliver: log.post)
    for index in 0..<2 {
      let files = FileColumns(count: index + 1)
      try writer.append(
        [.insert(node: nodes[index], round: 1, handedOver: .start, firstRow: 1, files: files)], to: index)
    }
    try writer.close()
    #expect(log.waitForSync(through: 2))
    #expect(try first.items(nodes[0]).count == 1)
    #expect(try second.items(nodes[1]).count == 2)
  }

  @Test func closingTwiceIsHarmlessAndNothingIsAcceptedAfterwards() throws {
    let journal = try journal(items: 1)
    let writer = try writer(journal)
    try writer.append([.transferred(row: 1, captures: [], sha256: nil)], to: 0)
    try writer.close()
    try writer.close()
    let error = #expect(throws: JournalError.self) { try writer.append([.withdraw(row: 1)], to: 0) }
    #expect(error?.code == .closed)
    try journal.close()
    let reopened = try state.open()
    #expect(try reopened.items(reopened.photos().id)[0].state == .transferred)
  }

  @Test func appendWaitsOnlyBeyondTheBoundAndLosesNothing() throws {
    let journal = try journal(items: 5000)
    var options = JournalWriter.Options()
    options.queueLimit = 4096
    options.commitInterval = .seconds(3600)
    let writer = try JournalWriter(journals: [journal], options: options, deliver: log.post)
    for row in 1...5000 {
      try writer.append([.closed(row: Int64(row), state: .done, at: .start, failure: nil)], to: 0)
    }
    try writer.close()
    #expect(try journal.items(journal.photos().id).allSatisfy { $0.state == .done })
  }

  @Test func theLogStaysShortInALongRun() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    let writer = try JournalWriter(journals: [journal], deliver: log.post)
    try writer.append(
      [.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 200_000))],
      to: 0)
    for row in 1...Int64(20_000) {
      try writer.append([.closed(row: row * 10, state: .done, at: .start, failure: nil)], to: 0)
      if row % 500 == 0 { try writer.sync() }
    }
    try writer.close()
    #expect(writer.statistics.checkpoints > 0)
    var status = stat()
    #expect(stat(journal.path + "-wal", &status) == 0)
    #expect(status.st_size < 32 << 20)
    #expect(try journal.nextRow == 200_001)
    try journal.close()
  }

  @Test func aWriteToAMissingRowIsALostWrite() throws {
    let journal = try journal(items: 1)
    let writer = try writer(journal)
    let number = try writer.append([.intent(row: 99, step: .commit)], to: 0)
    let failure = try #require(log.waitForFailure())
    #expect(failure.code == .inconsistent && failure.file == journal.path)
    #expect(!log.waitForSync(through: number))
    #expect(throws: failure) { try writer.append([.withdraw(row: 1)], to: 0) }
    #expect(throws: failure) { try writer.sync() }
    #expect(throws: failure) { try writer.close() }
    #expect(throws: failure) { try writer.close() }
  }

  @Test func aFailedTransactionLeavesNoneOfItsWrites() throws {
    let journal = try journal(items: 1)
    let writer = try writer(journal)
    try writer.append(
      [.transferred(row: 1, captures: [], sha256: nil), .intent(row: 99, step: .commit)], to: 0)
    #expect(log.waitForFailure() != nil)
    #expect(throws: JournalError.self) { try writer.close() }
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.items(reader.photos().id)[0].state == .queued)
  }
}
