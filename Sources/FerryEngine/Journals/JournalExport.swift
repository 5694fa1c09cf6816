import FerryDigest
import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// `ferry journal export`: journals as JSON Lines, without secret captures.
///
/// Items are read and written one by one, so memory does not grow with their number.
package struct JournalExport {
  private let state: StateDirectory
  /// Receives each line with its line break.
  private let write: (String) throws -> Void

  package init(
    state: String?, environment: [String: String], write: @escaping (String) throws -> Void
  ) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.write = write
  }

  /// Writes everything that can be read.
  ///
  /// - Parameter sessions: identifiers; if empty, all sessions that have, or must have, a journal, with every round and
  ///   run.
  /// - Returns: descriptions of the data that could not be read: the first fault of each file.
  package func export(sessions: [String]) throws -> [String] {
    var manifests: Set<String>? = sessions.isEmpty ? nil : []
    var faults: [JournalError] = []
    func attempt(_ read: () throws -> Void) throws {
      do {
        try read()
      } catch let fault as JournalError {
        // Report only the first fault in each file; `ferry journal check` lists them all.
        if !faults.contains(where: { $0.file == fault.file }) { faults.append(fault) }
      }
    }
    var known = Set(try state.sessions())
    // A journal that is missing is a fault, and if `ferry.db` is damaged, the journals that exist are still exported.
    try attempt { known.formUnion(try RunHistory.knownJournals(in: state)) }
    try SessionCatalog.checkJournals(sessions, among: known.sorted(), in: state)
    for session in (sessions.isEmpty ? known : Set(sessions)).sorted() {
      try attempt {
        let journal = try SessionJournal.openForReading(
          session: session, in: state, known: RunHistory.knownJournals(in: state))
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        for node in try journal.nodes {
          manifests?.insert(node.manifest)
          try put(Self.line(node, session: session))
          guard node.kind.hasItems else { continue }
          try attempt {
            try journal.forEachItem(node: node.id) { item in
              try put(Self.line(item, of: node, session: session))
            }
          }
        }
        for orphan in try journal.orphans { try put(Self.line(orphan, session: session)) }
      }
    }
    try attempt {
      let history = try RunHistory.openForReading(in: state)
      // The history was only read, so closing it cannot lose data.
      defer { try? history.close() }
      func isWanted(_ manifest: String) -> Bool { manifests?.contains(manifest) ?? true }
      try history.forEachRound { if isWanted($0.manifest) { try put(Self.line($0)) } }
      for token in try history.issuedRefreshTokens where isWanted(token.manifest) {
        try put(Self.line(token))
      }
      for run in try history.runs().reversed() where run.rounds.contains(where: { isWanted($0.manifest) }) {
        try put(Self.line(run))
      }
    }
    return faults.map(\.description)
  }

  private func put(_ line: JSONLine) throws { try write(line.ended + "\n") }

  private static func line(_ node: NodeRow, session: String) -> JSONLine {
    var line = JSONLine()
    line.add("record", "node")
    line.add("session", session)
    line.add("node", node.id)
    line.add("manifest", node.manifest)
    line.add("name", node.name)
    line.add("kind", Node.Kind(node.kind).rawValue)
    line.add("origin", node.origin)
    line.add("round", node.round)
    if !node.kind.hasItems {
      line.add("state", ReportState(node.state).rawValue)
      line.add("intent", isSet: node.hasIntent)
    }
    line.add("closed_at", node.closedAt)
    line.add("fetched_at", node.fetch?.fetchedAt)
    line.add("failed_at", node.failedAt)
    line.add("failing_since", node.failing?.since)
    line.add("failing_round", node.failing?.round)
    line.add("etag", node.fetch?.etag)
    line.add("last_modified", node.fetch?.lastModified)
    line.add("stored_file", node.fetch?.file?.description)
    line.add("stored_from", node.fetch?.source)
    line.add("fresh_until", node.fetch?.freshUntil)
    line.add("fetch_interval_nanoseconds", node.fetch?.interval?.nanoseconds)
    line.add("captures", open(node.captures))
    line.add(node.failure)
    return line
  }

  private static func line(
    _ item: borrowing ItemRow, of node: NodeRow, session: String
  ) throws(JournalError) -> JSONLine {
    var line = JSONLine()
    line.add("record", "item")
    line.add("session", session)
    line.add("node", node.id)
    line.add("manifest", node.manifest)
    line.add("upload", node.name)
    line.add("item", item.id)
    let path = item.path
    line.add("path", String(decoding: path, as: UTF8.self))
    line.add("path_base64", DisplayPath.base64(path))
    line.add("round", item.round)
    line.add("state", try ReportState(item.state).rawValue)
    line.add("intent", try item.intent?.word)
    line.add("size_bytes", item.size)
    switch PlannedFile.Version(item.modified, of: Node.Kind(node.kind)) {
    case .modified(let time): line.add("modified_nanoseconds", time)
    case .listed(let number): line.add("version", PlannedFilesText.hexadecimal(number))
    }
    line.add("handed_over_at", item.handedOver)
    line.add("expires_at", item.expires)
    line.add("closed_at", item.closedAt)
    line.add("sha256", item.sha256.map { Hexadecimal.text($0) })
    line.add("captures", open(try item.captures))
    let key = try item.commitKey
    line.add("idempotency_header", key?.header)
    line.add("idempotency_key", key?.value)
    line.add(item.failure)
    return line
  }

  private static func line(_ orphan: OrphanRow, session: String) -> JSONLine {
    var line = JSONLine()
    line.add("record", "orphan")
    line.add("session", session)
    line.add("node", orphan.node)
    line.add("orphan", orphan.id)
    line.add("path", String(decoding: orphan.path, as: UTF8.self))
    line.add("path_base64", DisplayPath.base64(orphan.path))
    line.add("reason", orphan.orphaning.reason.word)
    if orphan.orphaning.isInDoubt { line.add("in_doubt", isSet: true) }
    line.add("size_bytes", orphan.size)
    line.add("modified_nanoseconds", orphan.modified)
    line.add("handed_over_at", orphan.handedOver)
    line.add("expires_at", orphan.expires)
    line.add("dropped_at", orphan.droppedAt)
    line.add("tried_at", orphan.triedAt)
    line.add("sha256", orphan.sha256.map { Hexadecimal.text($0) })
    line.add("captures", open(orphan.captures))
    line.add(orphan.failure)
    return line
  }

  private static func line(_ round: RoundRow) -> JSONLine {
    var line = JSONLine()
    line.add("record", "round")
    line.add("manifest", round.manifest)
    line.add("round", round.number)
    line.add("opened_at", round.openedAt)
    line.add("closed_at", round.closedAt)
    return line
  }

  private static func line(_ token: IssuedRefreshToken) -> JSONLine {
    var line = JSONLine()
    line.add("record", "refresh_token")
    line.add("manifest", token.manifest)
    line.add("token", token.token)
    line.add("chain", token.chain)
    line.add("issued_at", token.issuedAt)
    return line
  }

  private static func line(_ run: RunRow) -> JSONLine {
    var line = JSONLine()
    line.add("record", "run")
    line.add("run", run.id)
    line.add("launch", run.launch.rawValue)
    line.add("state", run.state.word)
    line.add("pid", Int64(run.process.pid))
    line.add("started_at", run.startedAt)
    line.add("ended_at", run.endedAt)
    line.add("exit_code", run.exitCode.map { Int64($0) })
    line.add("report", run.report)
    line.add(
      "rounds",
      run.rounds.map { round in
        var line = JSONLine()
        line.add("manifest", round.manifest)
        line.add("round", round.number)
        return line
      })
    return line
  }

  private static func open(_ captures: [CapturedValue]) -> [(name: String, value: String)] {
    captures.filter { !$0.isSecret }.map { ($0.name, $0.shown) }
  }
}

extension JSONLine {
  fileprivate mutating func add(_ failure: RecordedFailure?) {
    guard let failure else { return }
    var line = JSONLine()
    line.add("code", failure.code.rawValue)
    line.add("status", failure.status.map { Int64($0) })
    line.add("message", failure.message)
    add("failure", line)
  }
}

extension ItemStep {
  fileprivate var word: String {
    switch self {
    case .allocate: "allocate"
    case .transfer: "transfer"
    case .commit: "commit"
    case .commitAgain: "commit_again"
    case .commitDeferred: "commit_deferred"
    }
  }
}

extension RunRow.State {
  fileprivate var word: String {
    switch self {
    case .running: "running"
    case .ended: "ended"
    case .interrupted: "interrupted"
    }
  }
}
