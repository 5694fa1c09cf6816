import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct RecordedSessionTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  @Test func aNewSessionHasNoDelayAndNoEvents() throws {
    for journal in [try state.open(), try SessionJournal.ephemeral(session: "e")] {
      let recorded = try journal.recorded
      #expect(recorded.delay == nil && !recorded.hasPendingEvents)
    }
    let reader = try SessionJournal.openForReading(session: "none", in: state.directory)
    #expect(try reader.recorded.delay == nil)
  }

  @Test func theLastResumeCountsUntilItIsCleared() throws {
    let journal = try state.open()
    try journal.write([
      .resumed(period: .seconds(60), at: .start),
      .resumed(period: .milliseconds(120_500), at: .start(plus: 90)),
    ])
    try journal.close()
    let again = try state.open(at: .start(plus: 100))
    var delay = try #require(try again.recorded.delay)
    #expect(delay.period == .milliseconds(120_500) && delay.resumedAt == .start(plus: 90))
    // A period of zero is recorded like any other delay.
    try again.write([.resumed(period: .zero, at: .start)])
    delay = try #require(try again.recorded.delay)
    #expect(delay.period == .zero)
    try again.write([.resumed(period: nil, at: nil)])
    #expect(try again.recorded.delay == nil)
    for write in [JournalWrite.resumed(period: .seconds(1), at: nil), .resumed(period: nil, at: .start)] {
      try again.write([.resumed(period: .seconds(60), at: .start), write])
      #expect(try again.recorded.delay == nil)
    }
  }

  @Test func eventsArePendingUntilTheyAreMarkedAsDelivered() throws {
    let journal = try state.open()
    try journal.write([.resumed(period: .seconds(60), at: .start), .events(pending: true)])
    #expect(try journal.recorded.hasPendingEvents && journal.recorded.delay != nil)
    try journal.write([.events(pending: false)])
    #expect(try !journal.recorded.hasPendingEvents && journal.recorded.delay != nil)
  }

  @Test func pendingEventsAreCommittedWithTheOutcomeThatEndsTheBatch() throws {
    let journal = try state.open()
    let log = EventLog()
    let writer = try JournalWriter(journals: [journal], deliver: log.post)
    // The outcome fails because row 99 does not exist, and the transaction discards the other entry, too.
    try writer.append(
      [.events(pending: true), .closed(row: 99, state: .done, at: .start, failure: nil)], to: 0)
    #expect(log.waitForFailure() != nil)
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try !reader.recorded.hasPendingEvents)
  }

  @Test func aJournalOfTheSecondSchemaIsMigrated() throws {
    try state.directory.create()
    let old = DatabaseSchema(
      applicationID: DatabaseSchema.session.applicationID,
      migrations: Array(DatabaseSchema.session.migrations.prefix(2)))
    try DatabaseFile(path: state.database(), schema: old)
      .openForWriting(durability: .onRequest, writtenBy: "0.0-old", at: .start).close()
    let before = try state.contents()
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try reader.recorded.delay == nil)
    try reader.close()
    #expect(try state.contents() == before)
    let journal = try state.open()
    try journal.write([.events(pending: true)])
    #expect(try journal.recorded.hasPendingEvents)
  }

  @Test func anItemNumberThatLeavesNoRoomForAnotherIsDamage() throws {
    let journal = try state.open()
    let photos = try journal.photos()
    try journal.write([
      .insert(node: photos.id, round: 1, handedOver: .start, firstRow: .max, files: FileColumns(count: 1))
    ])
    let error = #expect(throws: JournalError.self) { try journal.nextRow }
    #expect(error?.code == .damaged)
  }

  @Test func itemsAreCountedByRound() throws {
    let journal = try state.open()
    let photos = try journal.photos()
    try journal.write([
      .insert(node: photos.id, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 3)),
      .closed(row: 1, state: .done, at: .start, failure: nil),
      .requeue(round: 2, handedOver: .start, files: [.init(row: 2, size: 1, modified: 1)]),
    ])
    let counts = Set(try journal.countsByRound())
    #expect(
      counts == [
        .init(node: photos.id, round: 1, state: .done, count: 1),
        .init(node: photos.id, round: 1, state: .queued, count: 1),
        .init(node: photos.id, round: 2, state: .queued, count: 1),
      ])
  }
}
