import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// Listed paths whose files ferry has delivered and then deleted or moved.
@Suite("A listed file that ferry has taken away")
struct TakenFileTests {
  private let run: TestRun
  private let journal: SessionJournal
  private let node: Int64

  init() throws {
    run = try TestRun(
      """
      uploads:
        u:
          session: s
          files: { root: files, list: list.txt }
          transfer: { request: { url: "https://a.example/${file.path}" } }
          after: delete
      """, files: ["present", "new"], list: "present\n")
    journal = try #require(run.journals.all[0])
    node = try #require(run.launchState.rows[0]).id
  }

  /// Records items of round 1 as delivered, with these results of their `after`.
  private func deliver(_ items: [(path: String, after: AfterState?)]) throws {
    var files = FileColumns()
    for item in items { files.append(path: item.path.utf8, size: 1, modified: 0) }
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    var writes: [JournalWrite] = [
      .insert(node: node, round: 1, handedOver: TestRun.start, firstRow: 1, files: files)
    ]
    for (index, item) in items.enumerated() {
      let row = Int64(index + 1)
      writes.append(.closed(row: row, state: .done, at: TestRun.start, failure: nil))
      if let after = item.after { writes.append(.after(row: row, after)) }
    }
    try writer.append(writes, to: 0)
    try writer.close()
  }

  private func state(_ list: String, round: Int64, isPreview: Bool = false) throws -> LaunchState {
    try Data(list.utf8).write(to: URL(fileURLWithPath: run.folder.path + "/list.txt"))
    return try LaunchState(
      run.job, journals: run.journals, round: round, selection: Selection([], in: run.job.plan),
      listers: run.listers, isPreview: isPreview, at: TestRun.start)
  }

  private func problems(_ state: LaunchState) -> [String] {
    (state.problems[0] ?? ListingProblems()).map { String(decoding: $0.path, as: UTF8.self) }
  }

  @Test(arguments: [1, 2], [false, true])
  func isNotAProblemInThisRoundOrALaterOne(round: Int64, isPreview: Bool) throws {
    try deliver([
      ("deleted", .deleted), ("gone", .gone), ("kept", nil), ("moved", .moved), ("owed", .owed),
    ])
    let state = try state(
      "deleted\ngone\nkept\nmoved\nnever\nnew\nowed\n", round: round, isPreview: isPreview)
    #expect(problems(state) == ["kept", "never"])
    guard case .upload(let items, let settled) = state.starts[0] else {
      Issue.record("\(state.starts)")
      return
    }
    #expect((0..<items.count).map { String(decoding: items.files.path($0), as: UTF8.self) } == ["new"])
    // The files count as unlisted, as with a glob, which does not match missing files.
    #expect(settled.unlisted == 2 && settled.delivered == 0 && settled.owedAfter == 1)
  }

  @Test func doesNotUseUpTheRecordedProblems() throws {
    let paths = (0..<ListingProblems.most + 5).map { "deleted \($0)" }
    try deliver(paths.sorted().map { ($0, .deleted) })
    let list = (paths + ["never"]).joined(separator: "\n")
    let problems = try #require(try state(list, round: 2).problems[0])
    #expect(problems.map(\.path) == [Array("never".utf8)] && problems.omitted == 0)
  }

  @Test func isSentIfItExistsAgain() throws {
    try deliver([("new", .deleted)])
    guard case .upload(let items, _) = try state("new\n", round: 2).starts[0] else { return }
    #expect(items.count == 1 && items.entries == [.requeued])
  }
}
