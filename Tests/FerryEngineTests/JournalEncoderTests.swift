import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import Testing

@testable import FerryEngine

/// The encoding of each journal entry as writes. The scheduler, the captures and the plan are real.
@Suite("The encoding of journal entries")
struct JournalEncoderTests {
  private static let yaml = """
    uploads:
      u:
        session: s
        files: { root: files }
        after: delete
        allocate:
          request: { method: POST, url: "https://a.example/ids" }
          capture: { id: { json: /id } }
        transfer: { request: { url: "https://a.example/ids/${allocate.id}" } }
        commit:
          request: { method: POST, url: "https://a.example/ids/${allocate.id}/commit" }
          already_done: { status: [409] }
        abandon: { request: { method: DELETE, url: "https://a.example/ids/${allocate.id}" } }
    fetches:
      f: { session: s, request: { url: "https://a.example/f" }, save_to: f }
    requests:
      r:
        session: s
        request: { method: POST, url: "https://a.example/r" }
        capture: { id: { json: /id } }
    """

  private let run: TestRun
  private let writes: RecordedWrites
  private let encoder: JournalEncoder
  private let upload: NodeID
  private let fetch: NodeID
  private let request: NodeID

  init() throws {
    run = try TestRun(Self.yaml, files: ["a", "b"])
    writes = RecordedWrites(Mailbox<RunMessage> {})
    let plan = run.job.plan
    func node(_ name: String) throws -> NodeID {
      NodeID(try #require(plan.nodes.firstIndex { $0.name == name }))
    }
    (upload, fetch, request) = (try node("u"), try node("f"), try node("r"))
    encoder = JournalEncoder(
      plan: plan, rounds: [4], writer: writes, sessions: [0],
      places: plan.nodes.indices.map { (journal: 0, row: 10 + Int64($0)) }, orphans: [upload.index: [70]],
      nextOrphans: [90],
      postDeliveryWorker: PostDeliveryWorker([:], on: try SerialWorker("after"), writer: writes, metrics: [:])
    )
  }

  private var item: ItemRef { ItemRef(upload, 0) }

  private func row(_ ref: ItemRef) throws -> Int64 {
    try #require(run.scheduler.withItems(of: ref.node) { $0.rows[ref.item ?? 0] })
  }

  /// The writes of one `.record` action.
  private func encode(_ entries: JournalEntry...) throws -> [JournalWrite] {
    let before = writes.writes.count
    try encoder.write(entries, scheduler: run.scheduler, captures: run.captures, fetches: run.fetches)
    return Array(writes.writes[before...])
  }

  private func names(_ writes: [JournalWrite]) -> [String] {
    writes.map { String("\($0)".prefix { $0 != "(" }) }
  }

  @Test func newItemsAreInsertedInOneWrite() throws {
    let written = try encode(.itemsQueued(upload, items: 0..<2, at: TestRun.start))
    let row = try row(item)
    guard case .insert(let node, 4, TestRun.start, let first, let files)? = written.first else {
      Issue.record("\(written)")
      return
    }
    #expect(written.count == 1 && node == 10 + Int64(upload.index) && first == row)
    #expect((0..<files.count).map { String(decoding: files.path($0), as: UTF8.self) } == ["a", "b"])
  }

  @Test(arguments: [ItemStep.transfer, .commit])
  func anIntentNamesItsStep(step: ItemStep) throws {
    let row = try row(item)
    guard case .intent(row, step, nil, _)? = try encode(.intentRecorded(item, step)).first else {
      Issue.record("not an intent of \(step)")
      return
    }
    #expect(names(try encode(.intentWithdrawn(item))) == ["withdraw"])
  }

  /// While intents of commits are written, the scheduler uses the connections for other requests. It writes ahead twice
  /// as many as there are connections, or 64 of commits that can be repeated.
  @Test(arguments: [true, false]) func anIntentNamesWhatItHolds(isRepeatable: Bool) throws {
    let run = try TestRun(
      isRepeatable ? Self.yaml : Self.yaml.replacing("      already_done: { status: [409] }\n", with: ""),
      files: ["a"])
    let plan = run.job.plan
    let keys = CommitKeys(plan, rounds: [1])
    let connections = plan.sessions[plan.nodes[upload.index].session.index].maxConnectionsPerHost
    #expect(keys.heldByIntent(of: upload) == .requestOnly(group: isRepeatable ? 32 : connections))
    #expect(keys.heldByIntent(of: request) == .connection)
  }

  /// The server recognizes a repeated commit only by the key that the first attempt sent.
  @Test func anIntentOfACommitKeepsTheKeyOfTheFirst() throws {
    let nodes = """
      uploads:
        u:
          session: s
          files: { root: files }
          deliver: every_run
          transfer: { request: { url: "https://a.example/${file.name}" } }
          commit:
            request: { method: POST, url: "https://a.example/${file.name}/commit" }
            idempotency_key: { header: Key }
      """
    let run = try TestRun(nodes, files: ["a"])
    let item = try run.attempt(.transfer).ref
    let (first, later) = (CommitKeys(run.job.plan, rounds: [1]), CommitKeys(run.job.plan, rounds: [2]))
    let key = try #require(first.key(of: item, ItemValues(), run.scheduler))
    #expect(key.header == "Key" && key != later.key(of: item, ItemValues(), run.scheduler))
    var known = ItemValues()
    known.commitKey = CommitKey(header: "X-Key", value: key.value)
    #expect(later.key(of: item, known, run.scheduler) == key)
    try run.respond(to: .transfer)
    // An earlier launch recorded the key.
    run.captures.keep(commitKey: CommitKey(header: "X-Key", value: "k"), of: item)
    let sent = try run.request(.commit).headers
    #expect(sent.filter { $0.name == "X-Key" }.map(\.value) == ["k"] && !sent.contains { $0.name == "Key" })
  }

  @Test func anUploadIDIsWrittenWithItsExpiryAndForgottenWhenItIsDiscarded() throws {
    try run.respond(to: .allocate, body: #"{"id":"7"}"#)
    let expires = TestRun.start.advanced(by: .seconds(60))
    let first = try #require(run.entries.compactMap(\.allocated).first)
    let row = try row(first)
    guard
      case .allocated(row, let captures, expires)? = try encode(.uploadIDAllocated(first, expires: expires))
        .first
    else {
      Issue.record("no upload ID")
      return
    }
    #expect(captures.map(\.name) == ["allocate.id"] && captures.map(\.value) == ["7"])
    #expect(names(try encode(.uploadIDDiscarded(first))) == ["released"])
    #expect(run.captures[first].allocate.isEmpty)
  }

  @Test func aTransferredFileIsWrittenWithItsDigestAndItsIdentity() throws {
    #expect(names(try encode(.fileTransferred(item))) == ["transferred"])
    run.captures.keep(sha256: [0xAB], of: item)
    run.captures.keep(inode: 5, root: nil, of: item)
    let written = try encode(.fileTransferred(item))
    #expect(names(written) == ["transferred", "source"])
    guard case .transferred(_, _, [0xAB])? = written.first, case .source(_, 5, nil, nil)? = written.last
    else {
      Issue.record("\(written)")
      return
    }
  }

  @Test func orphansAreNumberedFromTheNextFreeRow() throws {
    try run.respond(to: .allocate, body: #"{"id":"7"}"#)
    let first = try #require(run.entries.compactMap(\.allocated).first)
    let orphaned = try encode(
      .uploadIDOrphaned(first, as: 1, Orphaning(.failed, isInDoubt: false), at: TestRun.start),
      .uploadIDDiscarded(first))
    #expect(names(orphaned) == ["orphaned", "released"])
    guard case .orphaned(_, 90, _, TestRun.start)? = orphaned.first else {
      Issue.record("\(orphaned)")
      return
    }
    // Index 0 is the orphan of an earlier launch, and index 1 the new one.
    for (index, row) in [(0, Int64(70)), (1, 90)] {
      let orphan = ItemRef.orphan(index, of: upload)
      let failure = RecordedFailure(code: .httpStatus, status: 500, message: "")
      guard
        case .orphanKept(row, failure, TestRun.start)? = try encode(
          .orphanReleaseFailed(orphan, failure, at: TestRun.start)
        ).first
      else {
        Issue.record("orphan \(index) is not kept")
        continue
      }
      guard case .orphanSettled(row)? = try encode(.orphanResolved(orphan)).first else {
        Issue.record("orphan \(index) is not resolved")
        continue
      }
      #expect(try encode(.orphanResolved(orphan)).isEmpty)
    }
  }

  @Test func onlyADeliveredFileOwesItsAfterAction() throws {
    let failure = RecordedFailure(code: .httpStatus, status: 400, message: "")
    #expect(names(try encode(.itemClosed(item, .failed, failure, at: TestRun.start))) == ["closed"])
    run.captures.keep(inode: 5, root: nil, of: item)
    #expect(
      names(try encode(.itemClosed(item, .ambiguous, failure, at: TestRun.start))) == ["closed", "source"])
    run.captures.keep(inode: 5, root: nil, of: item)
    let done = try encode(.itemClosed(item, .done, nil, at: TestRun.start))
    #expect(names(done) == ["closed", "source", "after"])
    guard case .after(_, .owed)? = done.last else {
      Issue.record("\(done)")
      return
    }
  }

  @Test func aRequestIsClosedWithItsCaptures() throws {
    let ref = ItemRef(request, nil)
    #expect(
      names(try encode(.intentRecorded(ref, nil), .intentWithdrawn(ref))) == ["nodeIntent", "nodeWithdraw"])
    let attempt = try #require(run.started.first { $0.ref == ref })
    let step = try #require(run.job.plan.nodes[request.index].steps.first)
    run.captures.keep([CapturedValue(name: "id", value: "9", isSecret: false)], of: attempt, step)
    guard
      case .nodeClosed(_, let closing)? = try encode(.itemClosed(ref, .done, nil, at: TestRun.start)).first
    else {
      Issue.record("no end")
      return
    }
    #expect(closing.round == 4 && closing.state == .done && closing.captures.map(\.value) == ["9"])
    #expect(closing.fetch == nil)
  }

  @Test func onlyASuccessfulFetchHasAFetchRecord() throws {
    let attempt = try #require(run.started.first { $0.ref.node == fetch })
    try run.respond(to: .fetch, headers: [("ETag", "\"1\"")])
    for (state, tag) in [(ItemState.done, "\"1\""), (.failed, nil)] as [(ItemState, String?)] {
      guard
        case .nodeClosed(_, let closing)? = try encode(
          .itemClosed(attempt.ref, state, nil, at: TestRun.start)
        )
        .first
      else {
        Issue.record("no end")
        continue
      }
      #expect(closing.fetch?.etag == tag)
    }
  }

  @Test func entriesOfASessionAreWrittenToItsJournal() throws {
    let delay = ResumeState(period: .seconds(8), resumedAt: TestRun.start)
    let written = try encode(.sessionResumed(SessionID(0), delay), .batchCompleted(SessionID(0)))
    guard case .resumed(let period, TestRun.start)? = written.first,
      case .events(pending: true)? = written.last
    else {
      Issue.record("\(written)")
      return
    }
    #expect(period == .seconds(8))
  }

  @Test func aRecordIsOnDiskOnceItsLastWriteIsSynced() throws {
    _ = try encode(.intentRecorded(item, .transfer))
    // A record without writes is on disk as soon as the previous record is.
    _ = try encode()
    _ = try encode(.intentWithdrawn(item), .intentRecorded(item, .commit))
    #expect(encoder.record(syncedBy: 0) == 0)
    #expect(encoder.record(syncedBy: 1) == 2)
    #expect(encoder.record(syncedBy: 2) == 2)
    #expect(encoder.record(syncedBy: 3) == 3)
  }
}

extension JournalEntry {
  /// The item for which an upload ID was allocated.
  fileprivate var allocated: ItemRef? {
    if case .uploadIDAllocated(let ref, _) = self { ref } else { nil }
  }
}
