import GRDB

/// A rule that every line of a table keeps, as the condition that breaks it.
struct JournalInvariant {
  var code: JournalFinding.Code
  /// SQL, true of a line that breaks the rule.
  var broken: String
  /// What such lines have or are: "have an intent that …".
  var words: String
  var lost: String
  var remedy: String
  /// `JournalFinding.stopsRun`.
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

  /// Reads the table once for all rules.
  ///
  /// - Parameters:
  ///   - lines: what a line is called, in the plural.
  ///   - key: a column, or an expression, that tells which line it is.
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
