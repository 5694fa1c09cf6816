import FerryPlan
import Foundation
import GRDB

/// ferry's own invariants for `ferry.db` (docs/journal.md).
enum HistoryInvariants {
  static func findings(_ db: Database, in file: String) throws -> [JournalFinding] {
    try JournalInvariant.findings(runs, in: .runs, db)
      + JournalInvariant.findings(
        runRounds, in: .runRounds, db)
      + JournalInvariant.findings(rounds, in: .rounds, db)
      + variables(db, in: file) + ledger(db, in: file)
      + JournalInvariant.findings(notes, in: .notes, db)
      + JournalInvariant.findings(refreshTokens, in: .refreshTokens, db)
  }

  /// The last round of each manifest.
  static func rounds(_ db: Database, in file: String) throws -> [String: Int64] {
    let rows = try db.rows(
      "SELECT manifest, max(number) AS number FROM round GROUP BY manifest", of: "round", in: file
    ) { (try $0.value("manifest", as: String.self), try $0.value("number", as: Int64.self)) }
    return Dictionary(rows, uniquingKeysWith: max)
  }

  private static func list(_ words: [String]) -> String {
    "(" + words.map { "'\($0)'" }.joined(separator: ", ") + ")"
  }

  private static let restore =
    "no version of ferry writes this value: keep a copy of the file, and restore an older one"

  private static let runs = [
    JournalInvariant(
      .unknownValue,
      "state NOT IN (1, 2, 3) OR launch NOT IN \(list(LaunchKind.allCases.map(\.rawValue)))",
      "with an unknown state or launch", effect: "the outcome of these runs is unknown", remedy: restore),
    JournalInvariant(
      .closingDiffers,
      "(ended_at IS NULL) <> (state = 1) OR (state = 2 AND exit_code IS NULL) OR (state = 1 AND exit_code IS NOT NULL)",
      "that ended without a time and exit code, or have them without having ended",
      effect: "the outcome of these runs is unknown",
      remedy: "no action is needed: later runs do not depend on it"),
  ]

  private static let runRounds = [
    JournalInvariant(
      .unknownRound,
      """
      NOT EXISTS (SELECT 1 FROM round WHERE round.manifest = run_round.manifest
        AND round.number = run_round.round)
      """,
      "used by a run, but never opened",
      effect: "the times at which these rounds were opened and closed are unknown", remedy: restore)
  ]

  private static let rounds = [
    JournalInvariant(
      .unknownValue, "number < 1", "with a number below 1", effect: "no information is lost", remedy: restore),
    JournalInvariant(
      .jobMissing, "closed_at IS NULL AND manifest NOT IN (SELECT manifest FROM job)",
      "that are open, but whose manifest has no recorded path",
      effect: "'ferry resume' cannot find the manifest",
      remedy: "resume the round with 'ferry run' and the path of the manifest"),
  ]

  private static let notes = [
    JournalInvariant(
      .noteWrong,
      """
      kind NOT IN \(list(Note.Kind.allCases.map(\.rawValue)))
        OR (kind = 'submit' AND (manifest IS NULL OR node IS NULL))
      """,
      "with an unknown kind, or without an upload",
      effect: "the commands that wrote these notes have no effect",
      remedy: "drop the session's notes with 'ferry reset', and repeat these commands")
  ]

  private static let refreshTokens = [
    JournalInvariant(
      .unknownValue,
      "value = '' OR manifest = '' OR token = '' OR chain = ''",
      "without a value, a name or a digest",
      effect: "the next request for these access tokens sends no valid refresh token",
      remedy: "authorize the client again, and replace the refresh token in the manifest's secret")
  ]

  private static func variables(_ db: Database, in file: String) throws -> [JournalFinding] {
    let rows = try db.rows("SELECT manifest, variables FROM job ORDER BY manifest", of: "job", in: file) {
      row in
      (name: try row.value("manifest", as: String.self), text: try row.value("variables", as: String.self))
    }
    let wrong = rows.filter { row in
      // A string that cannot be decoded violates this rule.
      (try? JSONDecoder().decode([String: String].self, from: Data(row.text.utf8))) == nil
    }
    guard let name = wrong.first?.name else { return [] }
    return [
      JournalFinding(
        .unreadableText,
        wrong.count == 1
          ? "the variables of 1 job are not a JSON object (\(name))"
          : "the variables of \(wrong.count) jobs are not JSON objects (the first job is \(name))",
        effect: "the values of --var are unknown, and 'ferry resume' and 'ferry status' fail",
        remedy: "run the manifest again with its --var options, which records the values again")
    ]
  }

  /// Finds impossible rows of the ledger: a negative number of bytes, a sum beyond 64 bits, an unknown
  /// network, or an impossible time.
  private static func ledger(_ db: Database, in file: String) throws -> [JournalFinding] {
    var parts: [String] = []
    for (table, words) in [("usage", "usage"), ("lease", "leases")] {
      let rows = try db.rows(
        """
        SELECT network, min(bytes) AS least, total(bytes) >= 9223372036854775808.0 AS is_beyond,
          count(*) FILTER (WHERE quarter < -10300000 OR quarter > 10300000) AS strange
        FROM \(table) GROUP BY network
        """, of: table, in: file
      ) { row in
        (
          network: try row.value("network", as: String.self), least: try row.value("least", as: Int64.self),
          isBeyond: try row.value("is_beyond", as: Bool.self),
          strange: try row.value("strange", as: Int64.self)
        )
      }
      for (network, least, isBeyond, strange) in rows {
        if DeviceConditions.Network(rawValue: network) == nil {
          parts.append("\(words) for an unknown network \"\(network)\"")
        }
        if least < 0 { parts.append("negative \(words) for \(network)") }
        if isBeyond { parts.append("an impossibly large sum of \(words) for \(network)") }
        if strange > 0 { parts.append("\(words) for \(network) at impossible times (\(strange))") }
      }
    }
    guard !parts.isEmpty else { return [] }
    return [
      JournalFinding(
        .ledgerWrong, "its ledger has \(parts.joined(separator: ", "))",
        effect: "the used part of each budget is unknown until the end of its current window",
        remedy: "restore an older copy of the file, or wait for the budget's next window")
    ]
  }
}
