import FerryJournal
import FerryPlan
import Foundation
import Testing

/// The writer's behavior during a sync.
@Suite struct JournalSyncTests {
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
  }

  /// A writer that syncs only on request, and whose syncs wait for the gate.
  private func writer(_ others: SessionJournal..., intentInterval: Duration? = nil) throws -> JournalWriter {
    var options = JournalWriter.Options()
    if let intentInterval { options.intentInterval = intentInterval }
    options.syncInterval = .seconds(3600)
    options.syncCall = gate.call
    // With this limit, an append returns when all earlier appends have been committed, except for the last, which is
    // being committed.
    options.queueLimit = 0
    return try JournalWriter(journals: [journal] + others, options: options, deliver: log.post)
  }

  private func done(_ row: Int64) -> JournalWrite {
    .closed(row: row, state: .done, at: .start, failure: nil)
  }

  /// The states that another process can read at this point.
  private func states() throws -> [ItemState] {
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    return try reader.items(reader.photos().id).map(\.state)
  }

  /// Returns once all earlier appends have been committed.
  private func waitForCommit(_ writer: JournalWriter) throws {
    for _ in 0..<2 { try writer.append([.withdraw(row: 9)], to: 0) }
  }

  @Test func writesDuringASyncAreCommittedBeforeItEnds() throws {
    let writer = try writer()
    let first = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    try writer.append([done(2)], to: 0)
    try waitForCommit(writer)
    #expect(try states().prefix(3) == [.queued, .done, .queued])
    #expect(log.syncs.isEmpty)

    // The reported sync must not cover the later write.
    gate.release(1)
    #expect(log.waitForSync(through: first))
    #expect(log.syncs == [first])
    let last = try writer.sync()
    #expect(gate.waitForSync(2))
    #expect(log.syncs == [first])
    gate.release()
    #expect(log.waitForSync(through: last))
    try writer.close()
    #expect(log.syncs == [first, last])
    #expect(writer.statistics.syncs == 2 && writer.statistics.processorTime > .zero)
  }

  @Test func anIntentDuringASyncIsOnDiskAfterTheNextSync() throws {
    let writer = try writer()
    let first = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    let second = try writer.append([.intent(row: 2, step: .commit)], to: 0)
    try waitForCommit(writer)
    #expect(gate.count == 1)
    gate.release(1)
    // Only the intent requests this sync.
    #expect(gate.waitForSync(2))
    #expect(log.syncs == [first])
    gate.release()
    #expect(log.waitForSync(through: second))
    try writer.close()
    #expect(gate.count == writer.statistics.syncs)
  }

  @Test func aRequestDuringASyncIsServedByTheNextSync() throws {
    let writer = try writer()
    let first = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    let second = try writer.append([done(2)], to: 0)
    #expect(try writer.sync() == second)
    gate.release(1)
    #expect(gate.waitForSync(2))
    #expect(log.syncs == [first])
    gate.release()
    #expect(log.waitForSync(through: second))
    try writer.close()
  }

  @Test func aFailedSyncIsFinalForWritesDuringIt() throws {
    let writer = try writer()
    try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    try writer.append([done(2)], to: 0)
    try waitForCommit(writer)
    try writer.append([.intent(row: 3, step: .commit)], to: 0)
    gate.release(failing: 1)
    let failure = try #require(log.waitForFailure())
    #expect(failure.code == .io && failure.file == journal.path)
    #expect(failure.description.contains("sync the log"))
    #expect(throws: failure) { try writer.append([done(4)], to: 0) }
    #expect(throws: failure) { try writer.sync() }
    #expect(throws: failure) { try writer.close() }
    #expect(log.syncs.isEmpty && gate.count == 1)
    #expect(writer.statistics.syncs == 0 && writer.statistics.checkpoints == 0)
    // The log stays unchanged, so the next launch finds all committed writes.
    try journal.close()
    #expect(try states().prefix(2) == [.queued, .done])
  }

  @Test func aFailedCommitIsReportedAfterTheCurrentSync() throws {
    let writer = try writer()
    let first = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    try writer.append([done(99), .intent(row: 2, step: .commit)], to: 0)
    gate.release()
    #expect(log.waitForFailure()?.code == .inconsistent)
    #expect(throws: JournalError.self) { try writer.close() }
    #expect(log.syncs == [first] && gate.count == 1)
  }

  @Test func closingDuringASyncSyncsTheWritesDuringIt() throws {
    let writer = try writer()
    let first = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(gate.waitForSync(1))
    let second = try writer.append([done(2)], to: 0)
    var last = second
    let closing = Thread { try? writer.close() }
    closing.start()
    // The loop appends until the writer starts to close.
    while let number = try? writer.append([done(3)], to: 0) { last = number }
    #expect(log.syncs.isEmpty)
    gate.release()
    try writer.close()
    #expect(log.syncs == [first, last])
    try journal.close()
    #expect(try states().prefix(3) == [.queued, .done, last == second ? .queued : .done])
  }

  @Test func aJournalWithoutChangesIsNotSynced() throws {
    let other = try state.open("other")
    let writer = try writer(other)
    gate.release()
    let number = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(log.waitForSync(through: number))
    #expect(gate.count == 1)
    try writer.append([done(1)], to: 0)
    try writer.append([.withdraw(row: 1)], to: 0)
    try writer.close()
    #expect(gate.count == 2)
  }

  @Test func aSlowDiskDelaysTheSync() throws {
    var options = JournalWriter.Options()
    options.syncDelay = .milliseconds(200)
    let writer = try JournalWriter(journals: [journal], options: options, deliver: log.post)
    let began = ContinuousClock.now
    let number = try writer.append([.intent(row: 1, step: .commit)], to: 0)
    #expect(log.waitForSync(through: number))
    #expect(ContinuousClock.now - began >= .milliseconds(200))
    try writer.close()
  }

  // MARK: Intents that hold up only their own requests

  private func grouped(_ row: Int64) -> JournalWrite {
    .intent(row: row, step: .commit, holds: .requestOnly(group: 3))
  }

  @Test func theFirstIntentIsSyncedAtOnceAndLaterOnesInGroups() throws {
    gate.release()
    let writer = try writer(intentInterval: .seconds(3600))
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
    gate.release()
    let began = ContinuousClock.now
    let writer = try writer(intentInterval: .milliseconds(50))
    let first = try writer.append([grouped(1)], to: 0)
    #expect(log.waitForSync(through: first))
    let second = try writer.append([grouped(2)], to: 0)
    #expect(log.waitForSync(through: second))
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    try writer.close()
  }

  @Test func anIntentForWhichAConnectionWaitsIsSyncedWithTheGroup() throws {
    gate.release()
    let writer = try writer(intentInterval: .seconds(3600))
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
