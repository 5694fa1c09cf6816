import FerryJournal
import FerryPlan
import Testing

/// Intents that hold up only their own requests share syncs.
@Suite struct IntentGroupTests {
  let state: TemporaryState
  let log = EventLog()
  let gate = SyncGate()
  let journal: SessionJournal

  init() throws {
    state = try TemporaryState()
    journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 9))
    ])
    gate.release()
  }

  private func writer(interval: Duration = .seconds(3600)) throws -> JournalWriter {
    var options = JournalWriter.Options()
    options.syncInterval = .seconds(3600)
    options.syncCall = gate.call
    options.intentInterval = interval
    // As in `JournalSyncTests`: an append returns when all earlier appends have been committed, except for the last.
    options.queueLimit = 0
    return try JournalWriter(journals: [journal], options: options, deliver: log.post)
  }

  private func grouped(_ row: Int64) -> JournalWrite {
    .intent(row: row, step: .commit, holds: .requestOnly(group: 3))
  }

  /// Returns once all earlier appends have been committed.
  private func waitForCommit(_ writer: JournalWriter) throws {
    for _ in 0..<2 { try writer.append([.withdraw(row: 9)], to: 0) }
  }

  @Test func theFirstIntentIsSyncedAtOnceAndLaterOnesInGroups() throws {
    let writer = try writer()
    let first = try writer.append([grouped(1)], to: 0)
    #expect(log.waitForSync(through: first))
    try writer.append([grouped(2)], to: 0)
    try writer.append([grouped(3)], to: 0)
    try waitForCommit(writer)
    #expect(gate.count == 1)
    let last = try writer.append([grouped(4)], to: 0)
    #expect(log.waitForSync(through: last))
    #expect(gate.count == 2)
    try writer.close()
  }

  @Test func aGroupIsSyncedAfterTheInterval() throws {
    let began = ContinuousClock.now
    let writer = try writer(interval: .milliseconds(50))
    let first = try writer.append([grouped(1)], to: 0)
    #expect(log.waitForSync(through: first))
    let second = try writer.append([grouped(2)], to: 0)
    #expect(log.waitForSync(through: second))
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    try writer.close()
  }

  @Test func anIntentForWhichAConnectionWaitsIsSyncedWithTheGroup() throws {
    let writer = try writer()
    let first = try writer.append([grouped(1)], to: 0)
    #expect(log.waitForSync(through: first))
    try writer.append([grouped(2)], to: 0)
    let urgent = try writer.append([.intent(row: 3, step: .transfer)], to: 0)
    #expect(log.waitForSync(through: urgent))
    #expect(gate.count == 2)
    // No intent awaits a sync any more.
    try writer.append([.withdraw(row: 3)], to: 0)
    try waitForCommit(writer)
    #expect(gate.count == 2)
    try writer.close()
  }
}
