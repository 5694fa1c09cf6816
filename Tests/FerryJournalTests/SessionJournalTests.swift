import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct SessionJournalTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func filled(_ count: Int) throws -> (SessionJournal, Int64) {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: count))
    ])
    return (journal, node)
  }

  @Test(arguments: [
    ("http://h:1", "http://h:1"), ("http://h:1 0f", "http://h:1"), ("", nil), (" 0f", nil),
  ]) func aNodesServerIsThatOfItsOrigin(_ origin: String, _ server: String?) throws {
    let node = try state.open().node(manifest: "m", name: "n", kind: .fetch, origin: origin)
    #expect(node.server == server)
  }

  /// docs/journal.md guarantees that deleted captures are overwritten, and that a log that had to grow is truncated.
  @Test func deletedRowsAreOverwrittenAndALongLogIsTruncated() throws {
    func judge(_ queue: DatabaseQueue) throws {
      let (isSecure, limit) = try queue.read { db in
        (
          try Int.fetchOne(db, sql: "PRAGMA secure_delete"),
          try Int.fetchOne(db, sql: "PRAGMA journal_size_limit")
        )
      }
      #expect(isSecure == 1 && limit == 16 * 1024 * 1024)
    }
    let journal = try state.open()
    try judge(journal.queue)
    try journal.close()
    try judge(
      DatabaseFile(path: state.directory.history, schema: .history).openForWriting(
        durability: .everyCommit, writtenBy: "0.0-test", at: .start))
  }

  @Test func anItemPassesThroughItsStepsAndIsReadBack() throws {
    let (journal, node) = try filled(2)
    let id = CapturedValue(name: "upload_id", value: "a\"\\\n\u{1}é😀", isSecret: false)
    let url = CapturedValue(name: "url", value: "https://x/?sig=geheim", isSecret: true)
    try journal.write([
      .intent(row: 1, step: .allocate),
      .allocated(row: 1, captures: [id, url], expires: .start(plus: 60)),
    ])
    var item = try #require(try journal.items(node).first)
    #expect(item.state == .allocated && item.intent == nil)
    #expect(item.captures == [id, url] && item.expires == .start(plus: 60))
    #expect(item.path == Array("photos/2026/1000000.jpg".utf8) && item.size == 100 && item.modified == 1000)

    let location = CapturedValue(name: "location", value: "/next", isSecret: false)
    let newURL = CapturedValue(name: "url", value: "https://x/?sig=neu", isSecret: true)
    try journal.write([.transferred(row: 1, captures: [location, newURL], sha256: [1, 2, 3])])
    item = try #require(try journal.items(node).first)
    #expect(item.state == .transferred && item.sha256 == [1, 2, 3])
    #expect(item.captures == [id, location, newURL])

    try journal.write([.closed(row: 1, state: .done, at: .start(plus: 5), failure: nil)])
    item = try #require(try journal.items(node).first)
    #expect(item.state == .done && item.captures.isEmpty && item.closedAt == .start(plus: 5))
    #expect(item.sha256 == [1, 2, 3] && item.expires == nil)
    #expect(try journal.items(node)[1].state == .queued)
    #expect(try journal.nextRow == 3)
  }

  @Test func anAmbiguousItemKeepsItsIntentAndCaptures() throws {
    let (journal, node) = try filled(1)
    let id = CapturedValue(name: "upload_id", value: "7", isSecret: false)
    let failure = RecordedFailure(code: "answer_lost", status: 502, message: "no answer")
    try journal.write([
      .allocated(row: 1, captures: [id], expires: nil), .intent(row: 1, step: .commit),
      .closed(row: 1, state: .ambiguous, at: .start, failure: failure),
    ])
    let item = try #require(try journal.items(node).first)
    #expect(item.state == .ambiguous && item.intent == .commit)
    #expect(item.captures == [id] && item.failure == failure)
  }

  @Test func aWithdrawnIntentAndAReleasedIDLeaveNoRows() throws {
    let (journal, node) = try filled(1)
    try journal.write([.intent(row: 1, step: .transfer)])
    #expect(try journal.items(node).first?.intent == .transfer)
    try journal.write([
      .withdraw(row: 1),
      .allocated(row: 1, captures: [CapturedValue(name: "a", value: "b", isSecret: true)], expires: .start),
      .released(row: 1),
    ])
    let item = try #require(try journal.items(node).first)
    #expect(item.intent == nil && item.state == .queued && item.captures.isEmpty && item.expires == nil)
  }

  @Test func aRequeuedItemStartsOverWithItsNewSize() throws {
    let (journal, node) = try filled(1)
    let failure = RecordedFailure(code: "status", status: 404, message: "gone")
    try journal.write([.closed(row: 1, state: .failed, at: .start, failure: failure)])
    #expect(try journal.items(node).first?.failure == failure)
    try journal.write([
      .requeue(round: 2, handedOver: .start(plus: 9), files: [.init(row: 1, size: 7, modified: 8)])
    ])
    let item = try #require(try journal.items(node).first)
    #expect(item.round == 2 && item.state == .queued && item.size == 7 && item.modified == 8)
    #expect(item.failure == nil && item.closedAt == nil && item.handedOver == .start(plus: 9))
  }

  @Test func aFetchKeepsItsValidatorsWhenALaterAttemptFails() throws {
    let journal = try state.open()
    let node = try journal.node(manifest: "m", name: "catalog", kind: .fetch, origin: "http://h:80")
    #expect(node.round == 0 && node.fetch == nil)
    let record = FetchRecord(
      etag: "\"1\"", lastModified: "Thu", fetchedAt: .start, interval: .milliseconds(1500),
      file: FileVersion(identity: .max, size: 3, modified: -1), source: "d")
    let capture = CapturedValue(name: "next", value: "2", isSecret: false)
    try journal.write([
      .nodeIntent(node: node.id, round: 1),
      .nodeClosed(
        node: node.id,
        NodeClosing(round: 1, state: .done, at: .start, captures: [capture], fetch: record)),
    ])
    var row = try #require(try journal.nodes.first)
    #expect(row.state == .done && !row.hasIntent && row.fetch == record && row.captures == [capture])
    try journal.write([.nodeIntent(node: node.id, round: 2)])
    #expect(try journal.nodes.first?.hasIntent == true)
    let failure = RecordedFailure(code: "connect", status: nil, message: "refused")
    try journal.write([
      .nodeWithdraw(node: node.id),
      .nodeClosed(node: node.id, NodeClosing(round: 2, state: .failed, at: .start, failure: failure)),
    ])
    row = try #require(try journal.nodes.first)
    #expect(row.round == 2 && row.state == .failed && row.failure == failure && row.fetch == record)
    // A result without an interval removes the recorded interval.
    let bare = FetchRecord(etag: nil, lastModified: nil, fetchedAt: .start(plus: 1))
    try journal.write([
      .nodeClosed(node: node.id, NodeClosing(round: 3, state: .done, at: .start, fetch: bare))
    ])
    #expect(try journal.nodes.first?.fetch == bare)
  }

  @Test func aJournalOfTheFirstSchemaIsMigrated() throws {
    try state.directory.create()
    let old = DatabaseSchema(
      applicationID: DatabaseSchema.session.applicationID,
      migrations: Array(DatabaseSchema.session.migrations.prefix(1)))
    let queue = try DatabaseFile(path: state.database(), schema: old)
      .openForWriting(durability: .onRequest, writtenBy: "0.0-old", at: .start)
    try queue.write {
      try $0.execute(
        sql: """
          INSERT INTO node (manifest, name, kind, origin, round, state, fetched_at, etag)
          VALUES ('m', 'catalog', 2, 'http://h:80', 1, 3, 7, '"1"')
          """)
    }
    try queue.close()
    let fetched = FetchRecord(etag: "\"1\"", lastModified: nil, fetchedAt: Instant(nanoseconds: 7))
    let before = try state.contents()
    let snapshot = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try snapshot.nodes.map(\.fetch) == [fetched])
    try snapshot.close()
    #expect(try state.contents() == before)

    let journal = try state.open(at: .start(plus: 9))
    #expect(try journal.nodes.map(\.fetch) == [fetched])
    let record = FetchRecord(
      etag: nil, lastModified: nil, fetchedAt: .start(plus: 9), interval: .seconds(1800))
    try journal.write([
      .nodeClosed(node: 1, NodeClosing(round: 2, state: .done, at: .start(plus: 9), fetch: record))
    ])
    try journal.close()
    let again = try state.open(at: .start(plus: 10))
    #expect(try again.nodes.map(\.fetch) == [record])
    let history = try again.queue.read { try Row.fetchAll($0, sql: "SELECT * FROM history ORDER BY version") }
    #expect(history.map { $0["version"] as Int } == Array(1...DatabaseSchema.session.migrations.count))
    #expect(
      history.map { $0["ferry"] as String } == ["0.0-old"]
        + Array(repeating: "0.0-test", count: DatabaseSchema.session.migrations.count - 1))
    try again.close()
  }

  @Test func anotherOriginIsAnotherNode() throws {
    let journal = try state.open()
    let here = try journal.node(manifest: "m", name: "a", kind: .upload, origin: "http://a:80")
    let there = try journal.node(manifest: "m", name: "a", kind: .upload, origin: "http://b:80")
    #expect(here.id != there.id)
    #expect(try journal.node(manifest: "m", name: "a", kind: .upload, origin: "http://a:80") == here)
    #expect(try journal.nodes.map(\.id) == [here.id, there.id])
  }

  /// A fetch that counts as succeeded must not count as failed when its interval is determined.
  @Test func anOutcomeFromAnotherRowReplacesTheLastFailure() throws {
    let journal = try state.open()
    let fetch = try journal.node(manifest: "m", name: "f", kind: .fetch, origin: "http://a:80").id
    let failure = RecordedFailure(code: "connect", message: "refused")
    try journal.write([.fetchFailed(node: fetch, round: 1, failure: failure, at: .start)])
    #expect(try journal.nodes[0].failedAt == .start)
    var other = try journal.node(manifest: "m", name: "f", kind: .fetch, origin: "http://b:80")
    (other.round, other.state, other.failure, other.closedAt) = (2, .done, .resolved, .start(plus: 1))
    try journal.recordOutcome(of: fetch, as: other, at: .start(plus: 2))
    let row = try journal.nodes[0]
    #expect(row.round == 2 && row.state == .done && row.failure == .resolved)
    #expect(row.closedAt == .start(plus: 1) && row.failedAt == nil)
    try journal.forgetAttempt(of: fetch)
    let forgotten = try journal.nodes[0]
    #expect(forgotten.round == 0 && forgotten.state == .queued && forgotten.failure == nil)
    try journal.close()
  }

  @Test func itemsAreOrderedByBytesEvenIfTheyAreNotUTF8() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    let names: [[UInt8]] = [
      [0xff, 0xfe], Array("b".utf8), Array("a\n".utf8), Array("a".utf8), Array("é".utf8), Array("B".utf8),
      Array(repeating: 0x61, count: 255), [0x61, 0x00],
    ]
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(names))
    ])
    #expect(try journal.items(node).map(\.path) == names.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test func committedRowsSurviveTheLossOfTheProcess() throws {
    let (journal, _) = try filled(1000)
    try journal.write([.closed(row: 7, state: .done, at: .start, failure: nil)])
    // Copies the database file and its log without closing them, as a kill would leave them.
    let other = try TemporaryState()
    try other.directory.create()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: journal.path + suffix, toPath: other.database() + suffix)
    }
    let reopened = try other.open()
    let node = try reopened.photos()
    let items = try reopened.items(node.id)
    #expect(items.count == 1000 && items[6].state == .done && items[7].state == .queued)
    #expect(try reopened.nextRow == 1001)
    try reopened.close()
    try journal.close()
  }

  @Test func theFilesAreForTheirOwnerOnly() throws {
    let (journal, _) = try filled(1)
    for suffix in ["", "-wal", "-shm"] { #expect(state.mode(journal.path + suffix) == 0o600) }
    #expect(state.mode(state.directory.sessionsFolder) == 0o700)
    #expect(state.mode(state.directory.path) == 0o700)
    try journal.close()
    chmod(journal.path, 0o644)
    let again = try state.open()
    #expect(state.mode(again.path) == 0o600)
    try again.close()
  }

  @Test func anEphemeralJournalLeavesNoFile() throws {
    let journal = try SessionJournal.ephemeral(session: "e")
    let node = try journal.photos().id
    let log = EventLog()
    let writer = try JournalWriter(journals: [journal], deliver: log.post)
    let number = try writer.append(
      [.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 3))], to: 0)
    try writer.sync()
    #expect(log.waitForSync(through: number))
    try writer.close()
    #expect(try journal.items(node).count == 3)
    #expect(!FileManager.default.fileExists(atPath: state.directory.path))
  }

  @Test func secretsAreStoredOnlyInTheirOwnColumn() throws {
    let (journal, _) = try filled(1)
    let secret = CapturedValue(name: "url", value: "GEHEIM", isSecret: true)
    let open = CapturedValue(name: "id", value: "offen", isSecret: false)
    try journal.write([.allocated(row: 1, captures: [secret, open], expires: nil)])
    let node = try journal.node(manifest: "m", name: "r", kind: .request, origin: "http://h:80").id
    try journal.write([
      .nodeClosed(node: node, NodeClosing(round: 1, state: .done, at: .start, captures: [secret, open]))
    ])
    try journal.close()
    let raw = try DatabaseQueue(path: journal.path)
    try raw.read { db in
      for table in ["item", "node"] {
        let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(table) WHERE secret_captures IS NOT NULL")
        #expect(rows.count == 1)
        for (column, value) in rows[0] where column != "secret_captures" {
          #expect(!value.description.contains("GEHEIM"), "\(table).\(column)")
        }
        #expect(rows[0]["captures"] == "{\"id\":\"offen\"}")
        #expect(rows[0]["secret_captures"] == "{\"url\":\"GEHEIM\"}")
      }
    }
  }

  @Test func aClosedItemsSecretIsWipedFromTheFile() throws {
    let (journal, _) = try filled(1)
    let secret = CapturedValue(name: "url", value: "GEHEIMNIS-4711", isSecret: true)
    try journal.write([.allocated(row: 1, captures: [secret], expires: nil)])
    try journal.write([.closed(row: 1, state: .done, at: .start, failure: nil)])
    try journal.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: journal.path))
    #expect(bytes.range(of: Data("GEHEIMNIS-4711".utf8)) == nil)
  }
}
