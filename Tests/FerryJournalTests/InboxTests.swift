import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct InboxTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func open() throws -> Inbox {
    try Inbox.open(in: state.directory, writtenBy: "0.0-test", at: .start)
  }

  @Test func notesAreReadInOrderAndOnlyThoseOfTheSession() throws {
    let inbox = try open()
    var notes = [
      Note(
        session: "s", kind: .submit, manifest: "m", node: "photos",
        files: [
          Note.File(path: Array("b".utf8), version: Note.Version(size: 7, modified: -1)),
          Note.File(path: [0xff, 0x00, 0x0a]), Note.File(path: []), Note.File(path: Array("a".utf8)),
        ], createdAt: .start(plus: 9)),
      Note(session: "s/é", kind: .cancel, createdAt: .start),
      Note(session: "s", kind: .cancel, manifest: "m", createdAt: .start),
      Note(
        session: "s", kind: .finish, reason: CancelReason(recorded: "disk full"), createdAt: .start(plus: 3)),
    ]
    for index in notes.indices { notes[index].id = try inbox.leave(notes[index]) }
    #expect(try inbox.notes(session: "s") == [notes[0], notes[2], notes[3]])
    #expect(try inbox.notes(session: "s/é") == [notes[1]])
    #expect(try inbox.notes(session: "t").isEmpty)
    #expect(try inbox.sessions() == ["s", "s/é"])
  }

  @Test func aNoteStaysUntilItIsRemovedAndItsIdIsNotUsedAgain() throws {
    let inbox = try open()
    let ids = try (0..<3).map { _ in
      try inbox.leave(Note(session: "s", kind: .submit, files: [Note.File(path: [1])], createdAt: .start))
    }
    try inbox.close()
    let again = try open()
    #expect(try again.notes(session: "s").map(\.id) == ids)
    try again.remove(ids.suffix(2))
    try again.remove([ids[2], 999])
    try again.remove([])
    #expect(try again.notes(session: "s").map(\.id) == [ids[0]])
    let new = try again.leave(Note(session: "s", kind: .cancel, createdAt: .start))
    #expect(!ids.contains(new))
    // Removing a note also removes its paths.
    let paths = try SharedDatabase.openForReading(in: state.directory).read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM note_path")
    }
    #expect(paths == 1)
  }

  /// The numbers of the remaining files do not change, although their indices do.
  @Test func aNoteKeepsTheRightFilesEachTime() throws {
    let inbox = try open()
    let files = ["a", "b", "c", "d"].map { Note.File(path: Array($0.utf8)) }
    let id = try inbox.leave(Note(session: "s", kind: .submit, files: files, createdAt: .start))
    try inbox.keepOnly([1, 2, 3], of: id)
    #expect(try inbox.notes(session: "s").first?.files == Array(files[1...]))
    try inbox.keepOnly([0, 2, 7], of: id)
    #expect(try inbox.notes(session: "s").first?.files == [files[1], files[3]])
    try inbox.keepOnly([], of: id)
    #expect(try inbox.notes(session: "s").first?.files == [])
  }

  @Test func aHundredThousandPathsAreOneNote() throws {
    let inbox = try open()
    let files = (0..<100_000).map { Note.File(path: Array("2026/\($0).jpg".utf8)) }
    try inbox.leave(
      Note(session: "s", kind: .submit, manifest: "m", node: "a", files: files, createdAt: .start))
    // Copies the database file and its log without closing them, as a kill would leave them.
    let other = try TemporaryState()
    try other.directory.create()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: inbox.path + suffix, toPath: other.directory.history + suffix)
    }
    let reopened = try Inbox.open(in: other.directory, writtenBy: "0.0-test", at: .start)
    #expect(try reopened.notes(session: "s").map(\.files) == [files])
  }

  @Test func addingANoteTouchesTheSessionsFile() throws {
    let inbox = try open()
    let id = try inbox.leave(Note(session: "a b", kind: .cancel, createdAt: .start))
    let path = try state.directory.inbox(ofSession: "a b")
    #expect(path.hasSuffix("/sessions/a%20b.inbox"))
    #expect(state.mode(path) == 0o600)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "note \(id)\n")
    #expect(try state.directory.sessions().isEmpty)
    #expect(throws: JournalError.self) {
      try inbox.leave(Note(session: "", kind: .cancel, createdAt: .start))
    }
    #expect(try inbox.notes(session: "").isEmpty)
  }

  @Test func aNoteIsStoredEvenIfTheFileCannotBeTouched() throws {
    let inbox = try open()
    try FileManager.default.createDirectory(
      atPath: state.directory.inbox(ofSession: "s"), withIntermediateDirectories: false)
    let id = try inbox.leave(Note(session: "s", kind: .cancel, createdAt: .start))
    #expect(try inbox.notes(session: "s").map(\.id) == [id])
  }

  @Test func readingForAStatusChangesNothingInTheFolder() throws {
    #expect(try Inbox.openForReading(in: state.directory).notes(session: "s").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: state.directory.path))
    let inbox = try open()
    try inbox.leave(Note(session: "s", kind: .cancel, createdAt: .start))
    try inbox.close()
    let before = try state.contents()
    let reader = try Inbox.openForReading(in: state.directory)
    #expect(try reader.notes(session: "s").count == 1)
    #expect(throws: JournalError.self) { try reader.remove([1]) }
    try reader.close()
    #expect(try state.contents() == before)
  }

  @Test func aNoteOfAnUnknownKindIsDamage() throws {
    let inbox = try open()
    try inbox.leave(Note(session: "s", kind: .cancel, createdAt: .start))
    try SharedDatabase.open(
      in: state.directory, durability: .everyCommit, writtenBy: "0.0-test", at: .start
    ).write { try $0.execute(sql: "UPDATE note SET kind = 'sing'") }
    let error = #expect(throws: JournalError.self) { try inbox.notes(session: "s") }
    #expect(error?.code == .damaged && error?.cause.contains("sing") == true)
  }

  @Test func everyCommitIsSynced() throws {
    // `leave` guarantees that a note is on disk, so every commit must be synced. The value 2 is FULL.
    let database = try SharedDatabase.open(
      in: state.directory, durability: .everyCommit, writtenBy: "0.0-test", at: .start)
    #expect(try database.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
  }
}
