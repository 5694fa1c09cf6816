import FerryJournal
import FerryPlan
import Foundation
import Testing

@Suite struct RetentionTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func history() throws -> RunHistory {
    try RunHistory.open(in: state.directory, writtenBy: "0", at: .start)
  }

  private func run(_ history: RunHistory, _ id: String, _ manifest: String, ended: Int64?) throws {
    try history.register(
      JobRow(manifest: manifest, path: "/\(manifest).yaml", variables: [:], registeredAt: .start))
    _ = try history.openRound(manifest: manifest, at: .start)
    try history.begin(
      RunRow(id: id, launch: .background, rounds: [.init(manifest: manifest, number: 1)], startedAt: .start))
    if let ended { try history.end(run: id, exitCode: 0, report: nil, at: .start(plus: ended)) }
  }

  @Test func oldRunsAreForgottenExceptTheLastOfEachManifestAndOpenOnes() throws {
    let history = try history()
    try run(history, "a1", "a", ended: 1)
    try run(history, "a2", "a", ended: 2)
    try run(history, "b1", "b", ended: 3)
    try run(history, "a3", "a", ended: nil)
    try run(history, "a4", "a", ended: 100)
    let old = try history.runs(endedBefore: .start(plus: 50), atMost: 10)
    #expect(old == ["a1", "a2"])
    #expect(try history.runs(endedBefore: .start(plus: 50), atMost: 1) == ["a1"])
    #expect(try history.runs(endedBefore: .start(plus: 1), atMost: 10) == [])
    try history.forget(runs: old)
    #expect(try history.runs().map(\.id) == ["a4", "a3", "b1"])
    #expect(try history.latestRound(manifest: "a")?.number == 1)
    try history.close()
    #expect(try ReleasedSchemaTests.findings(in: state).isEmpty)
  }

  @Test func deliveredItemsWhoseFileIsStillToBeDeletedAreNotForgotten() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 3)),
      .closed(row: 1, state: .done, at: .start, failure: nil), .after(row: 1, .owed),
      .closed(row: 2, state: .done, at: .start, failure: nil), .after(row: 2, .deleted),
      .closed(row: 3, state: .done, at: .start, failure: nil),
    ])
    #expect(try journal.forget([.done], before: .start(plus: 1)) == 2)
    #expect(try journal.items(node).map(\.id) == [1])
    try journal.close()
  }

  @Test func failedAndCancelledItemsAreForgottenOnlyWhenAsked() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 5)),
      .closed(row: 1, state: .failed, at: .start, failure: nil),
      .closed(row: 2, state: .cancelled, at: .start, failure: nil),
      .closed(row: 3, state: .done, at: .start, failure: nil),
      .closed(row: 4, state: .ambiguous, at: .start, failure: nil),
    ])
    #expect(try journal.forget([.failed, .cancelled], before: .start) == 0)
    #expect(try journal.forget([.failed, .cancelled], before: .start(plus: 1)) == 2)
    #expect(try journal.items(node).map(\.id) == [3, 4, 5])
    try journal.close()
  }

  @Test func deliveredItemsAreForgottenOnlyIfTheyAreOld() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 25_000))
    ])
    try journal.write(
      (1...24_000).map { .closed(row: $0, state: .done, at: .start(plus: $0 % 2), failure: nil) })
    #expect(try journal.forget([.done], before: .start) == 0)
    #expect(try journal.forget([.done], before: .start(plus: 1)) == 12_000)
    let items = try journal.items(node)
    #expect(items.count == 13_000)
    #expect(items.filter { $0.state == .queued }.count == 1000)
    #expect(try journal.forget([.done], before: .start(plus: 1)) == 0)
    try journal.close()
  }
}
