import FerryJournal
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// Items that are open in the journal, but whose files the listing does not contain.
@Suite("An open item that is not listed")
struct UnlistedItemTests {
  private let run: TestRun
  private let node: Int64

  init() throws {
    run = try TestRun(
      """
      uploads:
        u:
          session: s
          files: { root: files, include: ["*.jpg"] }
          transfer: { request: { url: "https://a.example/${file.path}" } }
      """, files: ["a.jpg", "private/secret", "x"])
    node = try #require(run.launchState.rows[0]).id
  }

  /// The state of the next launch, with these open items in the journal.
  private func next(_ paths: String...) throws -> LaunchState {
    var files = FileColumns()
    for path in paths { files.append(path: path.utf8, size: 1, modified: 0) }
    let journal = try #require(run.journals.all[0])
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    try writer.append(
      [.insert(node: node, round: 1, handedOver: TestRun.start, firstRow: 1, files: files)], to: 0)
    try writer.close()
    return try LaunchState(
      run.job, journals: run.journals, round: 1, selection: Selection([], in: run.job.plan),
      listers: run.listers, at: TestRun.start)
  }

  private func identities(_ state: LaunchState) throws -> [String: UInt64] {
    guard case .upload(let items, _) = state.starts[0] else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: (0..<items.count).map {
        (String(decoding: items.files.path($0), as: UTF8.self), items.files.identities[$0])
      })
  }

  @Test func isIdentifiedLikeAListedOne() throws {
    let identities = try identities(try next("x"))
    var status = stat()
    #expect(stat(run.folder.path + "/files/x", &status) == 0)
    #expect(identities["x"] == status.identity && identities.keys.contains("a.jpg"))
  }

  @Test func failsIfItsFileIsMissing() throws {
    let state = try next("gone")
    #expect(state.absent[0]?[Array("gone".utf8)]?.code == .sourceMissing)
  }

  /// If ferry followed such a link, a user with write access to one folder of the root could replace a queued file with
  /// a link, and have any file in the root sent, deleted or moved.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }), arguments: [false, true])
  func isRefusedIfItHasBecomeAnotherUsersLink(isFolder: Bool) throws {
    let (link, target, path) = isFolder ? ("d", "private", "d/secret") : ("l", "private/secret", "l")
    run.folder.link("files/" + link, to: target)
    #expect(lchown("\(run.folder.path)/files/\(link)", 65534, 65534) == 0)
    let state = try next(path)
    #expect(state.absent[0]?[Array(path.utf8)]?.code == .sourceUnreadable)
    #expect(try identities(state)[path] == 0)
  }
}
