import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// The journals hold a request that a killed launch has left in a session that the manifest no longer uses for it.
@Suite("A request in its former session")
struct FormerRequestTests {
  private let folder: TestFolder
  private let state: StateDirectory
  private let history: RunHistory
  private let job: Job
  private let journals: SessionJournals

  init() throws {
    folder = try TestFolder()
    state = try StateDirectory(explicit: folder.path + "/state", environment: [:])
    let path = folder.path + "/m.yaml"
    try Data(
      """
      version: 1
      name: m
      sessions: { s: { identifier: s } }
      requests:
        notify: { session: s, request: { method: POST, url: "http://h.example/notify" } }
        later: { session: s, request: { method: POST, url: "http://h.example/later" } }

      """.utf8
    ).write(to: URL(fileURLWithPath: path))
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    job = try #require(reading.job, "\(reading.diagnostics)")
    history = try RunHistory.open(in: state, writtenBy: "test", at: TestRun.start)
    journals = try SessionJournals.open(
      job.plan, in: state, known: [], writtenBy: "test", at: TestRun.start)
    try writeFormer { node in .nodeIntent(node: node, round: 1) }
  }

  private var own: SessionJournal { get throws { try #require(journals.all[0]) } }

  /// Writes to the row of `notify` in a journal.
  private func write(_ journal: SessionJournal, _ write: (_ node: Int64) -> JournalWrite) throws {
    let identity = try #require(job.plan.nodes.first { $0.name == "notify" }?.rowIdentity)
    let row = try journal.node(manifest: "m", name: "notify", kind: identity.kind, origin: identity.origin)
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    _ = try writer.append([write(row.id)], to: 0)
    try writer.close()
  }

  private func writeFormer(_ content: (_ node: Int64) -> JournalWrite) throws {
    let journal = try SessionJournal.open(
      session: "former", in: state, known: [], writtenBy: "test", at: TestRun.start)
    try write(journal, content)
    try journal.close()
  }

  private func formerRow() throws -> NodeRow {
    let journal = try SessionJournal.openForReading(session: "former", in: state, known: [])
    defer { try? journal.close() }  // It was only read.
    return try #require(try journal.nodes.first)
  }

  private func ownRow() throws -> NodeRow? { try own.nodes.first { $0.name == "notify" } }

  private func find() throws -> FormerRequests {
    try FormerRequests(
      Jobs(job), rounds: [1], continued: [0], journals, history, in: state
    ) { Issue.record("\($0)") }
  }

  private func settle(_ former: inout FormerRequests) throws {
    try former.settle(
      job.plan, rounds: [1], journals, history, in: state, writtenBy: "test", at: TestRun.start)
  }

  @Test func `moves to the journal of its new session`() throws {
    try write(own) { .nodeWithdraw(node: $0) }
    var former = try find()
    #expect(former.entries.map(\.session) == ["former"] && former.entries.allSatisfy(\.isInterrupted))
    try settle(&former)
    #expect(former.entries.isEmpty)
    let row = try #require(try ownRow())
    #expect(row.round == 1 && row.state == .ambiguous && row.failure == .interruptedRequest)
    #expect(try formerRow().round == 0)
    #expect(try find().entries.isEmpty)
  }

  /// Another process has recorded the result after this one had read the row.
  @Test func `stays if its row has changed since it was found`() throws {
    try write(own) { .nodeWithdraw(node: $0) }
    var former = try find()
    try writeFormer { .nodeClosed(node: $0, NodeClosing(round: 1, state: .done, at: TestRun.start)) }
    let changed = try formerRow()
    try settle(&former)
    #expect(former.entries.map { $0.obstacle?.code } == [.waiting])
    #expect(try ownRow()?.round == 0)
    #expect(try formerRow() == changed)
  }

  /// The user's decision about the former request is not the result of the new one.
  @Test func `stays if the request has also ended in its new session`() throws {
    try write(own) { .nodeClosed(node: $0, NodeClosing(round: 1, state: .done, at: TestRun.start)) }
    try writeFormer {
      .nodeClosed(node: $0, NodeClosing(round: 1, state: .done, at: TestRun.start, failure: .resolved))
    }
    let before = (try ownRow(), try formerRow())
    var former = try find()
    try settle(&former)
    #expect(former.entries.count == 1)
    #expect(try ownRow() == before.0)
    #expect(try formerRow() == before.1)
  }
}
