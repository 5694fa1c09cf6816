import Foundation
import Testing

/// A journal with a value that ferry never writes: NULL, another type, text that is not UTF-8, a blob, or a negative,
/// unknown or huge number.
///
/// Each column is tested with NULL and one other value, and each value with a few commands. If FERRY_SOAK_KILLS is set,
/// as by scripts/soak, all values and commands are tested.
@Suite struct `A forged journal` {
  private static let isSoak = ProcessInfo.processInfo.environment["FERRY_SOAK_KILLS"] != nil

  private struct Case: Sendable {
    var number: String
    /// The table, the column and the value.
    var what: String
  }

  private static let commands = [
    ["status"], ["plan", "job.yaml"], ["run", "job.yaml", "--max-duration", "5s"],
    ["explain", "c.txt", "--manifest", "job.yaml"], ["orphans"], ["journal", "check"], ["journal", "export"],
    ["next", "job.yaml"], ["cancel", "e2e.uploads"], ["reset", "e2e.uploads"],
    ["journal", "prune", "--delivered", "1d", "--runs", "1d"],
    ["resolve", "job.yaml", "files", "c.txt", "retry"],
    ["resume"], ["report"], ["submit", "job.yaml", "files", "files/a.txt"], ["status", "--format", "json"],
  ]

  private static let nodes =
    JobText.uploadIDs(retry: "retry: { limit: 1, initial: 10ms, max: 10ms }") + """

          abandon: { request: { method: DELETE, url: "${vars.api}/uploads/${allocate.id}" } }
          after: { move_to: sent/ }
      fetches:
        catalog:
          session: uploads
          request: { url: "${vars.api}/catalog.json" }
          save_to: catalog.json
          interval: { minimum: 1h }
      requests:
        note:
          session: uploads
          needs: [files]
          when: always
          request: { url: "${vars.api}/done", json: { node: note } }
      """

  /// Creates a state folder with rows in every table, and forged copies of it.
  private func forge(_ job: Workspace) async throws -> [Case] {
    for name in ["a.txt", "b.txt", "d.txt"] { try job.write(name, to: name) }
    let run = try await job.ferry("run", "job.yaml", "--quiet")
    #expect(run.status == 0, "\(run.stderr)")
    for name in ["a.txt", "b.txt", "d.txt"] { try job.write(name, to: name) }
    _ = try job.folder.makeFolder("cases")
    let script = Product.source("Tests/EndToEndTests/Faults/forged-journals.py")
    let forged = try await Command.run(
      "python3", [script, job.state, job.folder.path("cases"), Self.isSoak ? "9" : "2"])
    try #require(forged.status == 0, "\(forged.stderr)")
    return forged.stdout.split(separator: "\n").map { line in
      let fields = line.split(separator: "\t").map(String.init)
      return Case(number: fields[0], what: fields.dropFirst().joined(separator: " "))
    }
  }

  /// Runs a command on a separate copy. The command must neither crash nor hang, and must report a remedy if it fails.
  private static func look(_ words: [String], at forged: Case, of job: Workspace) async throws {
    let state = job.folder.path("state-\(UUID().uuidString)")
    try FileManager.default.copyItem(atPath: job.folder.path("cases/\(forged.number)"), toPath: state)
    let running = try job.start(words, environment: ["FERRY_STATE": state, "SWIFT_BACKTRACE": "enable=no"])
    let watch = Task {
      try await Task.sleep(for: .seconds(120))
      running.signal(SIGKILL)
    }
    let end = await running.end()
    watch.cancel()
    #expect(end.status < 128, "\(forged.what): \(words): \(end.stderr.suffix(2000))")
    let told = end.stdout + end.stderr
    if end.status == 70 { #expect(told.contains("help: "), "\(forged.what): \(words): \(told)") }
    try FileManager.default.removeItem(atPath: state)
  }

  @Test func `makes no command crash or hang`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, Self.nodes))
    let cases = try await forge(job)
    #expect(cases.count > 100)
    let count = Self.isSoak ? Self.commands.count : 2
    try await withThrowingTaskGroup(of: Void.self) { group in
      var running = 0
      for (index, forged) in cases.enumerated() {
        for offset in 0..<count {
          if running >= 4 { try await group.next() } else { running += 1 }
          let words = Self.commands[(index * count + offset) % Self.commands.count]
          group.addTask { try await Self.look(words, at: forged, of: job) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Reading stops at the invalid row, and the error names it.
  @Test(arguments: [
    ("item", "size", "NULL"), ("item", "path", "NULL"), ("item", "node", "NULL"), ("item", "node", "999"),
    ("item", "size", "-1"), ("item", "captures", "'{'"),
    ("item", "captures", "CAST(x'ff41' AS TEXT)"), ("node", "manifest", "NULL"), ("node", "kind", "9"),
    ("node", "origin", "CAST(x'ff41' AS TEXT)"), ("session", "events_pending", "x'00'"),
    ("round", "number", "NULL"),
    ("job", "variables", "'['"), ("run", "started_at", "1e300"), ("run", "launch", "'x'"),
  ])
  func `is refused with the file, table, row and column that are wrong`(
    _ table: String, _ column: String, _ value: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:status=503"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url, JobText.uploadIDs(retry: "retry: { limit: 1000, initial: 10ms, max: 100ms }")))
    try job.write("a", to: "a.txt")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests >= 3 }
    run.signal(SIGTERM)
    #expect(await run.end().status == 143)
    let file = ["item", "node", "session"].contains(table) ? "sessions/e2e.uploads.db" : "ferry.db"
    let edit = """
      import re, sqlite3, sys
      path, table, column, value = sys.argv[1:]
      def schema(change):
          db = sqlite3.connect(path)
          sql = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
          db.execute("PRAGMA writable_schema = ON")
          db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (change(sql), table))
          db.commit()
          db.close()
          return sql
      # A key that is never NULL is left out of the table's rules too.
      before = schema(lambda sql: re.sub(r"\\bNOT NULL\\b|\\bSTRICT, (?=WITHOUT)|\\bSTRICT$", "", sql))
      db = sqlite3.connect(path)
      try:
          db.execute(f"UPDATE {table} SET {column} = {value}")
      except sqlite3.IntegrityError:
          db.execute(f"UPDATE {table} SET {column} = 'x'")
      db.commit()
      # The opening of a journal above 1 MiB does not check it as a whole: its rows are checked as they are read.
      if "sessions" in path: db.execute("CREATE TABLE filler AS SELECT zeroblob(2 << 20)")
      db.commit()
      db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      db.close()
      schema(lambda sql: before)
      """
    let path = "\(job.state)/\(file)"
    let forged = try await Command.run("python3", ["-c", edit, path, table, column, value])
    try #require(forged.status == 0, "\(forged.stderr)")
    chmod(path, 0o600)
    // `ferry run` reads neither the table of jobs, which only `ferry resume` reads, nor runs that have ended.
    let words: [String] =
      switch table {
      case "job": ["resume"]
      case "run": ["journal", "export"]
      default: ["run", "job.yaml"]
      }
    let end = try await job.start(words).end()
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(
      end.stderr.contains("\(path): the journal is damaged: in the table \(table), the row whose "),
      "\(end.stderr)")
    #expect(end.stderr.contains(": \(column) is ") && end.stderr.contains("help: "), "\(end.stderr)")
  }
}
