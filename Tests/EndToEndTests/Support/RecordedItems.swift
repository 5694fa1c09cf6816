import Foundation

/// What a session's journal says of its items, read by SQLite itself and none of ferry's code.
struct RecordedItems {
  /// The values of the column `state`, as docs/journal.md lists them.
  enum State: Int {
    case queued = 0
    case allocated = 1
    case transferred = 2
    case done = 3
    case failed = 4
    case ambiguous = 5
    case cancelled = 6
  }

  /// By the items' paths.
  let states: [String: State]

  /// Reads a copy, so that the journal stays as a kill left it: its reader would tidy up.
  static func read(session: String, of workspace: Workspace) async throws -> RecordedItems {
    let copy = try TemporaryFolder()
    for suffix in ["", "-wal"] {
      let file = workspace.state + "/sessions/\(session).db\(suffix)"
      guard FileManager.default.fileExists(atPath: file) else { continue }
      try FileManager.default.copyItem(atPath: file, toPath: copy.path("journal.db\(suffix)"))
    }
    let command = try await Command.run("python3", ["-c", script, copy.path("journal.db")])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    let rows = try JSONDecoder().decode([String: Int].self, from: Data(command.stdout.utf8))
    return RecordedItems(states: rows.compactMapValues(State.init(rawValue:)))
  }

  /// A kill may come before the tables are there.
  private static let script = """
    import json, sqlite3, sys
    db = sqlite3.connect(sys.argv[1])
    there = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'item'").fetchone()
    rows = db.execute("SELECT path, state FROM item").fetchall() if there else []
    print(json.dumps({path.decode(): state for path, state in rows}))
    """
}
