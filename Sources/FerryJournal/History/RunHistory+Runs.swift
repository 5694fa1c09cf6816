import FerryPlan
import GRDB

extension RunHistory {
  /// Records that a run has begun; by its process a later one finds whether it still runs.
  ///
  /// - Parameter journals: the sessions that it has opened the journals of, which have to be there from now on.
  package func begin(_ run: RunRow, journals: [String] = []) throws(JournalError) {
    try write { db in
      try Self.register(journals: journals, at: run.startedAt, db)
      try db.execute(
        sql: """
          INSERT INTO run (id, launch, state, pid, process_started, boot, started_at)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          run.id, run.launch.rawValue, Int64(RunRow.State.running.rawValue), Int64(run.process.pid),
          run.process.started, run.process.boot, run.startedAt.nanoseconds,
        ])
      let sequence = db.lastInsertedRowID
      for round in run.rounds {
        try db.execute(
          sql: "INSERT INTO run_round (run, manifest, round) VALUES (?, ?, ?)",
          arguments: [sequence, round.manifest, round.number])
      }
    }
  }

  /// Writes down how a run ended, also where another process took it for dead.
  ///
  /// - Parameter rates: how fast its uploads went, one for each of them at most.
  package func end(
    run id: String, exitCode: Int32, report: String?, rates: [RateRow] = [], at now: Instant
  ) throws(JournalError) {
    try write { db in
      try Self.insert(rates, run: id, db)
      try db.execute(
        sql: "UPDATE run SET state = ?, ended_at = ?, exit_code = ?, report = ? WHERE id = ?",
        arguments: [
          Int64(RunRow.State.ended.rawValue), now.nanoseconds, Int64(exitCode), report, id,
        ])
    }
  }

  /// Closes the runs whose process is gone as `interrupted` and returns them.
  package func closeDeadRuns(
    at now: Instant, isAlive: (ProcessIdentity) -> Bool = { $0.isAlive }
  ) throws(JournalError) -> [RunRow] {
    try write { db in
      let dead = try self.rows(db, "WHERE state = \(RunRow.State.running.rawValue) ORDER BY sequence")
        .filter { !isAlive($0.process) }
      return try dead.map { run in
        var run = run
        run.state = .interrupted
        run.endedAt = now
        try db.execute(
          sql: "UPDATE run SET state = ?, ended_at = ? WHERE id = ?",
          arguments: [Int64(run.state.rawValue), now.nanoseconds, run.id])
        return run
      }
    }
  }

  /// The newest runs first.
  package func runs(limit: Int = .max) throws(JournalError) -> [RunRow] {
    try read { try self.rows($0, "ORDER BY sequence DESC LIMIT \(max(0, limit))") }
  }

  package func run(id: String) throws(JournalError) -> RunRow? {
    try read { try self.rows($0, "WHERE id = ?", [id]).first }
  }

  private func rows(
    _ db: Database, _ clause: String, _ arguments: StatementArguments = StatementArguments()
  ) throws -> [RunRow] {
    try Row.fetchAll(db, sql: "SELECT * FROM run \(clause)", arguments: arguments).map { row in
      let sequence: Int64 = row["sequence"]
      let id: String = row["id"]
      let raw: Int64 = row["state"]
      let pid: Int64 = row["pid"]
      let kind: String = row["launch"]
      guard let state = UInt8(exactly: raw).flatMap(RunRow.State.init(rawValue:)),
        let pid = Int32(exactly: pid), let launch = LaunchKind(rawValue: kind)
      else {
        throw JournalError(
          .damaged, file: path, cause: "run \(id) has state \(raw), pid \(pid) and launch \(kind)")
      }
      let endedAt: Int64? = row["ended_at"]
      let exitCode: Int64? = row["exit_code"]
      return RunRow(
        id: id, launch: launch,
        rounds: try Row.fetchAll(
          db, sql: "SELECT manifest, round FROM run_round WHERE run = ? ORDER BY manifest",
          arguments: [sequence]
        ).map { RunRow.Round(manifest: $0["manifest"], number: $0["round"]) },
        process: ProcessIdentity(pid: pid, started: row["process_started"], boot: row["boot"]),
        startedAt: Instant(nanoseconds: row["started_at"]), state: state,
        endedAt: endedAt.map(Instant.init(nanoseconds:)),
        exitCode: exitCode.map(Int32.init(truncatingIfNeeded:)),
        report: row["report"])
    }
  }
}
