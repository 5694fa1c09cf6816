import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct AfterTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func owed(_ journal: SessionJournal, _ node: Int64) throws -> [Int64] {
    var rows: [Int64] = []
    try journal.forEachOwed(node: node) { rows.append($0.id) }
    return rows
  }

  @Test func pendingActionsOfDeliveredFilesAreFoundUntilTheyAreDone() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 4)),
      .closed(row: 1, state: .done, at: .start, failure: nil),
      .source(row: 2, inode: .max, root: FolderIdentity(device: 5, inode: .max), sha256: Array(1...32)),
      .source(row: 2, inode: nil, sha256: nil),
      .closed(row: 2, state: .done, at: .start, failure: nil), .after(row: 2, .owed),
      .closed(row: 3, state: .done, at: .start, failure: nil), .after(row: 3, .owed),
      .closed(row: 4, state: .done, at: .start, failure: nil), .after(row: 4, .owed),
      .after(row: 4, .moved),
    ])
    #expect(try owed(journal, node) == [2, 3])
    var states: [AfterState?] = []
    try journal.forEachItem(node: node) { item in
      states.append(try item.after)
      if item.id == 2 { #expect(item.inode == .max && item.sha256 == Array(1...32)) }
      #expect(item.root == (item.id == 2 ? FolderIdentity(device: 5, inode: .max) : nil))
    }
    #expect(states == [nil, .owed, .owed, .moved])
    try journal.settle([(2, .deleted)])
    #expect(try owed(journal, node) == [3])
    // A failed attempt leaves the action pending.
    #expect(try journal.owesUntriedAfter(node: node))
    try journal.settle([(3, .owed)])
    #expect(try owed(journal, node) == [3])
    #expect(try !journal.owesUntriedAfter(node: node))
    #expect(try ReleasedSchemaTests.findings(in: state).isEmpty)
    // A file that is sent again loses its pending action.
    try journal.write([
      .requeue(round: 2, handedOver: .start, files: [.init(row: 3, size: 1, modified: 1)])
    ])
    #expect(try owed(journal, node).isEmpty)
    try journal.close()
  }

  /// While an item has an upload ID, the column contains the identity of the file, which is not its inode.
  @Test func theIdentityOfAPartlySentFileDoesNotRemainAsItsInode() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 4))
    ])
    for row in 1...4 as ClosedRange<Int64> {
      try journal.write([
        .allocated(row: row, captures: [], expires: nil), .source(row: row, inode: 99, sha256: nil),
      ])
    }
    let done = [1, 2, 3].map { JournalWrite.closed(row: $0, state: .done, at: .start, failure: nil) }
    try journal.write(
      [
        .transferred(row: 2, captures: [], sha256: nil), .transferred(row: 3, captures: [], sha256: nil),
        .source(row: 3, inode: 7, root: nil, sha256: nil),
      ] + done)
    var inodes: [UInt64?] = []
    try journal.forEachItem(node: node) { inodes.append($0.inode) }
    #expect(inodes == [nil, nil, 7, 99])
    try journal.close()
  }

  @Test func aFileCountsAsTakenIfItsActionWasPerformedOrIsPending() throws {
    let journal = try state.open()
    let node = try journal.photos().id
    let states: [AfterState?] = [nil, .owed, .deleted, .moved, .changed, .gone, .kept]
    let files = FileColumns(count: states.count)
    try journal.write([.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: files)])
    for (index, after) in states.enumerated() {
      let row = Int64(index + 1)
      try journal.write([.closed(row: row, state: .done, at: .start, failure: nil)])
      if let after { try journal.write([.after(row: row, after)]) }
    }
    func taken(of node: Int64) throws -> [Bool] {
      try states.indices.map { try journal.hasTakenFile(node: node, path: Array(files.path($0))) }
    }
    #expect(try taken(of: node) == [false, true, true, true, false, true, false])
    #expect(try !taken(of: node + 1).contains(true))
    #expect(try !journal.hasTakenFile(node: node, path: Array("unknown".utf8)))
    // A file that was queued again counts as a new file.
    try journal.write([
      .requeue(round: 2, handedOver: .start, files: [.init(row: 3, size: 1, modified: 1)])
    ])
    #expect(try !taken(of: node)[2])
    try journal.close()
  }

  @Test(arguments: [true, false])
  func aFailedWriteOutsideARunLeavesTheLogUnchanged(settles: Bool) throws {
    let journal = try state.open()
    let node = try journal.photos().id
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: 1))
    ])
    if settles {
      #expect(throws: JournalError.self) { try journal.settle([(99, .deleted)]) }
    } else {
      try journal.access { try $0.execute(sql: "DROP TABLE session") }
      #expect(throws: JournalError.self) { try journal.clearEvents() }
    }
    try journal.close()
    // When the last connection is closed, SQLite moves the log into the database file and removes the log.
    #expect(FileManager.default.fileExists(atPath: try state.database() + "-wal"))
  }

  @Test func aFileOfSchemaThreeIsMigratedAndHasNothingPending() throws {
    try state.directory.create()
    // Written by ferry 0.1.0 with schema 3: three delivered files of the upload `files`.
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "Files/session-3.db")
    try FileManager.default.copyItem(atPath: file.path, toPath: state.database())
    #expect(chmod(try state.database(), 0o600) == 0)

    let snapshot = try SessionJournal.openForReading(session: "s", in: state.directory)
    #expect(try snapshot.nodes.map(\.name) == ["files"])
    #expect(try snapshot.items(1).map(\.state) == [.done, .done, .done])
    try snapshot.close()

    let journal = try state.open(at: .start(plus: 9))
    let paths = try journal.items(1).map { String(decoding: $0.path, as: UTF8.self) }
    #expect(paths == ["a.txt", "b.txt", "sub/c d.txt"])
    #expect(try journal.items(1).map(\.size) == [2, 3, 2])
    #expect(try owed(journal, 1).isEmpty)
    try journal.write([.source(row: 1, inode: 7, sha256: nil), .after(row: 1, .owed)])
    #expect(try owed(journal, 1) == [1])
    let history = try journal.queue.read {
      try Row.fetchAll($0, sql: "SELECT * FROM history ORDER BY version")
    }
    #expect(history.map { $0["version"] as Int } == Array(1...DatabaseSchema.session.migrations.count))
    let older = Array(repeating: "0.1.0", count: 3)
    #expect(
      history.map { $0["ferry"] as String } == older
        + Array(repeating: "0.0-test", count: DatabaseSchema.session.migrations.count - 3))
    try journal.close()
  }
}
