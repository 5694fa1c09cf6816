import Foundation

/// The items and nodes of a session in its journal, read with SQLite and without ferry's code.
struct RecordedItems: Equatable {
  /// The values of the column `state`, as docs/journal.md defines them.
  enum State: Int, Decodable {
    case queued = 0
    case allocated = 1
    case transferred = 2
    case done = 3
    case failed = 4
    case ambiguous = 5
    case cancelled = 6
  }

  /// The states of the items, by path.
  let states: [String: State]
  /// The items with an intent, that is, with a request that may have been sent and whose outcome is not recorded.
  let intents: Set<String>
  /// The states of fetches and requests, by name.
  let nodes: [String: State]
  /// The result of `PRAGMA integrity_check`, which must be `ok`.
  let integrity: String

  func names(_ state: State) -> Set<String> { Set(states.filter { $0.value == state }.map(\.key)) }

  static func read(session: String, of workspace: Workspace) async throws -> RecordedItems {
    try await read(session: session, state: workspace.state)
  }

  /// Reads a copy of the journal, because reading the journal itself would change the state that a kill left.
  ///
  /// - Parameter state: the path of a state folder.
  static func read(session: String, state: String) async throws -> RecordedItems {
    let copy = try TemporaryFolder()
    for suffix in ["", "-wal"] {
      let file = state + "/sessions/\(session).db\(suffix)"
      guard FileManager.default.fileExists(atPath: file) else { continue }
      try FileManager.default.copyItem(atPath: file, toPath: copy.path("journal.db\(suffix)"))
    }
    let command = try await Command.run("python3", ["-c", script, copy.path("journal.db")])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    let read = try command.json(Read.self)
    return RecordedItems(
      states: read.items.compactMapValues { State(rawValue: $0) }, intents: Set(read.intents),
      nodes: read.nodes.compactMapValues { State(rawValue: $0) }, integrity: read.integrity)
  }

  private struct Read: Decodable {
    var items: [String: Int]
    var intents: [String]
    var nodes: [String: Int]
    var integrity: String
  }

  /// The script accepts a journal without tables, because a kill may occur before they are created.
  private static let script = """
    import json, sqlite3, sys
    db = sqlite3.connect(sys.argv[1])
    there = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'item'").fetchone()
    rows = db.execute("SELECT path, state, intent FROM item").fetchall() if there else []
    nodes = db.execute("SELECT name, state FROM node WHERE kind <> 1").fetchall() if there else []
    print(json.dumps({
      "items": {path.decode(): state for path, state, _ in rows},
      "intents": [path.decode() for path, _, intent in rows if intent is not None],
      "nodes": dict(nodes),
      "integrity": "\\n".join(row[0] for row in db.execute("PRAGMA integrity_check"))}))
    """
}
