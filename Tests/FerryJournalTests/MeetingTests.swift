import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

/// Which rows are read when a large journal is opened.
@Suite struct MeetingTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  /// Inserts 400 rows. Rows 10, 20, …, 70 are in various states; all others are done.
  private func fill(_ journal: SessionJournal, node: Int64, first: Int64 = 1) throws {
    func row(_ number: Int64) -> Int64 { first + number - 1 }
    var writes: [JournalWrite] = [
      .insert(node: node, round: 1, handedOver: .start, firstRow: first, files: FileColumns(count: 400))
    ]
    for number in Int64(1)...400 where ![10, 20, 30].contains(number) {
      let state: ItemState =
        switch number {
        case 40: .ambiguous
        case 50: .failed
        case 60: .cancelled
        default: .done
        }
      writes.append(.closed(row: row(number), state: state, at: .start, failure: nil))
    }
    writes.append(.allocated(row: row(20), captures: [], expires: nil))
    writes.append(.transferred(row: row(30), captures: [], sha256: nil))
    writes.append(.after(row: row(70), .owed))
    try journal.write(writes)
  }

  /// The files of some rows, and files without a row.
  private func listing(rows: [Int], new: [String] = []) -> FileColumns {
    let all = FileColumns(count: 400)
    let paths = rows.map { Array(all.path($0 - 1)) } + new.map { Array($0.utf8) }
    return FileColumns(paths.sorted { $0.lexicographicallyPrecedes($1) })
  }

  private func met(_ journal: SessionJournal, _ node: Int64, _ files: FileColumns) throws -> [Int64] {
    var rows: [Int64] = []
    try journal.forEachItem(node: node, meeting: files) { rows.append($0.id) }
    return rows
  }

  @Test func aShortListingIsMatchedWithItsOwnItemsAndUnsettledOnes() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try fill(journal, node: node)
    let unsettled: [Int64] = [10, 20, 30, 40, 70]
    #expect(try met(journal, node, FileColumns()) == unsettled)
    // The listing has files before, between, at and after the unsettled rows, and new files.
    let some = listing(rows: [1, 20, 25, 50, 70, 400], new: ["a", "photos/2026/1000012.jpg0", "z"])
    #expect(try met(journal, node, some) == [1, 10, 20, 25, 30, 40, 50, 70, 400])
    let reader = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try met(reader, node, some) == [1, 10, 20, 25, 30, 40, 50, 70, 400])
    #expect(try met(reader, node + 1, some).isEmpty)
    try journal.close()
  }

  @Test func aLongListingIsMatchedWithEveryItem() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try fill(journal, node: node)
    #expect(try met(journal, node, listing(rows: Array(1...50))) == Array(1...400))
  }

  @Test func itemsOfOtherNodesAreNotMatched() throws {
    let journal = try state.open()
    let photos = try journal.photos().id
    let films = try journal.node(manifest: "m", name: "films", kind: .upload, origin: "https://x:443").id
    try fill(journal, node: photos)
    try fill(journal, node: films, first: 401)
    #expect(try met(journal, films, listing(rows: [1])) == [401, 410, 420, 430, 440, 470])
  }

  @Test func countsAreTheSameAsThoseOfAGroupBy() throws {
    let journal = try state.open()
    let photos = try journal.photos().id
    let films = try journal.node(manifest: "m", name: "films", kind: .upload, origin: "https://x:443").id
    #expect(try journal.countsByRound().isEmpty)
    try fill(journal, node: photos)
    try fill(journal, node: films, first: 401)
    try journal.write([
      .requeue(round: 2, handedOver: .start, files: [.init(row: 1, size: 1, modified: 1)])
    ])
    let counts = try journal.countsByRound().map {
      [$0.node, $0.round, Int64($0.state.rawValue), Int64($0.count)]
    }
    let grouped = try journal.queue.read { db in
      try Row.fetchAll(
        db, sql: "SELECT node, round, state, count(*) FROM item GROUP BY node, round, state ORDER BY 1, 2, 3"
      ).map { row in (0..<4).map { row[$0] as Int64 } }
    }
    #expect(counts == grouped)
  }

  /// A scan or sort of the table `item` would take a second for each million rows.
  @Test func openingNeitherScansNorSortsAllItems() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try fill(journal, node: node)
    let statements = Statements()
    try journal.access { $0.trace { statements.add($0) } }
    _ = try journal.nextRow
    _ = try journal.nodes
    _ = try journal.recorded
    _ = try journal.hasItems(node: node)
    try journal.forEachOwed(node: node) { _ in }
    try journal.forEachItem(node: node) { _ in }
    _ = try journal.openUploads(of: "m", except: [])
    try journal.access { $0.trace() }
    #expect(statements.all.count { $0.contains("FROM item") } >= 5)
    // Sorting nodes is acceptable, because there are few of them.
    for sql in statements.all where sql.contains("FROM item") {
      let plan = try journal.access { db in
        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
      }
      #expect(!plan.contains { $0.hasPrefix("SCAN item") || $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
    }
  }
}

/// The SQL statements that a connection ran. The list is filled and read on one thread.
private final class Statements: @unchecked Sendable {
  var all: [String] = []

  func add(_ event: Database.TraceEvent) {
    if case .statement(let statement) = event, statement.sql.hasPrefix("SELECT") {
      all.append(statement.expandedSQL)
    }
  }
}
