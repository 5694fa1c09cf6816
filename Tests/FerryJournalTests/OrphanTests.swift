import FerryJournal
import FerryPlan
import Foundation
import GRDB
import Testing

@Suite struct OrphanTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func captures(_ id: Int) -> [CapturedValue] {
    [
      CapturedValue(name: "allocate.id", value: "u\(id)", isSecret: false),
      CapturedValue(name: "allocate.url", value: "https://h/?sig=\(id)", isSecret: true),
    ]
  }

  /// Rows: 1 queued, 2 allocated, 3 transferred, 4 ambiguous at its commit, 5 ambiguous at its transfer, 6 allocated
  /// with the intent of its transfer.
  private func filled(_ point: CountingPoint) throws -> (journal: SessionJournal, node: Int64) {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.setCountingPoint(point, node: node)
    let lost = RecordedFailure(code: "answer_lost", message: "lost")
    try journal.write(
      [.insert(node: node, round: 2, handedOver: .start, firstRow: 1, files: FileColumns(count: 6))]
        + (2...6).map { .allocated(row: $0, captures: captures(Int($0)), expires: .start(plus: 60)) } + [
          .transferred(row: 3, captures: [], sha256: Array(repeating: 7, count: 32)),
          .transferred(row: 4, captures: [], sha256: nil), .intent(row: 4, step: .commit),
          .closed(row: 4, state: .ambiguous, at: .start, failure: lost),
          .intent(row: 5, step: .transfer),
          .closed(row: 5, state: .ambiguous, at: .start, failure: lost),
          .intent(row: 6, step: .transfer),
        ])
    return (journal, node)
  }

  private func check(_ journal: SessionJournal) throws {
    try journal.close()
    #expect(try ReleasedSchemaTests.findings(in: state) == [])
  }

  // MARK: Becoming an orphan

  @Test func aResetMakesOrphansOfOpenItemsAndKeepsAmbiguousOnes() throws {
    let (journal, node) = try filled(.intended)
    #expect(try journal.reset(at: .start(plus: 9)).withUploadID == 3)
    let orphans = try journal.orphans
    #expect(orphans.map { $0.captures.first?.value } == ["u2", "u3", "u6"])
    #expect(orphans.allSatisfy { $0.orphaning.reason == .reset && $0.droppedAt == .start(plus: 9) })
    // The transfer of one orphan may have been executed.
    #expect(orphans.map(\.orphaning.isInDoubt) == [false, false, true])
    #expect(orphans[0].captures == captures(2) && orphans[0].node == node)
    #expect(orphans[0].expires == .start(plus: 60) && orphans[0].handedOver == .start)
    #expect(orphans[1].sha256?.count == 32 && orphans[1].size == 102)
    func releasable(
      limit: Int = 9, size: Int = 99, where isWanted: (OrphanRow) -> Bool = { _ in true }
    ) throws -> [Int64] {
      try journal.releasableOrphans(node: node, limit: limit, size: size, where: isWanted).map(\.id)
    }
    let size = orphans[0].captures.size
    #expect(try releasable() == [orphans[0].id, orphans[1].id])
    #expect(try releasable(limit: 1) == [orphans[0].id])
    #expect(try releasable(size: size) == [orphans[0].id] && releasable(size: 0) == [orphans[0].id])
    // An orphan that cannot be released does not count.
    #expect(try releasable(limit: 1, size: size) { $0.id != orphans[0].id } == [orphans[1].id])
    #expect(try journal.items(node).map(\.state) == [.ambiguous, .ambiguous])
    try check(journal)
  }

  @Test(arguments: [
    (CountingPoint.allocated, [true, true]), (.allocatedBeforeCommit, [true, true]),
    (.intended, [false, false]),
  ])
  func aCancelMakesOrphansOfItemsWithoutAnIntent(point: CountingPoint, areInDoubt: [Bool]) throws {
    let (journal, node) = try filled(point)
    try journal.cancelOpen(reason: .cancelled, at: .start(plus: 9))
    let orphans = try journal.orphans
    #expect(orphans.map { $0.captures.first?.value } == ["u2", "u3"])
    #expect(orphans.map(\.orphaning.isInDoubt) == areInDoubt)
    #expect(orphans.allSatisfy { $0.orphaning.reason == .cancelled })
    #expect(try journal.items(node)[5].state == .ambiguous && journal.items(node)[5].captures == captures(6))
    try check(journal)
  }

  @Test func aCancelOfAnotherManifestMakesNoOrphans() throws {
    let (journal, _) = try filled(.intended)
    try journal.cancelOpen(manifest: "other", reason: .cancelled, at: .start)
    #expect(try journal.orphans.isEmpty)
    try check(journal)
  }

  /// The server uses the ID, whatever happens to the file afterwards.
  @Test func anIDThatADeliveredItemRemembersIsInDoubtWhenItsFileIsSentAgain() throws {
    let (journal, node) = try filled(.intended)
    try journal.write([.closed(row: 3, state: .done, at: .start, failure: nil, keepsUploadID: true)])
    let file = JournalWrite.Requeued(row: 3, size: 1, modified: 1)
    try journal.write([.requeue(round: 3, handedOver: .start, files: [file], firstOrphan: 5)])
    let orphan = try #require(try journal.orphans.first)
    #expect(orphan.captures == captures(3) && orphan.orphaning == Orphaning(.requeued, isInDoubt: true))
    #expect(try journal.items(node)[2].captures.isEmpty)
    var used: [[CapturedValue]] = []
    try journal.forEachUsedUploadID(excluding: [node]) { _, captures, _ in used.append(captures) }
    #expect(used.contains(captures(3)))
    try check(journal)
  }

  /// The same ID on another server identifies another upload.
  @Test(arguments: [("http://a", 0), ("http://b", 1)])
  func anIDThatAnotherServerIssuesLeavesTheOrphan(server: String, orphans: Int) throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.setCountingPoint(.intended, node: node)
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1)),
      .servers(row: 1, "http://a"), .allocated(row: 1, captures: captures(1), expires: nil),
      .orphaned(row: 1, orphan: 1, Orphaning(.otherServer, isInDoubt: false), at: .start), .released(row: 1),
    ])
    #expect(try journal.orphans.map(\.servers) == ["http://a"])
    #expect(try journal.items(node)[0].servers == nil)
    try journal.write([
      .servers(row: 1, server), .allocated(row: 1, captures: captures(1), expires: nil),
    ])
    #expect(try journal.orphans.count == orphans && journal.items(node)[0].servers == server)
    try journal.write([.closed(row: 1, state: .done, at: .start, failure: nil)])
    #expect(try journal.items(node)[0].servers == nil)
    try journal.close()
  }

  @Test func aJournalOfAnOlderFerryHasNoRecordOfItsCommits() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1)),
      .allocated(row: 1, captures: captures(1), expires: nil),
    ])
    // An item has an ID, but the journal does not record from which step on the ID is in doubt.
    try journal.setCountingPoint(.intended, node: node)
    try journal.cancelOpen(reason: .cancelled, at: .start)
    #expect(try journal.orphans.map(\.orphaning.isInDoubt) == [true])
    // Now no item has an ID.
    try journal.setCountingPoint(.intended, node: node)
    try journal.write([
      .requeue(round: 2, handedOver: .start, files: [.init(row: 1, size: 1, modified: 1)]),
      .allocated(row: 1, captures: captures(2), expires: nil),
    ])
    try journal.cancelOpen(reason: .cancelled, at: .start)
    #expect(try journal.orphans.map(\.orphaning.isInDoubt) == [true, false])
    try check(journal)
  }

  @Test func aRetryOfATransferMakesAnOrphanButOneOfACommitDoesNot() throws {
    let (journal, node) = try filled(.intended)
    let items = try journal.ambiguousItems(node: node)
    try journal.resolve(items: items.map { ($0, .again(round: 3)) }, nodes: [], at: .start(plus: 5))
    let orphans = try journal.orphans
    #expect(orphans.map { $0.captures.first?.value } == ["u5"])
    // The user has decided that the request was not executed.
    #expect(orphans.map(\.orphaning) == [Orphaning(.retried, isInDoubt: false)])
    #expect(try journal.items(node)[3].captures == captures(4))
    try check(journal)
  }

  @Test func itemsThatAUserResolvedAsDoneMakeNoOrphans() throws {
    let (journal, node) = try filled(.intended)
    let items = try journal.ambiguousItems(node: node)
    try journal.resolve(items: items.map { ($0, .done) }, nodes: [], at: .start)
    #expect(try journal.orphans.isEmpty)
    try check(journal)
  }

  @Test func theRunsOwnEntriesMakeOrphansInTheTransactionThatForgetsTheirIDs() throws {
    let (journal, node) = try filled(.intended)
    try journal.write([
      .orphaned(row: 2, orphan: 7, Orphaning(.expired, isInDoubt: false), at: .start(plus: 1)),
      .released(row: 2),
      .orphaned(row: 3, orphan: 8, Orphaning(.failed, isInDoubt: true), at: .start(plus: 2)),
      .closed(
        row: 3, state: .failed, at: .start(plus: 2),
        failure: RecordedFailure(code: "http_status", message: "")),
      // Item 1 has no ID, so it cannot leave an orphan.
      .orphaned(row: 1, orphan: 9, Orphaning(.failed, isInDoubt: false), at: .start(plus: 2)),
    ])
    #expect(try journal.orphans.map(\.id) == [7, 8])
    #expect(try journal.orphans.map(\.orphaning.reason) == [.expired, .failed])
    #expect(try journal.nextOrphan == 9)
    #expect(try journal.items(node)[1].captures.isEmpty)
    try check(journal)
  }

  @Test func aRequeuedItemMakesAnOrphanIfItHoldsAnID() throws {
    let (journal, _) = try filled(.intended)
    try journal.write([
      .requeue(
        round: 3, handedOver: .start(plus: 3),
        files: [.init(row: 1, size: 5, modified: 5), .init(row: 2, size: 5, modified: 5)], firstOrphan: 4)
    ])
    let orphans = try journal.orphans
    #expect(orphans.map(\.id) == [5] && orphans.map(\.orphaning.reason) == [.requeued])
    #expect(orphans[0].size == 101)
    try check(journal)
  }

  @Test func filesThatStartOverAreQueuedWithoutTheirIDs() throws {
    let (journal, node) = try filled(.intended)
    try journal.dropUploadIDs([(2, .edited), (6, .requeued)], at: .start(plus: 4))
    #expect(try journal.orphans.map(\.orphaning.reason) == [.edited, .requeued])
    #expect(try journal.orphans.map(\.orphaning.isInDoubt) == [false, true])
    #expect(try journal.items(node)[1].state == .queued && journal.items(node)[1].captures.isEmpty)
    try check(journal)
  }

  @Test func capturesOfATransferAloneAreNoUploadID() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    let location = CapturedValue(name: "transfer.location", value: "/a", isSecret: false)
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1)),
      .transferred(row: 1, captures: [location], sha256: nil),
    ])
    try journal.cancelOpen(reason: .cancelled, at: .start)
    #expect(try journal.orphans.isEmpty)
    try check(journal)
  }

  // MARK: Afterwards

  @Test func aReleaseRemovesTheOrphanAndAFailedReleaseRecordsWhy() throws {
    let (journal, _) = try filled(.intended)
    try journal.cancelOpen(reason: .cancelled, at: .start)
    let failure = RecordedFailure(
      code: "http_status", status: 403, message: "the server responded with 403 to DELETE")
    try journal.write([
      .orphanSettled(orphan: 1), .orphanKept(orphan: 2, failure: failure, at: .start(plus: 8)),
      // There is no orphan 99, because an item uses its ID again.
      .orphanSettled(orphan: 99), .orphanKept(orphan: 99, failure: failure, at: .start),
    ])
    #expect(try journal.orphans.map(\.id) == [2])
    #expect(try journal.orphans.first?.failure == failure)
    #expect(try journal.orphans.first?.triedAt == .start(plus: 8))
    try check(journal)
  }

  @Test func aReissuedIDIsNoOrphan() throws {
    let (journal, _) = try filled(.intended)
    try journal.write([
      .orphaned(row: 2, orphan: 1, Orphaning(.startedOver, isInDoubt: false), at: .start), .released(row: 2),
      .allocated(row: 2, captures: captures(2), expires: nil),
    ])
    #expect(try journal.orphans.isEmpty)
    try check(journal)
  }

  @Test func aUserCanForgetOrphans() throws {
    let (journal, _) = try filled(.intended)
    _ = try journal.reset(at: .start)
    #expect(try journal.forgetOrphans([1, 99]) == 1)
    #expect(try journal.orphans.map(\.id) == [2, 3])
    #expect(try journal.forgetOrphans(nil) == 2)
    try check(journal)
  }

  @Test func manyOrphansAreMadeAtOnce() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.setCountingPoint(.intended, node: node)
    let count = 20_000
    try journal.write(
      [.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: count))]
        + (1...count).map { .allocated(row: Int64($0), captures: captures($0), expires: nil) })
    try journal.cancelOpen(reason: .cancelled, at: .start)
    #expect(try journal.orphanCounts() == [node: count])
  }

  // MARK: The check

  @Test(arguments: [
    ("UPDATE orphan SET reason = 99", JournalFinding.Code.unknownValue),
    ("UPDATE orphan SET in_doubt = 2", .unknownValue),
    ("UPDATE orphan SET node = 77", .brokenReference),
    ("UPDATE orphan SET captures = NULL, secret_captures = NULL", .capturesNotAllowed),
    ("UPDATE orphan SET captures = 'x'", .unreadableText),
    ("UPDATE orphan SET tried_at = 1", .closingDiffers),
    ("UPDATE node SET counts_from = 4", .unknownValue),
    (
      """
      INSERT INTO orphan (node, path, size, modified, captures, secret_captures, handed_over, reason, in_doubt,
        dropped_at)
      SELECT node, path, size, modified, captures, secret_captures, handed_over, 2, 0, 1 FROM item WHERE state = 5
      """, .orphanInUse
    ),
  ])
  func rowsThatNoFerryWritesAreFound(sql: String, code: JournalFinding.Code) throws {
    let (journal, _) = try filled(.intended)
    try journal.cancelOpen(reason: .cancelled, at: .start)
    try check(journal)
    let queue = try DatabaseQueue(path: try state.database())
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
    #expect(try Set(ReleasedSchemaTests.findings(in: state).map(\.code)) == [code])
  }

  @Test func `count from their allocation while items of a manifest without a commit have them`() throws {
    let (journal, node) = try filled(.allocated)
    var point: CountingPoint? { get throws { try journal.nodes.first { $0.id == node }?.countingPoint } }
    for _ in 1...2 {
      try journal.setCountingPoint(.intended, node: node)
      #expect(try point == .allocatedBeforeCommit)
    }
    try journal.setCountingPoint(.allocated, node: node)
    #expect(try point == .allocated)
    try journal.setCountingPoint(.intended, node: node)
    try journal.cancelOpen(reason: .cancelled, at: .start(plus: 9))
    #expect(try journal.orphans.allSatisfy(\.orphaning.isInDoubt))
    try journal.setCountingPoint(.intended, node: node)
    #expect(try point == .intended)
    try check(journal)
  }
}
