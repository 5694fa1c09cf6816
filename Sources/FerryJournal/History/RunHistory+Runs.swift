import FerryPlan
import GRDB

extension RunHistory {
  /// Records that a run has started. The process is recorded too, so that later runs can determine whether
  /// this run is still in progress.
  ///
  /// - Parameter journals: the sessions whose journals the run has opened. These journals must exist from
  ///   this point on.
  package func begin(_ run: RunRow, journals: [String] = []) throws(JournalError) {
    try write { db in
      try Self.register(journals: journals, at: run.startedAt, db)
      try db.execute(
        sql: """
          INSERT INTO run (id, launch, state, pid, process_started, boot, started_at, part)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          run.id, run.launch.rawValue, Int64(RunRow.State.running.rawValue), Int64(run.process.pid),
          run.process.started, run.process.boot, run.startedAt.nanoseconds, run.part,
        ])
      let sequence = db.lastInsertedRowID
      for round in run.rounds {
        try db.execute(
          sql: "INSERT INTO run_round (run, manifest, round) VALUES (?, ?, ?)",
          arguments: [sequence, round.manifest, round.number])
      }
    }
  }

  /// Records that a run also works on this round, because files for its manifest were submitted to the run.
  package func add(_ round: RunRow.Round, toRun id: String) throws(JournalError) {
    try write { db in
      try db.execute(
        sql: """
          INSERT INTO run_round (run, manifest, round) SELECT sequence, ?, ? FROM run WHERE id = ?
          ON CONFLICT DO NOTHING
          """,
        arguments: [round.manifest, round.number, id])
    }
  }

  /// Records the end of a run, even if another process has marked the run as dead.
  ///
  /// - Parameter rates: the transfer rates of the run's uploads, at most one for each upload.
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

  /// Changes the state of runs that are recorded as running, but whose process no longer exists, to `interrupted`, and
  /// returns these runs.
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

  /// The oldest run of one of the manifests that another process is still executing; `nil` if there is none.
  package func liveRun(
    of manifests: Set<String>, isAlive: (ProcessIdentity) -> Bool = { $0.isAlive && $0 != .current }
  ) throws(JournalError) -> RunRow? {
    try read { try self.rows($0, "WHERE state = \(RunRow.State.running.rawValue) ORDER BY sequence") }
      .first { run in run.rounds.contains { manifests.contains($0.manifest) } && isAlive(run.process) }
  }

  /// The runs, newest first.
  package func runs(limit: Int = .max) throws(JournalError) -> [RunRow] {
    try read { try self.rows($0, "ORDER BY sequence DESC LIMIT \(max(0, limit))") }
  }

  /// The last run of a manifest.
  package func lastRun(of manifest: String) throws(JournalError) -> RunRow? {
    try read {
      try self.rows(
        $0, "WHERE sequence = (SELECT max(run) FROM run_round WHERE manifest = ?)", [manifest]
      ).first
    }
  }

  /// Whether a run of a round, other than `run`, has not recorded its end.
  package func hasUnendedRun(
    of manifest: String, round: Int64, except run: String? = nil
  ) throws(JournalError) -> Bool {
    try read { db in
      try Bool.fetchOne(
        db,
        sql: """
          SELECT EXISTS (
            SELECT 1 FROM run_round JOIN run ON run.sequence = run_round.run
            WHERE run_round.manifest = ? AND run_round.round = ? AND run.state <> ? AND run.id <> ?)
          """,
        arguments: [manifest, round, Int64(RunRow.State.ended.rawValue), run ?? ""]) ?? false
    }
  }

  package func run(id: String) throws(JournalError) -> RunRow? {
    try read { try self.rows($0, "WHERE id = ?", [id]).first }
  }

  private func rows(
    _ db: Database, _ clause: String, _ arguments: StatementArguments = StatementArguments()
  ) throws -> [RunRow] {
    // Read row by row, because the rounds of each run require a separate query.
    let runs = try db.rows("SELECT * FROM run \(clause)", arguments, of: "run", in: path) { row in
      let pid: Int64 = try row.value("pid")
      guard let known = Int32(exactly: pid) else { throw row.damaged("pid", "\(pid)") }
      let endedAt: Int64? = try row.optional("ended_at")
      let exitCode: Int64? = try row.optional("exit_code")
      return (
        sequence: try row.value("sequence", as: Int64.self),
        run: RunRow(
          id: try row.value("id"), launch: try row.word("launch"), rounds: [],
          process: ProcessIdentity(
            pid: known, started: try row.value("process_started"), boot: try row.value("boot")),
          startedAt: Instant(nanoseconds: try row.value("started_at")), state: try row.word("state"),
          endedAt: endedAt.map(Instant.init(nanoseconds:)),
          exitCode: exitCode.map(Int32.init(truncatingIfNeeded:)), report: try row.optional("report"),
          part: try row.optional("part"))
      )
    }
    return try runs.map { sequence, run in
      var run = run
      run.rounds = try db.rows(
        """
        SELECT run_round.manifest, run_round.round, round.pass FROM run_round
        LEFT JOIN round ON round.manifest = run_round.manifest AND round.number = run_round.round
        WHERE run = ? ORDER BY run_round.manifest
        """, [sequence], of: "run_round", in: path
      ) {
        RunRow.Round(
          manifest: try $0.value("manifest"), number: try $0.value("round"), pass: try $0.optional("pass"))
      }
      return run
    }
  }
}
