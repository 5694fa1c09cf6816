import FerryJournal
import FerryManifest
import FerryProcess
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryPlan
@testable import FerryTransfer

/// The run loop with a scripted network and a journal in memory. The scheduler and everything else are real.
@Suite("The run loop")
struct RunLoopTests {
  private let run: TestRun
  private let transfers = ScriptedTransfers()
  private let messages = Mailbox<RunMessage> {}
  private let writes: RecordedWrites
  private let state: StateDirectory
  private let ledger: Ledger

  init() throws {
    try self.init(
      """
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { url: "https://a.example/${file.path}" } }
      """, files: ["a", "b"])
  }

  private init(_ nodes: String, files: [String]) throws {
    run = try TestRun(nodes, files: files)
    writes = RecordedWrites(messages)
    state = try StateDirectory(explicit: run.folder.path + "/state", environment: [:])
    ledger = try Ledger.open(in: state, writtenBy: "0", at: TestRun.start)
  }

  private func loop(news: @escaping () -> Event? = { nil }) throws -> FerryEngine.RunLoop {
    let clock = LaunchClock()
    let plan = run.job.plan
    let worker = PostDeliveryWorker(
      [:], on: try SerialWorker("after"), writer: writes, metrics: [:])
    return FerryEngine.RunLoop(
      scheduler: run.unstarted, clock: clock, loop: transfers, messages: messages, requests: run.requests,
      responses: run.responses, captures: run.captures, fetches: run.fetches,
      journalEncoder: JournalEncoder(
        plan: plan, rounds: [1], writer: writes, sessions: [0],
        places: plan.nodes.map { _ in (journal: 0, row: 1) }, orphans: [:], nextOrphans: [1],
        postDeliveryWorker: worker),
      usageRecorder: UsageRecorder(
        ledger, on: try SerialWorker("ledger"), messages: messages, clock: clock),
      search: SearchThread(on: try SerialWorker("search"), messages: messages),
      news: { _, _ throws(JournalError) in news().map(InboxNews.event) }, onProgress: { _, _ in })
  }

  private func ok(_ request: TransferRequest) -> Result<TransferResponse, TransportFailure> {
    .success(TransferResponse(status: 200, headers: [], body: [], url: request.url, sha256: nil))
  }

  private var closed: Int {
    writes.writes.count { if case .closed(_, .done, _, _, _) = $0 { true } else { false } }
  }

  @Test func sendsEachFileRecordsItAndEnds() throws {
    transfers.respond = ok
    let loop = try loop()
    loop.run()
    #expect(loop.fault == nil && loop.scheduler.hasEnded && loop.scheduler.isRoundThrough)
    #expect(transfers.requests.map(\.url).sorted() == ["https://a.example/a", "https://a.example/b"])
    guard case .insert(_, 1, _, _, let files)? = writes.writes.first else {
      Issue.record("the files are not queued first: \(writes.writes)")
      return
    }
    #expect(files.count == 2 && closed == 2)
  }

  @Test func aJournalThatCannotBeWrittenEndsTheRun() throws {
    let failure = JournalError(.io, file: "s.db", cause: "no space")
    writes.fail(with: failure)
    let loop = try loop()
    loop.run()
    #expect(loop.fault == failure && !loop.scheduler.hasEnded)
    // A request is sent only after its journal entry has been written.
    #expect(transfers.requests.isEmpty)
  }

  @Test func aWriteThatIsLostLaterEndsTheRun() throws {
    transfers.respond = ok
    let failure = JournalError(.io, file: "s.db", cause: "no space")
    transfers.onTurn = { [messages] in messages.post(.journal(.failed(failure))) }
    let loop = try loop()
    loop.run()
    #expect(loop.fault == failure)
  }

  @Test func aSignalThatArrivedDuringTheListingStartsNothing() throws {
    messages.post(.stop(.terminate))
    let loop = try loop()
    loop.run()
    #expect(transfers.requests.isEmpty && loop.scheduler.hasEnded)
    #expect(loop.scheduler.exitCode == .terminated)
  }

  @Test func anEventFromTheInboxIsHandled() throws {
    messages.post(.inbox)
    var events: [Event] = [.cancelled(SessionID(0), finishing: false)]
    transfers.respond = ok
    let loop = try loop { events.popLast() }
    loop.run()
    #expect(loop.scheduler.totals.items.cancelled + loop.scheduler.totals.items.done == 2)
    #expect(loop.scheduler.totals.items.cancelled > 0 && events.isEmpty)
  }

