import FerryJournal
import FerryPlan
import Foundation
import Testing

@Suite struct ClearingTests {
  let state: TemporaryState
  let capture = CapturedValue(name: "upload_id", value: "7", isSecret: false)

  init() throws { state = try TemporaryState() }

  /// Rows: 1 queued, 2 allocated, 3 transferred, 4 done, 5 failed, 6 ambiguous, 7 cancelled,
  /// 8 allocated with an intent, 9 queued in an earlier round.
  private func filled() throws -> (SessionJournal, Int64) {
    let journal = try state.open()
    let node = try journal.photos().id
    let failure = RecordedFailure(code: "status", status: 404, message: "gone")
    try journal.write([
      .insert(node: node, round: 2, handedOver: .start, firstRow: 1, files: FileColumns(count: 8)),
      .insert(
        node: node, round: 1, handedOver: .start, firstRow: 9, files: FileColumns([Array("z".utf8)])),
      .allocated(row: 2, captures: [capture], expires: .start(plus: 60)),
      .allocated(row: 3, captures: [capture], expires: nil),
      .transferred(row: 3, captures: [], sha256: [1]),
      .closed(row: 4, state: .done, at: .start, failure: nil),
      .closed(row: 5, state: .failed, at: .start, failure: failure),
      .allocated(row: 6, captures: [capture], expires: nil), .intent(row: 6, step: .commit),
      .closed(row: 6, state: .ambiguous, at: .start, failure: failure),
      .closed(row: 7, state: .cancelled, at: .start, failure: failure),
      .allocated(row: 8, captures: [capture], expires: nil), .intent(row: 8, step: .commit),
    ])
    return (journal, node)
  }

  @Test func aResetDropsOpenItemsAndKeepsClosedOnes() throws {
    let (journal, node) = try filled()
    let closed = try journal.items(node).filter { $0.state.isClosed }
    let dropped = try journal.reset(at: .start)
    #expect(dropped.items == 5 && dropped.withUploadID == 3 && dropped.unanswered == 1)
    #expect(try journal.items(node) == closed)
    #expect(try journal.reset(at: .start).items == 0)
    try journal.close()
    #expect(try state.open().items(node) == closed)
  }

  @Test func aResetForgetsTheIntentsOfNodesExceptAmbiguousOnes() throws {
    let journal = try state.open()
    let nodes = try ["a", "b", "c"].map {
      try journal.node(manifest: "m", name: $0, kind: .request, origin: "http://h:80").id
    }
    try journal.write([
      .nodeIntent(node: nodes[0], round: 1), .nodeIntent(node: nodes[1], round: 1),
      .nodeClosed(node: nodes[1], NodeClosing(round: 1, state: .ambiguous, at: .start)),
    ])
    let dropped = try journal.reset(at: .start)
    #expect(dropped.items == 0 && dropped.withUploadID == 0 && dropped.unanswered == 1)
    #expect(try journal.nodes.map(\.hasIntent) == [false, true, false])
  }

  @Test func openItemsAreCancelledWithAReason() throws {
    let (journal, node) = try filled()
    let closed = try journal.items(node).filter { $0.state.isClosed }
    let reason = RecordedFailure(code: "cancelled", message: "ferry cancel")
    #expect(try journal.cancelOpen(reason: reason, at: .start(plus: 5)) == 4)
    let items = try journal.items(node)
    #expect(items.filter { closed.map(\.id).contains($0.id) } == closed)
    for item in items where [1, 2, 3, 9].contains(item.id) {
      #expect(item.state == .cancelled && item.failure == reason && item.closedAt == .start(plus: 5))
      #expect(item.captures.isEmpty && item.expires == nil && item.intent == nil)
      #expect(item.round == (item.id == 9 ? 1 : 2))
    }
    #expect(try journal.cancelOpen(reason: reason, at: .start(plus: 6)) == 0)
    try journal.close()
    #expect(try state.open().items(node) == items)
  }

  @Test func canceledItemsAreCountedByTheirReason() throws {
    let (journal, node) = try filled()
    let reason = RecordedFailure.cancelled(CancelReason(recorded: "disk full"))
    try journal.cancelOpen(reason: reason, at: .start(plus: 5))
    let counts = try journal.cancelledItems()
    #expect(counts.allSatisfy { $0.node == node })
    #expect(counts.map(\.round) == [1, 2, 2] && counts.map(\.count) == [1, 3, 1])
    #expect(counts.map(\.failure.message) == [reason.message, reason.message, "gone"])
  }

