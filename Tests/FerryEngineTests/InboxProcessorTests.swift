import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

/// How a run processes notes from other processes, with a real inbox, folder, journal and scheduler.
@Suite("The inbox of a run")
struct InboxProcessorTests {
  private static let yaml = """
    requests:
      r: { session: s, request: { method: POST, url: "https://a.example/r" } }
    uploads:
      u:
        session: s
        files: { root: files }
        transfer: { request: { url: "https://a.example/${file.path}" } }
    """

  private let run: TestRun
  private let inbox: Inbox
  private let removal: SessionRemoval
  private let processor: InboxProcessor
  private let notices = Notices()

  /// The notices, in order.
  private final class Notices {
    var all: [String] = []
  }

  init() throws { try self.init(compare: "") }

  /// - Parameter compare: a line that is appended to the upload.
  private init(compare: String) throws {
    run = try TestRun(Self.yaml + compare, files: ["a"])
    let state = try StateDirectory(explicit: run.folder.path + "/state", environment: [:])
    inbox = try Inbox.open(in: state, writtenBy: "0", at: TestRun.start)
    removal = SessionRemoval(
      history: try RunHistory.open(in: state, writtenBy: "0", at: TestRun.start), environment: [:])
    processor = InboxProcessor(
      run.job.plan, journals: run.journals, inbox: inbox, listers: run.listers, removal: removal,
      compare: try SerialWorker("compare"), notice: { [notices] in notices.all.append($0) })
  }

  private func next(wake: @escaping @Sendable () -> Void = {}) throws -> Event? {
    switch try processor.next(run.scheduler, &run.launchState, rounds: [1], wake: wake) {
    case .event(let event): return event
    // The other manifest cannot join this run.
    case .foreign: return try next(wake: wake)
    case nil: return nil
    }
  }

  private func submit(
    _ paths: [String], manifest: String = "m", version: Note.Version? = nil, at time: Instant = TestRun.start
  ) throws {
    try inbox.leave(
      Note(
        session: "s", kind: .submit, manifest: manifest, node: "u",
        files: paths.map { Note.File(path: Array($0.utf8), version: version) }, createdAt: time))
  }

  private func cancel(_ kind: Note.Kind, manifest: String? = nil) throws {
    try inbox.leave(Note(session: "s", kind: kind, manifest: manifest, createdAt: TestRun.start))
  }

  /// Removes the notes that were processed, and returns the kinds of those that remain.
  private func finish(unless interrupted: Set<Int> = []) throws -> [Note.Kind] {
    try processor.finish(
      run.scheduler, unless: interrupted, rows: run.launchState.rows, at: TestRun.start)
    return try inbox.notes(session: "s").map(\.kind)
  }

  private func paths(_ event: Event?) -> [String]? {
    guard case .submitted(NodeID(0), let items)? = event else { return nil }
    return (0..<items.count).map { String(decoding: items.files.path($0), as: UTF8.self) }
  }

  /// Writes to the session's journal, as an earlier run would have done.
  private func journal(_ writes: [JournalWrite]) throws {
    let writer = JournalWriter(
      journals: run.journals.all.compactMap(\.self), threads: try JournalWriter.Threads(), deliver: { _ in })
    try writer.append(writes, to: 0)
    try writer.close()
  }

  private func queued(_ paths: String..., at time: Instant = TestRun.start) throws -> JournalWrite {
    var files = FileColumns()
    for path in paths { files.append(path: path.utf8, size: 1, modified: 0) }
    let node = try #require(run.launchState.rows[0])
    return .insert(node: node.id, round: 1, handedOver: time, firstRow: 1, files: files)
  }

  // MARK: During the run

  @Test func aSubmittedFileIsQueuedAndItsNoteIsThenRemoved() throws {
    run.folder.file("files/b")
    try submit(["b"])
    let event = try #require(try next())
    #expect(paths(event) == ["b"])
    #expect(try next() == nil)
    run.handle(event)
    // The next batch begins when the current one has completed.
    try run.respond(to: .transfer)
    #expect(run.scheduler.itemsOpen == 1)
    #expect(try finish() == [])
  }

  @Test func aFileThatTheRunAlreadyHasIsNotQueuedTwice() throws {
    try submit(["a"])
    #expect(try next() == nil)
    #expect(try finish() == [])
  }

  @Test func aFileThatIsMissingIsQueuedToFail() throws {
    try submit(["missing"])
    #expect(paths(try next()) == ["missing"])
    let failure = run.launchState.absent[0]?[Array("missing".utf8)]
    #expect(failure?.code == .sourceMissing)
  }

