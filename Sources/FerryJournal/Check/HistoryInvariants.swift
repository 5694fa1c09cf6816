import FerryPlan
import Foundation
import GRDB

/// ferry's own rules of `ferry.db` (docs/journal.md).
enum HistoryInvariants {
  static func findings(_ db: Database) throws -> [JournalFinding] {
    try JournalInvariant.findings(runs, of: "run", lines: "runs", key: "id", db)
      + JournalInvariant.findings(runRounds, of: "run_round", lines: "runs' rounds", key: "manifest", db)
      + JournalInvariant.findings(rounds, of: "round", lines: "rounds", key: "manifest", db)
      + variables(db) + ledger(db)
      + JournalInvariant.findings(notes, of: "note", lines: "notes", key: "id", db)
  }

  /// The last round of each manifest.
  static func rounds(_ db: Database) throws -> [String: Int64] {
    let rows = try Row.fetchAll(db, sql: "SELECT manifest, max(number) FROM round GROUP BY manifest")
    return Dictionary(rows.map { ($0[0] as String, $0[1] as Int64) }, uniquingKeysWith: max)
  }

  private static func list(_ words: [String]) -> String {
    "(" + words.map { "'\($0)'" }.joined(separator: ", ") + ")"
  }

  private static let edited = "this was not written by ferry: keep a copy, and put an older one back"

  private static let runs = [
    JournalInvariant(
      .unknownValue,
      "state NOT IN (1, 2, 3) OR launch NOT IN \(list(LaunchKind.allCases.map(\.rawValue)))",
      "have a state or launch that no ferry writes", lost: "how they ended", remedy: edited),
    JournalInvariant(
      .closingDiffers,
      "(ended_at IS NULL) <> (state = 1) OR (state = 2 AND exit_code IS NULL) OR (state = 1 AND exit_code IS NOT NULL)",
      "have ended without saying when and how, or say so and go on", lost: "how they ended",
      remedy: "nothing: no later run depends on it"),
  ]

  private static let runRounds = [
    JournalInvariant(
      .unknownRound,
      """
      NOT EXISTS (SELECT 1 FROM round WHERE round.manifest = run_round.manifest
        AND round.number = run_round.round)
      """,
      "are rounds that were never opened", lost: "when these rounds were opened and closed", remedy: edited)
  ]

  private static let rounds = [
    JournalInvariant(
      .unknownValue, "number < 1", "have a number below 1", lost: "nothing", remedy: edited),
    JournalInvariant(
      .jobMissing, "closed_at IS NULL AND manifest NOT IN (SELECT manifest FROM job)",
      "are open, and where their manifests lie is not known", lost: "what ferry resume would go on with",
      remedy: "ferry run the manifest once more: it goes on with the round"),
  ]

  private static let notes = [
    JournalInvariant(
      .noteWrong,
      """
      kind NOT IN \(list(Note.Kind.allCases.map(\.rawValue)))
        OR (kind = 'submit' AND (manifest IS NULL OR node IS NULL))
      """,
      "ask for what no ferry can do", lost: "what was asked for",
      remedy: "ferry reset the session, which drops its notes, and ask again")
  ]

  private static func variables(_ db: Database) throws -> [JournalFinding] {
    let rows = try Row.fetchAll(db, sql: "SELECT manifest, variables FROM job ORDER BY manifest")
    let wrong = rows.filter { row in
      let text: String = row[1]
      // What cannot be read is what is looked for.
      return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) == nil
    }
    guard let first = wrong.first else { return [] }
    let name: String = first[0]
    return [
      JournalFinding(
        .unreadableText,
        "\(wrong.count) of its jobs have variables that are no JSON object (the first: \(name))",
        lost: "what --var gave: ferry resume and status end with a fault",
        remedy: "ferry run the manifest once more with its --var, which writes them anew")
    ]
  }

  /// Sums that are not possible: a negative one, one beyond 64 bits, one of a network that is none.
  private static func ledger(_ db: Database) throws -> [JournalFinding] {
    var parts: [String] = []
    for (table, words) in [("usage", "usage"), ("lease", "leases")] {
      let rows = try Row.fetchAll(
        db,
        sql: """
          SELECT network, min(bytes), total(bytes), count(*) FILTER (WHERE quarter < 0 OR quarter > 10000000)
          FROM \(table) GROUP BY network
          """)
      for row in rows {
        let network: String = row[0]
        let least: Int64 = row[1]
        let total: Double = row[2]
        let strange: Int64 = row[3]
        if DeviceConditions.Network(rawValue: network) == nil {
          parts.append("\(words) of a network \"\(network)\"")
        }
        if least < 0 { parts.append("\(words) of \(network) below 0") }
        if total >= 0x1p63 { parts.append("\(words) of \(network) whose sum no network carries") }
        if strange > 0 { parts.append("\(words) of \(network) at \(strange) moments that cannot be") }
      }
    }
    guard !parts.isEmpty else { return [] }
    return [
      JournalFinding(
        .ledgerWrong, "its ledger has \(parts.joined(separator: ", "))",
        lost: "how much of a budget is used: too much or too little counts until the window ends",
        remedy: "put an older copy back, or wait for the budget's next window")
    ]
  }
}