  @Test func aRemovedSessionIsKnownUntilItIsUsedAgain() throws {
    let history = try RunHistory.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    defer { try? history.close() }
    let process = ProcessIdentity(pid: 1, started: 1, boot: "b")
    func run(_ id: String) throws {
      try history.begin(
        RunRow(id: id, launch: .background, rounds: [], process: process, startedAt: .start), journals: ["s"])
    }
    try run("r1")
    let removed = RemovedSession(
      session: "s", failure: .cancelled(nil, removesSession: true), items: 3, removedAt: .start(plus: 9))
    try history.remove(removed)
    #expect(try history.removedSessions() == [removed])
    #expect(try history.knownJournals(locked: []).isEmpty)
    try run("r2")
    #expect(try history.removedSessions().isEmpty)
  }

  @Test func theReasonForWhichARootCannotBeListedIsKeptWithTheUpload() throws {
    let (journal, node) = try filled()
    let failure = RecordedFailure(code: .rootMissing, message: "cannot list /x")
    try journal.record(rootFailure: failure, node: node)
    #expect(try journal.nodes.first?.failure == failure)
    try journal.close()
    let again = try state.open()
    #expect(try again.nodes.first?.failure == failure)
    try again.record(rootFailure: nil, node: node)
    #expect(try again.nodes.first?.failure == nil)
  }

  @Test func anItemWithoutAKnownResponseBecomesAmbiguousInsteadOfCancelled() throws {
    let (journal, node) = try filled()
    let reason = RecordedFailure(code: "cancelled", status: 502, message: "ferry cancel")
    try journal.cancelOpen(reason: reason, at: .start(plus: 5))
    let item = try #require(try journal.items(node).first { $0.id == 8 })
    #expect(item.state == .ambiguous && item.intent == .commit && item.captures == [capture])
    #expect(item.failure == reason && item.closedAt == .start(plus: 5))
  }

  @Test func manyItemsAreDroppedAtOnceAlsoFromAnEphemeralJournal() throws {
    for journal in [try state.open(), try SessionJournal.ephemeral(session: "e")] {
      let node = try journal.photos().id
      try journal.write([
        .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 30_000))
      ])
      #expect(try journal.reset(at: .start).items == 30_000)
      #expect(try journal.items(node).isEmpty)
    }
  }

  @Test func aResetEndsTheDelayAndForgetsEvents() throws {
    let journal = try state.open()
    try journal.write([.resumed(period: .seconds(60), at: .start), .events(pending: true)])
    _ = try journal.reset(at: .start)
    #expect(try journal.recorded.delay == nil && !journal.recorded.hasPendingEvents)
  }

  @Test func oneManifestIsCancelledWithoutTheOthers() throws {
    let journal = try state.open()
    let mine = try journal.photos().id
    let other = try journal.node(manifest: "n", name: "photos", kind: .upload, origin: "http://h:80").id
    try journal.write([
      .insert(node: mine, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 2)),
      .insert(node: other, round: 1, handedOver: .start, firstRow: 3, files: FileColumns(count: 3)),
      .intent(row: 1, step: .commit), .intent(row: 3, step: .commit),
    ])
    #expect(try journal.cancelOpen(manifest: "m", reason: .cancelled, at: .start) == 1)
    #expect(try journal.items(mine).map(\.state) == [.ambiguous, .cancelled])
    #expect(try journal.items(other).map(\.state) == [.queued, .queued, .queued])
    #expect(try journal.cancelOpen(reason: .cancelled, at: .start) == 2)
  }

  @Test func aRemovedSessionLeavesNoJournal() throws {
    let (journal, _) = try filled()
    let lock = try SessionLock.try(session: "s", in: state.directory, at: .start)
    try journal.close()
    try SessionJournal.remove(session: "s", in: state.directory)
    try SessionJournal.remove(session: "s", in: state.directory)
    #expect(try state.contents().keys.filter { $0.hasPrefix("sessions/") } == ["sessions/s.lock"])
    #expect(try state.open().nodes.isEmpty)
    withExtendedLifetime(lock) {}
  }
}
