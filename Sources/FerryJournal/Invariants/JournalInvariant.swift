import GRDB

/// A rule that every row of a table must satisfy, expressed as a condition that is true for rows that violate it.
struct JournalInvariant {
  var code: JournalFinding.Code
  /// An SQL condition that is true for a row that violates the rule.
  var broken: String
  /// The text after the noun in a message about rows that violate the rule, for example "with an unknown
  /// state".
  var description: String
  var effect: String
  var remedy: String
  /// The value of `JournalFinding.stopsRun`.
  var stopsRun: Bool

  init(
    _ code: JournalFinding.Code, _ broken: String, _ description: String, effect: String, remedy: String,
    stopsRun: Bool = true
  ) {
    self.stopsRun = stopsRun
    self.code = code
    self.broken = broken
    self.description = description
    self.effect = effect
    self.remedy = remedy
  }

  /// The words with which messages describe the rows of a table.
  struct Rows {
    var table: String
    /// The noun for one row; the plural adds an s.
    var noun: String
    /// A column that identifies a row.
    var key: String
    /// The noun for the key.
    var keyNoun: String

    static let nodes = Rows(table: "node", noun: "node", key: "name", keyNoun: "node")
    static let items = Rows(table: "item", noun: "item", key: "id", keyNoun: "item")
    static let orphans = Rows(table: "orphan", noun: "orphan", key: "id", keyNoun: "orphan")
    static let sessions = Rows(table: "session", noun: "session", key: "id", keyNoun: "session")
    static let runs = Rows(table: "run", noun: "run", key: "id", keyNoun: "run")
    static let runRounds = Rows(table: "run_round", noun: "round", key: "manifest", keyNoun: "manifest")
    static let rounds = Rows(table: "round", noun: "round", key: "manifest", keyNoun: "manifest")
    static let refreshTokens = Rows(
      table: "refresh_token", noun: "refresh token", key: "manifest || '.' || token", keyNoun: "token")
    static let notes = Rows(table: "note", noun: "note", key: "id", keyNoun: "note")

    /// A message such as "2 items with an unknown state (first: item 7)".
    func message(_ count: Int64, _ description: String, first: String) -> String {
      count == 1
        ? "1 \(noun) \(description) (\(keyNoun) \(first))"
        : "\(count) \(noun)s \(description) (first: \(keyNoun) \(first))"
    }
  }

  /// Checks all rules while reading the table once.
  static func findings(_ rules: [JournalInvariant], in rows: Rows, _ db: Database) throws -> [JournalFinding]
  {
    let columns = rules.map {
      "count(*) FILTER (WHERE \($0.broken)), CAST(min(\(rows.key)) FILTER (WHERE \($0.broken)) AS TEXT)"
    }
    let sql = "SELECT \(columns.joined(separator: ",\n")) FROM \(rows.table)"
    guard let row = try Row.fetchOne(db, sql: sql) else { return [] }
    return rules.enumerated().compactMap { index, rule in
      let count: Int64 = row[2 * index]
      let first: String? = row[2 * index + 1]
      guard count > 0 else { return nil }
      return JournalFinding(
        rule.code, rows.message(count, rule.description, first: first ?? "NULL"), effect: rule.effect,
        remedy: rule.remedy, stopsRun: rule.stopsRun)
    }
  }
}
