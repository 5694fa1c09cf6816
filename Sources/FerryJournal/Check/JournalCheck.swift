import FerryPlan
import Foundation
import GRDB

/// Verifies journals without changing them, even while another process writes to them.
package struct JournalCheck: Sendable {
  let state: StateDirectory
  /// The last round of each manifest according to `ferry.db`; `nil` if `ferry.db` cannot be read.
  private var rounds: [String: Int64]?

  package init(state: StateDirectory) {
    self.state = state
  }

  /// Checks the sessions, then `ferry.db`, which records their rounds.
  ///
  /// - Parameter report: called with each file's verdict.
  package static func run(
    sessions: [String], in state: StateDirectory, report: (JournalVerdict) throws -> Void
  ) throws {
    var check = JournalCheck(state: state)
    // A run opens a round before it writes data that refers to it. The sessions are read first, so that
    // `ferry.db` contains every round found in them.
    var used: [(verdict: JournalVerdict, rounds: [String: Int64])] = []
    for session in sessions {
      var rounds: [String: Int64] = [:]
      let verdict = try check.session(session, rounds: &rounds)
      used.append((verdict, rounds))
    }
    let history = check.history()
    for (verdict, rounds) in used {
      var verdict = verdict
      if let finding = check.unknownRounds(rounds) { verdict.findings.append(finding) }
      try report(verdict)
    }
    if let history { try report(history) }
  }

  /// Checks the journal of one session.
  ///
  /// - Parameter rounds: receives the last round of each manifest in the session's nodes and items.
  func session(_ identifier: String, rounds: inout [String: Int64]) throws(JournalError) -> JournalVerdict {
    let path = try state.database(ofSession: identifier)
    let record = try state.commits(ofSession: identifier)
    // The commit record is read before the journal. The journal is therefore never older than the record, even while a
    // process writes to it.
    let stored = try StoredCommits.read(record)
    var last: [String: Int64] = [:]
    var found: Int64 = 0
    var verdict = check(DatabaseFile(path: path, schema: .session)) { db in
      last = try SessionInvariants.rounds(db, in: path)
      found = try SessionJournal.transactions(db)
      return try SessionInvariants.findings(db, in: path)
        + Self.lost(SessionJournal.loss(in: path, stored.counts, found: found))
    }
    if try state.presence(ofSession: identifier) == .missing {
      verdict.findings += Self.lost(
        try SessionJournal.loss(of: identifier, in: state, stored.counts, known: []), .journalMissing)
    }
    if stored == .damaged { verdict.findings.append(Self.damagedRecord(record)) }
    rounds = last
    verdict.session = identifier
    return verdict
  }

  private static func lost(
    _ loss: JournalError?, _ code: JournalFinding.Code = .commitsLost
  ) -> [JournalFinding] {
    guard let loss else { return [] }
    return [
      JournalFinding(
        code, "\(loss.headline): \(loss.cause)",
        effect: "the deliveries and the intents to commit that these transactions recorded are lost",
        remedy: loss.remedy)
    ]
  }

  private static func damagedRecord(_ path: String) -> JournalFinding {
    JournalFinding(
      .recordDamaged, "the record of its transactions, \(path), is damaged",
      effect: "ferry cannot detect lost transactions; the journal itself may be complete",
      remedy: "no action is needed: the next run writes the record again, from the journal")
  }

  /// Checks `ferry.db`; returns `nil` if there is none yet.
  mutating func history() -> JournalVerdict? {
    let file = DatabaseFile(path: state.history, schema: .history)
    guard Self.exists(file.path) || Self.exists(file.path + "-wal") else {
      rounds = [:]
      return nil
    }
    var rounds: [String: Int64]?
    let verdict = check(file) { db in
      rounds = try HistoryInvariants.rounds(db, in: file.path)
      return try HistoryInvariants.findings(db, in: file.path) + missingJournals(db)
    }
    self.rounds = rounds ?? (verdict.findings.contains { $0.code == .emptied } ? [:] : nil)
    return verdict
  }

  /// Reports sessions whose journal has disappeared. A session whose journal was removed by a force quit is
  /// no longer registered.
  private func missingJournals(_ db: Database) throws -> [JournalFinding] {
    let known = try RunHistory.registeredJournals(db, locked: Set(state.lockedSessions()))
    let missing = try known.subtracting(state.sessions()).sorted()
    guard let first = missing.first else { return [] }
    let more =
      missing.count > 1
      ? "; the journals of \(missing.dropFirst().joined(separator: ", ")) are also missing" : ""
    return [
      JournalFinding(
        .journalMissing,
        "it records a journal for session '\(first)', but "
          + "\(try state.database(ofSession: first)) is missing\(more)",
        effect: "the session's record of delivered files and its remaining work are lost",
        remedy:
          "restore the file, with its -wal file if there is one; without a copy, accept the loss: "
          + state.command(["journal", "accept-loss", first])
          + "; until then, no run starts; after that, the next run sends all files again")
    ]
  }

  private func unknownRounds(_ used: [String: Int64]) -> JournalFinding? {
    guard let rounds else { return nil }
    let wrong = used.filter { $0.value > rounds[$0.key] ?? 0 }.sorted { $0.key < $1.key }
    guard let first = wrong.first else { return nil }
    let known =
      rounds[first.key].map { "the last round in ferry.db is \($0)" }
      ?? "ferry.db does not contain any rounds of this manifest"
    return JournalFinding(
      .unknownRound,
      "it has rows of round \(first.value) of manifest '\(first.key)', but \(known)"
        + (wrong.count > 1 ? "; \(wrong.count - 1) more manifests are affected" : ""),
      effect:
        "ferry.db is older than the journal, or belongs to another state folder: the open round and the history of later runs are lost",
      remedy:
        "restore the matching ferry.db; without it, the next run opens a later round: it retries "
        + "failed items, starts open items over, and sends delivered files again only under "
        + "deliver: every_run")
  }

  /// Opens and checks the file. Repeats the check if writes by another process may have affected the result.
  private func check(
    _ file: DatabaseFile, _ invariants: (Database) throws -> [JournalFinding]
  ) -> JournalVerdict {
    var verdict = JournalVerdict(file: file.path)
    for _ in 1...3 {
      let before = Self.fingerprint(file.path)
      verdict = look(file, invariants)
      if verdict.findings.isEmpty || Self.fingerprint(file.path) == before { break }
    }
    verdict.findings += permissions(file.path)
    return verdict
  }

  private func look(
    _ file: DatabaseFile, _ invariants: (Database) throws -> [JournalFinding]
  ) -> JournalVerdict {
    var verdict = JournalVerdict(file: file.path)
    do {
      guard let snapshot = try DatabaseSnapshot.open(file) else {
        if let finding = Self.missing(file.path) { verdict.findings.append(finding) }
        return verdict
      }
      try withExtendedLifetime(snapshot) {
        try snapshot.queue.read { db in
          verdict.schema = try Int.fetchOne(db, sql: "PRAGMA user_version")
          verdict.findings = DatabaseIntegrity.findings(db, file)
          do {
            verdict.rows = try DatabaseIntegrity.rows(db)
            verdict.findings += try invariants(db)
          } catch  where verdict.findings.isEmpty {
            throw error
          } catch {
            // The damage has already been reported, and the remaining checks are impossible.
          }
        }
      }
    } catch {
      verdict.findings.append(Self.refused(JournalError(error, file: file.path), file))
    }
    return verdict
  }

  private static func refused(_ error: JournalError, _ file: DatabaseFile) -> JournalFinding {
    let isDamage = error.code == .damaged || error.code == .inconsistent
    // A journal with a destroyed header looks like another program's file.
    let isLost = isDamage || error.code == .foreign
    return JournalFinding(
      isDamage ? .damagedPages : .refused, "\(error.headline): \(error.cause)",
      effect: isLost
        ? "the contents of the file are lost; files whose delivery is recorded only there would be sent again"
        : "no information is lost if the file can be opened later",
      remedy: isDamage ? DatabaseIntegrity.remedy(file) : error.remedy)
  }

  private static func missing(_ path: String) -> JournalFinding? {
    guard exists(path + "-wal") else {
      guard exists(path) else { return nil }
      return JournalFinding(
        .emptied, "it is empty and does not have a log",
        effect: "its contents are lost, unless ferry was killed while it created the file",
        remedy:
          "restore a copy; without one, accept the loss of a session's journal with 'ferry journal accept-loss', "
          + "or remove an empty ferry.db: the next run creates the file again")
    }
    return JournalFinding(
      .logWithoutFile, "its log \(path)-wal exists, but the file itself is missing or empty",
      effect: "the contents of the file are lost; the next run would start over and discard the log",
      remedy: "restore the file next to its log before the next run")
  }

  private func permissions(_ path: String) -> [JournalFinding] {
    var findings: [JournalFinding] = []
    for suffix in ["", "-wal"] {
      var status = stat()
      guard stat(path + suffix, &status) == 0 else { continue }
      if status.st_uid != geteuid() {
        findings.append(
          JournalFinding(
            .wrongOwner,
            "\(path + suffix) belongs to user \(status.st_uid), not to user \(geteuid())",
            effect: "no information is lost, but ferry does not run as this user",
            remedy: "run ferry as the user who owns the file, or change the owner with chown"))
      }
      if status.st_mode & 0o077 != 0 {
        findings.append(
          JournalFinding(
            .openToOthers,
            "\(path + suffix) has mode 0\(String(status.st_mode & 0o777, radix: 8)): other users can access it",
            effect: "no information is lost, but other users may have read secret captures in the file",
            remedy: "chmod 600 \(path + suffix), or let the next run correct the mode"))
      }
    }
    return findings
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
  }

  /// A value that changes whenever the file or its log is written.
  private static func fingerprint(_ path: String) -> [Int64] {
    ["", "-wal"].flatMap { suffix -> [Int64] in
      var status = stat()
      guard stat(path + suffix, &status) == 0 else { return [0] }
      return [
        Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        Int64(status.st_ino),
      ]
    }
  }
}
