import FerryPlan
import Testing

@testable import FerryJournal

/// The idempotency key that is recorded with the intent of a commit.
@Suite struct CommitKeyTests {
  private static let key = CommitKey(header: "Key", value: "k1")

  let state: TemporaryState
  let journal: SessionJournal
  let node: Int64

  /// One transferred item whose commit was about to be sent.
  init() throws {
    state = try TemporaryState()
    journal = try state.open()
    node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1)),
      .transferred(row: 1, captures: [], sha256: nil), .intent(row: 1, step: .commit, key: Self.key),
    ])
  }

  private func stored() throws -> CommitKey? { try journal.items(node)[0].commitKey }

  private func check() throws {
    try journal.close()
    #expect(try ReleasedSchemaTests.findings(in: state) == [])
  }

  private static let lost = RecordedFailure(code: "answer_lost", message: "lost")

  @Test(arguments: [
    [JournalWrite.withdraw(row: 1)], [.intent(row: 1, step: .commitDeferred)],
    [.adopt(round: 2, handedOver: .start, rows: [1])],
    [.closed(row: 1, state: .ambiguous, at: .start, failure: lost)],
  ])
  func theKeyIsKeptWhileTheCommitMayBeSentAgain(_ writes: [JournalWrite]) throws {
    try journal.write(writes)
    #expect(try stored() == Self.key)
    try check()
  }

  @Test func aRetryThatAUserDecidedOnKeepsTheKey() throws {
    try journal.write([.closed(row: 1, state: .ambiguous, at: .start, failure: Self.lost)])
    let items = try journal.ambiguousItems(node: node)
    try journal.resolve(items: items.map { ($0, .again(round: 2)) }, nodes: [], at: .start)
    #expect(try stored() == Self.key)
    try check()
  }

  @Test func anotherIntentOfTheCommitReplacesTheKey() throws {
    try journal.write([.intent(row: 1, step: .commit)])
    #expect(try stored() == nil)
    try check()
  }

  @Test(arguments: [
    [
      JournalWrite.requeue(round: 2, handedOver: .start, files: [.init(row: 1, size: 1, modified: 1)])
    ],
    [.released(row: 1)], [.closed(row: 1, state: .done, at: .start, failure: nil)],
    [.closed(row: 1, state: .done, at: .start, failure: nil, keepsUploadID: true)],
    [.closed(row: 1, state: .failed, at: .start, failure: lost)],
    [.released(row: 1), .allocated(row: 1, captures: [], expires: nil)],
  ])
  func theKeyIsForgottenAfterTheDelivery(_ writes: [JournalWrite]) throws {
    try journal.write(writes)
    #expect(try stored() == nil)
    try check()
  }

  @Test func theKeyIsForgottenWhenItsItemIsResolvedOrCanceled() throws {
    try journal.write([.closed(row: 1, state: .ambiguous, at: .start, failure: Self.lost)])
    try journal.resolve(
      items: try journal.ambiguousItems(node: node).map { ($0, .done) }, nodes: [], at: .start)
    #expect(try stored() == nil)
    try journal.write([
      .requeue(round: 2, handedOver: .start, files: [.init(row: 1, size: 1, modified: 1)]),
      .transferred(row: 1, captures: [], sha256: nil), .intent(row: 1, step: .commit, key: Self.key),
      .withdraw(row: 1),
    ])
    try journal.cancelOpen(reason: .cancelled, at: .start)
    #expect(try stored() == nil)
    try check()
  }

  /// A request contains the recorded key as a header field.
  @Test func aKeyThatIsNoHeaderFieldIsDamage() throws {
    try journal.write([
      .intent(row: 1, step: .commit, key: CommitKey(header: "Key", value: "k\r\nX-Other: 1"))
    ])
    #expect(throws: JournalError.self) { try stored() }
  }
}
