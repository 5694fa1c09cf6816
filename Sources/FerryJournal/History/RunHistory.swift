import FerryPlan
import Foundation
import GRDB

/// `ferry.db`: the jobs, rounds and runs of the user, shared by all of the user's processes.
///
/// Each call is one short transaction, which is synced at its commit.
package final class RunHistory: Sendable {
  private let database: SharedDatabase
  let state: StateDirectory
  package var path: String { database.path }

  private init(_ database: SharedDatabase, in state: StateDirectory) {
    (self.database, self.state) = (database, state)
  }

  package static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> RunHistory {
    RunHistory(try .open(in: state, durability: .everyCommit, writtenBy: ferry, at: now), in: state)
  }

  /// Opens the history for reading without changing its folder. If there is no file, the history is empty.
  package static func openForReading(in state: StateDirectory) throws(JournalError) -> RunHistory {
    RunHistory(try .openForReading(in: state), in: state)
  }

  package func close() throws(JournalError) { try database.close() }

  // MARK: Jobs

  /// Records the manifest's path and variables, replacing earlier ones.
  package func register(_ job: JobRow) throws(JournalError) {
    try write { db in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let variables = String(decoding: try encoder.encode(job.variables), as: UTF8.self)
      try db.execute(
        sql: """
          INSERT INTO job (manifest, path, variables, registered_at) VALUES (?, ?, ?, ?)
          ON CONFLICT (manifest) DO UPDATE SET path = excluded.path, variables = excluded.variables,
          registered_at = excluded.registered_at
          """,
        arguments: [job.manifest, job.path, variables, job.registeredAt.nanoseconds])
    }
  }

  /// Removes a job that was registered by mistake. It has no rounds.
  package func unregister(manifest: String) throws(JournalError) {
    try write { db in try db.execute(sql: "DELETE FROM job WHERE manifest = ?", arguments: [manifest]) }
  }

  package func job(manifest: String) throws(JournalError) -> JobRow? {
    try read { db in
      try db.first("SELECT * FROM job WHERE manifest = ?", [manifest], of: "job", in: self.path, self.job)
    }
  }

  /// The names under which the manifest at this path has an open round.
  package func openManifests(atPath path: String) throws(JournalError) -> [String] {
    try read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT manifest FROM job JOIN round USING (manifest) WHERE path = ? AND round.closed_at IS NULL
          ORDER BY manifest
          """,
        arguments: [path])
    }
  }

  /// The jobs that `ferry resume` continues, by name.
  package var jobsWithOpenRound: [JobRow] {
    get throws(JournalError) {
      try read { db in
        try db.rows(
          """
          SELECT job.* FROM job JOIN round USING (manifest) WHERE round.closed_at IS NULL
          ORDER BY manifest
          """, of: "job", in: self.path, self.job)
      }
    }
  }

  // MARK: Rounds

  /// The manifest's open round, or its last one; `nil` before the first round.
  package func latestRound(manifest: String) throws(JournalError) -> RoundRow? {
    try read { try self.latestRound(manifest, $0) }
  }

  /// Returns the open round, or a new one after the last. Two processes that call this at the same time get
  /// the same round.
  ///
  /// A shard gets the round of the pass that the work that runs once has begun. If this round is closed, it is opened
  /// again. A new round of the work that runs once begins a pass.
  ///
  /// - Parameter used: the last round in the manifest's journals. An earlier open round comes from an old
  ///   copy of this file and is closed.
  package func openRound(
    manifest: String, used: Int64 = 0, at now: Instant
  ) throws(JournalError) -> RoundRow {
    let others = try otherParts(of: manifest)
    return try write { db in
      let latest = try self.latestRound(manifest, db)
      let next = NextRound(
        latest: latest, used: used, shared: others.shared, others: others.lastRound)
      if let latest, next.continues {
        if latest.closedAt != nil {
          try db.execute(
            sql: "UPDATE round SET closed_at = NULL, closed_by = NULL WHERE manifest = ? AND number = ?",
            arguments: [manifest, latest.number])
        }
        return RoundRow(
          manifest: manifest, number: latest.number, openedAt: latest.openedAt, pass: latest.pass)
      }
      try db.execute(
        sql: "UPDATE round SET closed_at = ? WHERE manifest = ? AND closed_at IS NULL",
        arguments: [now.nanoseconds, manifest])
      let round = RoundRow(
        manifest: manifest, number: next.number, openedAt: now,
        pass: next.pass ?? (others.beginsPass ? UUID().uuidString : nil))
      try db.execute(
        sql: "INSERT INTO round (manifest, number, opened_at, pass) VALUES (?, ?, ?, ?)",
        arguments: [manifest, round.number, now.nanoseconds, round.pass])
      return round
    }
  }

  /// Closes the round. Has no effect if the round is already closed.
  ///
  /// - Parameter run: the ID of the run that has completed the round; `nil` if a command drops the round.
  package func closeRound(
    manifest: String, number: Int64, by run: String? = nil, at now: Instant
  ) throws(JournalError) {
    try write { db in
      try db.execute(
        sql: """
          UPDATE round SET closed_at = ?, closed_by = ? WHERE manifest = ? AND number = ? AND closed_at IS NULL
          """,
        arguments: [now.nanoseconds, run, manifest, number])
    }
  }

  private func latestRound(_ manifest: String, _ db: Database) throws -> RoundRow? {
    try db.first(
      "SELECT * FROM round WHERE manifest = ? ORDER BY number DESC LIMIT 1", [manifest], of: "round", in: path
    ) { try RoundRow($0) }
  }

  private func job(_ row: JournalRow) throws -> JobRow {
    let text: String = try row.value("variables")
    // An error that names the column is more helpful than the decoder's message.
    guard let variables = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8)) else {
      throw row.damaged("variables", "not a JSON object of strings")
    }
    return JobRow(
      manifest: try row.value("manifest"), path: try row.value("path"), variables: variables,
      registeredAt: Instant(nanoseconds: try row.value("registered_at")))
  }

  func write<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    try database.write(body)
  }

  func read<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    try database.read(body)
  }
}
