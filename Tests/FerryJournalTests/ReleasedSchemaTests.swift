import FerryJournal
import FerryPlan
import Foundation
import GRDB
import Testing

/// Database files of every released schema. The scripts in `Released` create each file as the version of
/// ferry with its schema did.
@Suite struct ReleasedSchemaTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  /// Creates the file as the version of ferry with this schema left it.
  private func make(_ name: String, at path: String) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Released/\(name).sql")
    try state.directory.create()
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: String(contentsOf: script, encoding: .utf8))
    }
    try queue.close()
    chmod(path, 0o600)
  }

  private func versions(_ path: String) throws -> [Int] {
    let raw = try DatabaseQueue(path: path)
    defer { try? raw.close() }
    return try raw.read { db in
      #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
      return try Int.fetchAll(db, sql: "SELECT version FROM history ORDER BY version")
    }
  }

  private func checkItems(_ journal: SessionJournal, schema: Int) throws {
    let nodes = try journal.nodes
    #expect(nodes.map(\.name) == ["photos", "catalog", "notify"] + (schema >= 12 ? ["pictures"] : []))
    // Since schema 12, a download batch is a kind of node.
    if schema >= 12 {
      #expect(nodes[3].kind == .download)
      #expect(try journal.items(nodes[3].id).map(\.modified) == [-77])
    }
    #expect(nodes[1].fetch?.etag == "\"v1\"" && nodes[1].fetch?.fetchedAt == .start)
    #expect(nodes[1].fetch?.interval == (schema >= 2 ? .seconds(900) : nil))
    #expect(
      nodes[1].fetch?.file == (schema >= 7 ? FileVersion(identity: 77, size: 3, modified: 1) : nil))
    #expect(nodes[1].failedAt == (schema >= 9 ? .start(plus: 60) : nil))
    #expect(nodes[1].failing?.round == (schema >= 13 ? 2 : nil))
    #expect(nodes[1].failing?.since == (schema >= 13 ? .start : nil))
    #expect(nodes[1].fetch?.source == (schema >= 7 ? "d1" : nil))
    #expect(nodes[1].fetch?.freshUntil == (schema >= 12 ? .start(plus: 3600) : nil))
    #expect(nodes[2].hasIntent)
    let items = try journal.items(nodes[0].id)
    #expect(
      items.map(\.state) == [.queued, .allocated, .transferred, .done, .failed, .ambiguous, .cancelled])
    #expect(items.map(\.size) == Array(100...106))
    #expect(items[1].captures.map(\.value) == ["u2", "https://example.org/put?sig=s3cret"])
    #expect(items[1].captures.map(\.isSecret) == [false, true])
    #expect(items[1].servers == (schema >= 8 ? "http://a commit=http://b" : nil))
    #expect(items[1].expires == .start(plus: 3600))
    #expect(
      items[2].commitKey == (schema >= 8 ? CommitKey(header: "Idempotency-Key", value: "k3") : nil))
    #expect(items[3].closedAt == .start(plus: 1) && items[3].sha256?.count == 32)
    #expect(
      items[4].failure
        == RecordedFailure(code: "http_status", status: 403, message: "the server answered 403"))
    #expect(items[5].intent == .commit && items[5].path == [0x66, 0xff, 0x2e, 0x6a, 0x70, 0x67])
    let recorded = try journal.recorded
    #expect(recorded.hasPendingEvents == (schema >= 3))
    #expect(recorded.foregroundAt == (schema >= 9 ? .start : nil))
    #expect(recorded.delay?.period == (schema >= 3 ? .seconds(120) : nil))
  }

  @Test(arguments: 1...13)
  func aSessionOfEachReleasedSchemaIsMigratedWithItsItems(schema: Int) throws {
    let path = try state.database()
    try make("session-\(schema)", at: path)
    let before = try Data(contentsOf: URL(filePath: path))

    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    try checkItems(reader, schema: schema)
    try reader.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
    #expect(try versions(path) == Array(1...schema))

    let journal = try state.open()
    try checkItems(journal, schema: schema)
    #expect(try journal.confirmedBytes(row: 1) == nil)
    try journal.write([.confirmedBytes(row: 1, 1_000)])
    #expect(try journal.confirmedBytes(row: 1) == 1_000)
    try journal.write([.transferred(row: 2, captures: [], sha256: nil)])
    try journal.close()
    #expect(try versions(path).starts(with: Array(1...13)))
    #expect(try Self.findings(in: state).isEmpty)
  }

  @Test(arguments: 1...10)
  func theHistoryOfEachReleasedSchemaIsMigratedWithItsRuns(schema: Int) throws {
    let path = state.directory.history
    try make("history-\(schema)", at: path)
    let before = try Data(contentsOf: URL(filePath: path))

    let reader = try RunHistory.openForReading(in: state.directory)
    #expect(try reader.runs().map(\.id) == ["r2", "r1"])
    try reader.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == before)

    let history = try RunHistory.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    #expect(try history.runs().map(\.state) == [.interrupted, .ended])
    #expect(try history.runs().map(\.exitCode) == [nil, 1])
    #expect(try history.jobsWithOpenRound.map(\.variables) == [["api": "https://example.org"]])
    #expect(try history.latestRound(manifest: "m")?.number == 2)
    #expect(
      try history.samples(manifest: "m", upload: "photos", limit: 9)
        == (schema >= 2 ? [TransferSample(bytes: 5_000_000, duration: .seconds(2))] : []))
    // Since schema 5, sessions are registered. A session of an older schema is recognized by its lock file.
    #expect(try history.knownJournals(locked: []) == (schema >= 5 ? ["s"] : []))
    #expect(try history.knownJournals(locked: ["s"]) == (schema >= 2 ? ["s"] : []))
    #expect(
      try history.removedSessions()
        == (schema >= 6
          ? [
            RemovedSession(
              session: "gone",
              failure: RecordedFailure(
                code: "session_removed",
                message: "canceled by ferry cancel, which removed the session: moved to tape"),
              items: 7, removedAt: .start)
          ] : []))
    #expect(try history.refreshToken(chain: "c1") == (schema >= 7 ? "r-2" : nil))
    let pass = schema >= 8 ? "5d0f6a0e-4b1c-4d1c-8a57-0c1f6f1f2b11" : nil
    #expect(try history.latestRound(manifest: "m")?.pass == pass)
    #expect(try history.runs().map(\.rounds.first?.pass) == [pass, nil])
    var closers: [String?] = []
    try history.forEachRound { closers.append($0.closedBy) }
    #expect(closers == [schema >= 9 ? "r1" : nil, nil])
    #expect(try history.runs().map(\.part) == [schema >= 8 ? "1/2" : nil, nil])
    try history.close()
    let ledger = try Ledger.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    let used = try ledger.used(.wifi, in: .start..<Instant.start(plus: 900))
    #expect(used == (schema >= 3 ? 4000 + 1_048_576 : 0))
    try ledger.close()
    let inbox = try Inbox.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    #expect(
      try inbox.notes(session: "s").map(\.files)
        == (schema >= 4
          ? [
            [
              Note.File(
                path: [0x66, 0xff, 0x2e, 0x6a, 0x70, 0x67],
                version: schema >= 10 ? Note.Version(size: 104, modified: 5) : nil)
            ]
          ] : []))
    #expect(
      try inbox.notes(session: "t").map(\.reason)
        == (schema >= 6 ? [CancelReason(recorded: "moved to tape")] : []))
    try inbox.close()
    #expect(try versions(path).starts(with: Array(1...10)))
    // With schema 5 or later, the session is registered, but this state folder has no journal for it.
    #expect(try Self.findings(in: state).map(\.code) == (schema >= 5 ? [.journalMissing] : []))
  }

  static func findings(in state: TemporaryState) throws -> [JournalFinding] {
    var findings: [JournalFinding] = []
    try JournalCheck.run(sessions: state.directory.sessions(), in: state.directory) { verdict in
      // This state folder has only the session's journal, so its rounds are unknown.
      findings += verdict.findings.filter { $0.code != .unknownRound }
    }
    return findings
  }
}
