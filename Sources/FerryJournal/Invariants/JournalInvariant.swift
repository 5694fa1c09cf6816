import GRDB

/// A rule that every row of a table must satisfy, expressed as a condition that is true for rows that violate it.
struct JournalInvariant {
  var code: JournalFinding.Code
  /// An SQL condition that is true for a row that violates the rule.
  var broken: String
  /// Describes such rows, for example "have an intent that …".
  var words: String
  var lost: String
  var remedy: String
  /// The value of `JournalFinding.stopsRun`.
  var stopsRun: Bool

  init(
    _ code: JournalFinding.Code, _ broken: String, _ words: String, lost: String, remedy: String,
    stopsRun: Bool = true
  ) {
    self.stopsRun = stopsRun
    self.code = code
    self.broken = broken
    self.words = words
    self.lost = lost
    self.remedy = remedy
  }

  /// Checks all rules while reading the table once.
  ///
  /// - Parameters:
  ///   - lines: the plural noun for the table's rows, for messages.
  ///   - key: a column or an expression that identifies the row.
  static func findings(
    _ rules: [JournalInvariant], of table: String, lines: String, key: String, _ db: Database
  ) throws -> [JournalFinding] {
    let columns = rules.map {
      "count(*) FILTER (WHERE \($0.broken)), CAST(min(\(key)) FILTER (WHERE \($0.broken)) AS TEXT)"
    }
    let sql = "SELECT \(columns.joined(separator: ",\n")) FROM \(table)"
    guard let row = try Row.fetchOne(db, sql: sql) else { return [] }
    return rules.enumerated().compactMap { index, rule in
      let count: Int64 = row[2 * index]
      let first: String? = row[2 * index + 1]
      guard count > 0 else { return nil }
      return JournalFinding(
        rule.code, "\(count) of its \(lines) \(rule.words) (the first: \(first ?? "?"))", lost: rule.lost,
        remedy: rule.remedy, stopsRun: rule.stopsRun)
    }
  }
}