  @Test func aNoteForAnotherManifestRemainsIfThatManifestDoesNotJoin() throws {
    try submit(["a"], manifest: "other")
    guard
      case .foreign(let note, session: 0) = try processor.next(
        run.scheduler, &run.launchState, rounds: [1], wake: {})
    else {
      Issue.record("no note for another manifest")
      return
    }
    processor.tellLeft(note, "the path of the manifest is unknown")
    #expect(
      notices.all == [
        "other/u: 1 file submitted to this run will be sent by the next run: the path of the manifest is unknown"
      ])
    #expect(try next() == nil)
    #expect(try finish() == [.submit])
    #expect(try processor.awaited() == [])
  }

  @Test func aNoteForAnotherManifestIsKeptOnlyIfItIsNewerThanTheRun() throws {
    try submit(["a"], manifest: "other")
    let selection = try Selection([], in: run.job.plan)
    #expect(
      try processor.begin(selection, startedAt: TestRun.start.advanced(by: .seconds(1)), at: TestRun.start)
        .isEmpty)
    #expect(!processor.hasNews)
    try submit(["b"], manifest: "other")
    let second = InboxProcessor(
      run.job.plan, journals: run.journals, inbox: inbox, listers: run.listers, removal: removal,
      compare: try SerialWorker("compare"), notice: { _ in })
    #expect(try second.begin(selection, startedAt: TestRun.start, at: TestRun.start).isEmpty)
    #expect(second.hasNews)
    #expect(try finish() == [.submit, .submit])
  }

  @Test func aNoteWhoseRootIsGoneIsReportedAndRemains() throws {
    guard case .upload(let work) = run.job.plan.nodes[0].work else { return }
    // This lister has not opened its root, which does not exist.
    let lister = try FileLister(work.files, baseFolder: run.folder.path + "/gone", home: nil)
    let processor = InboxProcessor(
      run.job.plan, journals: run.journals, inbox: inbox, listers: [0: lister], removal: removal,
      compare: try SerialWorker("compare"), notice: { [notices] in notices.all.append($0) })
    try submit(["a"])
    #expect(try processor.next(run.scheduler, &run.launchState, rounds: [1], wake: {}) == nil)
    #expect(processor.problems[0]?.map(\.kind) == [.missing])
    #expect(notices.all.count == 1)
    try processor.finish(
      run.scheduler, unless: [], rows: run.launchState.rows, at: TestRun.start)
    #expect(try processor.awaited() == [ManifestID(0)])
  }

  @Test func theNoteOfFilesThatAreNotQueuedYetRemains() throws {
    run.folder.file("files/b")
    try submit(["b"])
    run.handle(try #require(try next()))
    #expect(try finish() == [.submit])
  }

  @Test func theNotesOfAnInterruptedUploadRemain() throws {
    try submit(["a"])
    #expect(try next() == nil)
    #expect(try finish(unless: [0]) == [.submit])
    #expect(try processor.awaited() == [ManifestID(0)])
  }

  // MARK: Cancel

  @Test(arguments: [Note.Kind.cancel, .finish])
  func aCancelDropsWhatWasSubmittedBeforeIt(kind: Note.Kind) throws {
    run.folder.file("files/b")
    try submit(["b"], manifest: "other")
    try cancel(kind)
    try submit(["b"])
    let event = try #require(try next())
    guard case .cancelled(SessionID(0), of: nil, finishing: kind == .finish, failure: .cancelled) = event
    else {
      Issue.record("no cancel")
      return
    }
    #expect(processor.cancelled == (kind == .cancel ? [0: .cancelled] : [:]))
    run.handle(event)
    // Files that are submitted after the cancellation remain for the next run.
    #expect(try next() == nil)
    #expect(try finish() == [.submit])
  }

  @Test(arguments: [Note.Kind.cancel, .finish, .drain])
  func theReasonOfANoteIsRecordedWithTheWork(kind: Note.Kind) throws {
    let reason = CancelReason(recorded: "disk full")
    try inbox.leave(Note(session: "s", kind: kind, reason: reason, createdAt: TestRun.start))
    switch try next() {
    case .cancelled(_, of: nil, finishing: _, let failure) where kind != .drain,
      .drained(_, of: nil, let failure) where kind == .drain:
      #expect(failure == .cancelled(reason))
    default: Issue.record("no cancel")
    }
  }

  @Test func aCancelOfAnotherManifestRemains() throws {
    try cancel(.cancel, manifest: "other")
    #expect(try next() == nil)
    #expect(try finish() == [.cancel])
    #expect(processor.cancelled.isEmpty)
  }

  @Test func aCancelOfThisManifestNamesIt() throws {
    try cancel(.finish, manifest: "m")
    guard case .cancelled(SessionID(0), of: ManifestID(0), finishing: true, failure: .cancelled)? = try next()
    else {
      Issue.record("no cancel")
      return
    }
  }

  // MARK: Before the run

  @Test func aCancelThatNoRunExecutedIsExecutedFirst() throws {
    try journal([try queued("a", "b")])
    try submit(["a"])
    try cancel(.cancel)
    try submit(["b"])
    let submitted = try processor.begin(Selection([], in: run.job.plan), at: TestRun.start)
    #expect(notices.all == ["ferry cancel canceled 2 items of session 's'"])
    // A file that does not exist is absent, and fails in its round.
    #expect(submitted[0]?.files.count == 0 && submitted[0].map { Array($0.absent.keys) } == [Array("b".utf8)])
    // If this run is killed, the next one does not execute the cancellation again.
    #expect(try inbox.notes(session: "s").map(\.kind) == [.submit])
    #expect(try finish() == [])
  }

  @Test func aCancelThatNoRunExecutedIsExecutedWithItsReason() throws {
    try journal([try queued("a", "b")])
    let reason = CancelReason(recorded: "disk full")
    try inbox.leave(Note(session: "s", kind: .cancel, reason: reason, createdAt: TestRun.start))
    _ = try processor.begin(Selection([], in: run.job.plan), at: TestRun.start)
    let journal = try #require(run.journals.all.compactMap(\.self).first)
    #expect(try journal.cancelledItems().map(\.failure) == [.cancelled(reason)])
  }

  @Test func filesOfAnUploadThatIsNotSelectedRemain() throws {
    try submit(["a"])
    let selection = try Selection(["r"], in: run.job.plan)
    #expect(try processor.begin(selection, at: TestRun.start).isEmpty)
    #expect(try finish() == [.submit])
  }

  // MARK: Delivered files

  /// Submits a file that does not exist, and of which a version has been delivered: queued at the start, and closed 10 s
  /// later.
  ///
  /// - Returns: the paths that fail because they do not exist.
  private func missing(version: Note.Version?, submittedAfter delay: Int64) throws -> [String] {
    try journal([
      try queued("b"),
      .closed(row: 1, state: .done, at: TestRun.start.advanced(by: .seconds(10)), failure: nil),
    ])
    try submit(["b"], version: version, at: TestRun.start.advanced(by: .seconds(delay)))
    let event = try next()
    #expect((event == nil) == run.launchState.absent[0, default: [:]].isEmpty)
    return paths(event) ?? []
  }

  @Test(arguments: [0, 5, 20] as [Int64])
  func aDeliveredVersionOfAFileIsNotMissing(delay: Int64) throws {
    let version = Note.Version(size: 1, modified: 0)
    #expect(try missing(version: version, submittedAfter: delay) == [])
  }

  /// A file that was queued after the submission may have been changed in between.
  @Test(arguments: [Note.Version(size: 2, modified: 0), Note.Version(size: 1, modified: 1)])
  func anotherVersionOfADeliveredFileIsMissing(version: Note.Version) throws {
    #expect(try missing(version: version, submittedAfter: 5) == ["b"])
  }

  @Test func aVersionThatChangedBeforeItWasQueuedIsNotMissing() throws {
    #expect(try missing(version: Note.Version(size: 2, modified: 0), submittedAfter: 0) == [])
  }

  /// If the clock was ahead when a version was queued, the time does not show that it is a later one.
  @Test func aVersionThatWasQueuedInTheFutureIsNotLater() throws {
    let start = TestRun.start
    try journal([
      try queued("b", at: start.advanced(by: .seconds(7200))),
      .closed(row: 1, state: .done, at: start.advanced(by: .seconds(7210)), failure: nil),
    ])
    try submit(["b"], version: Note.Version(size: 2, modified: 0))
    #expect(paths(try next()) == ["b"])
  }

  /// Notes of older versions of ferry do not contain the version of a file.
  @Test(arguments: [(5, []), (20, ["b"])] as [(Int64, [String])])
  func aFileOfAnOlderNoteIsMissingIfItWasDeliveredBefore(delay: Int64, missing paths: [String]) throws {
    #expect(try missing(version: nil, submittedAfter: delay) == paths)
  }

  // MARK: Content

  /// Another thread reads files that may have changed. The note is processed when they have been read.
  @Test func aDeliveredFileIsReadBeforeItIsComparedByContent() throws {
    let inbox = try InboxProcessorTests(compare: "\n    compare: content")
    inbox.run.folder.file("files/b")
    try inbox.journal([
      try inbox.queued("b"),
      .source(row: 1, inode: nil, sha256: [UInt8](repeating: 7, count: 32)),
      .closed(row: 1, state: .done, at: TestRun.start, failure: nil),
    ])
    try inbox.submit(["b"])
    let woken = DispatchSemaphore(value: 0)
    #expect(try inbox.next(wake: { woken.signal() }) == nil)
    #expect(woken.wait(timeout: .now() + 60) == .success)
    #expect(inbox.paths(try inbox.next()) == ["b"])
  }
}