  /// The journal contains the writes of an item in the order of its steps.
  @Test func eachStepOfAnItemIsWritten() throws {
    let parts = try RunLoopTests(
      """
      uploads:
        u:
          session: s
          files: { root: files }
          allocate:
            request: { method: POST, url: "https://a.example/ids" }
            capture: { id: { json: /id } }
          transfer: { request: { url: "https://a.example/ids/${allocate.id}" } }
          commit:
            request: { method: POST, url: "https://a.example/ids/${allocate.id}/commit" }
            already_done: { status: [409] }
      """, files: ["a"])
    parts.transfers.respond = { request in
      .success(
        TransferResponse(
          status: 200, headers: [], body: Array(#"{"id":"7"}"#.utf8), url: request.url, sha256: nil))
    }
    let loop = try parts.loop()
    loop.run()
    #expect(loop.scheduler.isRoundThrough)
    let names = parts.writes.writes.map { "\($0)".prefix { $0 != "(" } }
    #expect(names == ["insert", "allocated", "transferred", "intent", "closed"])
    guard case .allocated(1, let captures, nil) = parts.writes.writes[1] else { return }
    #expect(captures.map(\.value) == ["7"])
  }

  private static let hashed = """
    uploads:
      u:
        session: s
        files: { root: files }
        transfer: { request: { url: "https://a.example/${file.path}?h=${file.sha256}" } }
    """

  @Test func aRequestWaitsForTheDigestOfItsFile() throws {
    let parts = try RunLoopTests(Self.hashed, files: ["a"])
    let transfers = parts.transfers
    transfers.respond = parts.ok
    transfers.onTurn = {
      transfers.digests = transfers.hashed.filter { _ in transfers.requests.isEmpty }.map {
        DigestOutcome(id: $0, result: .success([0xAB]))
      }
    }
    let loop = try parts.loop()
    loop.run()
    #expect(transfers.requests.map(\.url) == ["https://a.example/a?h=ab"])
    #expect(loop.scheduler.totals.items.done == 1)
  }

  @Test func aStopEndsTheHashingAndSendsNothing() throws {
    let parts = try RunLoopTests(Self.hashed, files: ["a"])
    parts.transfers.onTurn = { [messages = parts.messages] in messages.post(.stop(.interrupt)) }
    let loop = try parts.loop()
    loop.run()
    #expect(loop.scheduler.exitCode == .interrupted && loop.scheduler.totals.items.waiting == 1)
    #expect(parts.transfers.hashed.isEmpty && parts.transfers.requests.isEmpty)
  }
}

/// How the bytes that sockets transfer become usage, with a real ledger.
@Suite("The recording of usage")
struct UsageRecorderTests {
  private let folder: TestFolder
  private let ledger: Ledger
  private let messages = Mailbox<RunMessage> {}
  private let recorder: UsageRecorder
  private let clock = LaunchClock()

  init() throws {
    folder = try TestFolder()
    let state = try StateDirectory(explicit: folder.path + "/state", environment: [:])
    ledger = try Ledger.open(in: state, writtenBy: "0", at: TestRun.start)
    recorder = UsageRecorder(ledger, on: try SerialWorker("ledger"), messages: messages, clock: clock)
  }

  private func used() throws -> Int64 {
    try ledger.used(.wifi, in: Instant(nanoseconds: 0)..<Instant.distantFuture)
  }

  @Test func bytesAreReportedOnceAndRecordedInPieces() throws {
    #expect(recorder.moved(total: 1000, on: .wifi) == 1000)
    #expect(recorder.moved(total: 1000, on: .wifi) == 0)
    #expect(recorder.moved(total: 1 << 20, on: .wifi) == 1 << 20 - 1000)
    try recorder.finish(total: 1 << 20 + 5, on: .wifi)
    #expect(try used() == 1 << 20 + 5)
  }

  @Test func aLeaseIsAnsweredOverTheMailbox() throws {
    let request = Lease.Request(
      network: .wifi, minimum: 10, wanted: 100,
      limits: [
        .init(
          scope: .wifi, bytes: 50, window: Instant(nanoseconds: 0)..<Instant.distantFuture, isStrict: true)
      ])
    recorder.lease(request)
    try recorder.finish(total: 0, on: .wifi)
    let answers = messages.take().compactMap { message -> Lease? in
      if case .leased(let lease, request) = message { lease } else { nil }
    }
    #expect(answers.map(\.granted) == [50])
    // The unused part of the lease is returned.
    #expect(try used() == 0)
  }
}
