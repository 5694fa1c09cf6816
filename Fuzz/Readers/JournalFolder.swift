import FerryPlan
import Foundation
import GRDB

@testable import FerryEngine
@testable import FerryJournal

/// A state folder whose session has items in every state. Each input changes a new copy of the folder.
///
/// `@unchecked Sendable`: only the fuzzer's thread, or one test at a time, uses it.
final class JournalFolder: @unchecked Sendable {
  static let session = "fuzz"
  static let now = Instant(nanoseconds: 1_774_000_000_000_000_000)
  static let prepared = Result { try JournalFolder() }

  /// The state folder of the last input.
  ///
  /// Each input has a separate folder, so that files that an earlier input left open in this process have no effect.
  private(set) var state = ""
  let job: Job?
  private let folder: String
  private var databases: [JournalDatabase] = []
  private var inputs = 0

  private init() throws {
    let root = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    folder = "\(root)/ferry-fuzz-\(getpid())"
    try FileManager.default.createDirectory(
      atPath: folder + "/files/photos/2026", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for number in 0..<12 {
      let file = URL(filePath: "\(folder)/files/photos/2026/\(1_000_000 + number).jpg")
      try Data("file \(number)".utf8).write(to: file)
    }
    let manifest = folder + "/job.yaml"
    try Data(Self.manifest.utf8).write(to: URL(filePath: manifest))
    job = try Job.read(path: manifest, variables: [:], environment: [:]).job
    let sound = folder + "/sound"
    try Self.fill(try StateDirectory(explicit: sound, environment: [:]), manifest)
    databases = try ["sessions/\(Self.session).db", "ferry.db"].map { try JournalDatabase($0, in: sound) }
    // The folder is removed when the process exits.
    atexit {
      guard let folder = try? JournalFolder.prepared.get() else { return }
      try? FileManager.default.removeItem(atPath: folder.folder)
    }
  }

  /// Creates a state folder with the changes of the input.
  func restore(with input: [UInt8]) throws {
    if inputs > 0 { try FileManager.default.removeItem(atPath: state) }
    inputs += 1
    state = "\(folder)/state-\(inputs)"
    try FileManager.default.createDirectory(
      atPath: state + "/sessions", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for database in databases { try database.restore(in: state) }
    var edits = JournalEdits(input)
    while let edit = edits.next() { databases[edit.database % databases.count].queue(edit) }
    for database in databases { try database.finish() }
  }

  private static let manifest = """
    version: 1
    name: m
    sessions: { s: { kind: background, identifier: \(session) } }
    uploads:
      u:
        session: s
        files: { root: files, include: ["**/*.jpg"] }
        allocate: { request: { url: "http://127.0.0.1:9/a" }, capture: { id: { json: /id } } }
        transfer: { request: { url: "http://127.0.0.1:9/${allocate.id}" } }
        commit: { request: { url: "http://127.0.0.1:9/c/${allocate.id}" } }
    fetches:
      f: { session: s, interval: { minimum: 1h }, request: { url: "http://127.0.0.1:9/f" }, save_to: f.json }
    """

  private static func fill(_ directory: StateDirectory, _ manifest: String) throws {
    let start = now.advanced(by: .seconds(-3600))
    let history = try RunHistory.open(in: directory, writtenBy: "0", at: start)
    try history.register(JobRow(manifest: "m", path: manifest, variables: [:], registeredAt: start))
    _ = try history.openRound(manifest: "m", at: start)
    try history.begin(
      RunRow(id: "r1", launch: .background, rounds: [.init(manifest: "m", number: 1)], startedAt: start))
    try history.close()
    let ledger = try Ledger.open(in: directory, writtenBy: "0", at: start)
    _ = try ledger.lease(.init(network: .wifi, minimum: 1, wanted: 1000, limits: []), at: start)
    try ledger.settle(.wifi, bytes: 500, at: start)
    try ledger.close()
    let journal = try SessionJournal.open(
      session: session, in: directory, known: [], writtenBy: "0", at: start)
    let upload = try journal.node(manifest: "m", name: "u", kind: .upload, origin: "http://127.0.0.1:9").id
    let fetch = try journal.node(manifest: "m", name: "f", kind: .fetch, origin: "http://127.0.0.1:9").id
    let failure = RecordedFailure(code: "http_status", status: 403, message: "no")
    let id = [
      CapturedValue(name: "allocate.id", value: "u", isSecret: false),
      CapturedValue(name: "allocate.key", value: "secret", isSecret: true),
    ]
    var files = FileColumns()
    for number in 0..<10 {
      files.append(path: Array("photos/2026/\(1_000_000 + number).jpg".utf8), size: 6, modified: 1000)
    }
    let writer = try JournalWriter(journals: [journal], threads: .init()) { _ in }
    try writer.append(
      [
        .insert(node: upload, round: 1, handedOver: start, firstRow: 1, files: files),
        .allocated(row: 2, captures: id, expires: start.advanced(by: .seconds(7200))),
        .allocated(row: 3, captures: id, expires: nil), .transferred(row: 3, captures: [], sha256: nil),
        .intent(row: 3, step: .commit), .closed(row: 4, state: .done, at: start, failure: nil),
        .closed(row: 5, state: .failed, at: start, failure: failure), .intent(row: 6, step: .transfer),
        .closed(row: 6, state: .ambiguous, at: start, failure: failure),
        .closed(row: 7, state: .cancelled, at: start, failure: failure), .intent(row: 8, step: .allocate),
        .allocated(row: 9, captures: id, expires: nil),
        .orphaned(row: 9, orphan: 1, Orphaning(.requeued, isInDoubt: false), at: start),
        .released(row: 9), .after(row: 4, .owed), .resumed(period: .seconds(60), at: start),
        .events(pending: true),
        .nodeIntent(node: fetch, round: 1), .nodeWithdraw(node: fetch),
      ], to: 0)
    try writer.close()
    try journal.close()
  }
}
