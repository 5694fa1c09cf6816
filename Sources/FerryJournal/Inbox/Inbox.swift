import FerryPlan
import Foundation
import GRDB

/// The notes that `submit` and `cancel` leave for the process that holds a session, without taking its lock.
///
/// Each call is one short transaction, which is synced at its commit. A note remains until the holder has recorded its
/// request. After a crash, a note may therefore be processed twice.
package final class Inbox: Sendable {
  private let state: StateDirectory
  private let database: SharedDatabase
  package var path: String { database.path }

  private init(_ state: StateDirectory, _ database: SharedDatabase) {
    self.state = state
    self.database = database
  }

  package static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> Inbox {
    Inbox(state, try .open(in: state, durability: .everyCommit, writtenBy: ferry, at: now))
  }

  /// Opens the inbox for reading without changing its folder. If there is no file, the inbox is empty.
  package static func openForReading(in state: StateDirectory) throws(JournalError) -> Inbox {
    Inbox(state, try .openForReading(in: state))
  }

  package func close() throws(JournalError) { try database.close() }

  /// Stores the note under a new ID and wakes the session's `InboxWatch`. The note is stored either completely or not
  /// at all.
  @discardableResult
  package func leave(_ note: Note) throws(JournalError) -> Int64 {
    let bell = try state.inbox(ofSession: note.session)
    let id = try database.write { db in
      try db.execute(
        sql: "INSERT INTO note (session, kind, manifest, node, reason, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        arguments: [
          note.session, note.kind.rawValue, note.manifest, note.node, note.reason?.text,
          note.createdAt.nanoseconds,
        ])
      let id = db.lastInsertedRowID
      // GRDB binds an empty array of bytes as NULL.
      let statement = try db.cachedStatement(
        sql: """
          INSERT INTO note_path (note, number, path, size, modified) VALUES (?, ?, coalesce(?, x''), ?, ?)
          """)
      for (number, file) in note.files.enumerated() {
        try statement.execute(
          arguments: [id, number, Data(file.path), file.version?.size, file.version?.modified])
      }
      return id
    }
    Self.ring(bell, id)
    return id
  }

  /// The session's notes, in the order in which they were added.
  ///
  /// - Parameter last: the ID of a note; only later notes are returned.
  package func notes(session: String, after last: Int64 = 0) throws(JournalError) -> [Note] {
    try database.read { db in
      let notes = try db.rows(
        "SELECT * FROM note WHERE session = ? AND id > ? ORDER BY id", [session, last], of: "note",
        in: self.path, self.note)
      return try notes.map { note in
        var note = note
        note.files = try db.rows(
          "SELECT * FROM note_path WHERE note = ? ORDER BY number", [note.id], of: "note_path", in: self.path,
          self.file)
        return note
      }
    }
  }

  /// The identifiers of the sessions that have notes, sorted.
  package func sessions() throws(JournalError) -> [String] {
    try database.read { db in
      try String.fetchAll(db, sql: "SELECT DISTINCT session FROM note ORDER BY session")
    }
  }

  /// Removes notes whose requests are recorded. Ignores notes that are already removed.
  package func remove(_ ids: some Collection<Int64>) throws(JournalError) {
    guard !ids.isEmpty else { return }
    try database.write { db in
      let statement = try db.cachedStatement(sql: "DELETE FROM note WHERE id = ?")
      for id in ids { try statement.execute(arguments: [id]) }
    }
  }

  /// Removes the files of a note whose submission is recorded.
  ///
  /// - Parameter indices: the indices of the files that remain, in the note as it was read.
  package func keepOnly(_ indices: [Int], of note: Int64) throws(JournalError) {
    try database.write { db in
      let numbers = try Int.fetchAll(
        db, sql: "SELECT number FROM note_path WHERE note = ? ORDER BY number", arguments: [note])
      let kept = indices.filter(numbers.indices.contains).map { String(numbers[$0]) }
      let json = "[" + kept.joined(separator: ",") + "]"
      try db.execute(
        sql: "DELETE FROM note_path WHERE note = ? AND number NOT IN (SELECT value FROM json_each(?))",
        arguments: [note, json])
    }
  }

  private func file(_ row: JournalRow) throws -> Note.File {
    guard let size: Int64 = try row.optional("size") else { return Note.File(path: try row.value("path")) }
    return Note.File(
      path: try row.value("path"), version: Note.Version(size: size, modified: try row.value("modified")))
  }

  /// The note without its files.
  private func note(_ row: JournalRow) throws -> Note {
    Note(
      id: try row.value("id"), session: try row.value("session"), kind: try row.word("kind"),
      manifest: try row.optional("manifest"), node: try row.optional("node"),
      reason: try row.optional("reason").map { CancelReason(recorded: $0) },
      createdAt: Instant(nanoseconds: try row.value("created_at")))
  }

  /// Writes to the file that the holder watches.
  ///
  /// The note is already stored. If the file cannot be written, the holder finds the note at its next launch,
  /// so reporting a failure would be wrong.
  private static func ring(_ path: String, _ id: Int64) {
    guard let descriptor = try? StateFile.open(path, O_WRONLY | O_CREAT, doing: "open") else { return }
    ftruncate(descriptor, 0)
    // inotify reports the file when it is closed after writing. The text is for human readers.
    let text = Array("note \(id)\n".utf8)
    _ = Foundation.write(descriptor, text, text.count)
    Foundation.close(descriptor)
  }
}
