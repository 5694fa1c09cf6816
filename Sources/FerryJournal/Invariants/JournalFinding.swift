/// A problem that a check found in a journal.
package struct JournalFinding: Hashable, Codable, Sendable {
  /// Stable codes, which are a public interface. The text of a finding may change.
  package enum Code: String, Hashable, Codable, Sendable, CaseIterable {
    /// The file cannot be opened, for the reason in `JournalError`.
    case refused = "refused"
    /// Pages of the file have invalid content.
    case damagedPages = "damaged_pages"
    /// An index does not match its table.
    case indexDiffers = "index_differs"
    /// A row refers to a row that does not exist.
    case brokenReference = "broken_reference"
    /// The tables or columns differ from the file's schema version.
    case schemaDiffers = "schema_differs"
    /// The file, or its log, belongs to another user.
    case wrongOwner = "wrong_owner"
    /// Other users can read or write the file.
    case openToOthers = "open_to_others"
    /// A log exists without its file.
    case logWithoutFile = "log_without_file"
    /// A file has a length of 0.
    case emptied = "emptied"
    /// A session's journal has disappeared.
    case journalMissing = "journal_missing"
    /// A session's journal lacks transactions that were recorded.
    case commitsLost = "commits_lost"
    /// The record of a journal's transactions cannot be read.
    case recordDamaged = "commit_record_damaged"
    /// A value that no version of ferry writes.
    case unknownValue = "unknown_value"
    /// An intent in a state that cannot have one.
    case intentNotAllowed = "intent_not_allowed"
    /// Captures, or their expiry time, in a state that cannot have them.
    case capturesNotAllowed = "captures_not_allowed"
    /// Captures or variables in a format that ferry does not write.
    case unreadableText = "unreadable_text"
    /// An upload ID is to be released but is in use.
    case orphanInUse = "orphan_in_use"
    /// The closing time contradicts the state.
    case closingDiffers = "closing_differs"
    /// A failure without a reason.
    case reasonMissing = "reason_missing"
    /// A round that was never opened.
    case unknownRound = "unknown_round"
    /// An open round whose manifest's path is not recorded.
    case jobMissing = "job_missing"
    /// Impossible sums in the ledger.
    case ledgerWrong = "ledger_wrong"
    /// A note that cannot be executed.
    case noteWrong = "note_wrong"
  }

  package var code: Code
  /// The problem.
  package var message: String
  /// What is lost, or no longer works, because of the problem.
  package var effect: String
  /// A remedy for the user.
  package var remedy: String
  /// Whether runs are rejected until the problem is resolved. If false, a run does no further harm or repairs the file.
  package var stopsRun: Bool

  init(_ code: Code, _ message: String, effect: String, remedy: String, stopsRun: Bool = true) {
    self.stopsRun = stopsRun
    self.code = code
    self.message = message
    self.effect = effect
    self.remedy = remedy
  }
}

/// The result of checking one file.
package struct JournalVerdict: Hashable, Sendable {
  package var file: String
  /// The session's identifier; `nil` for `ferry.db`.
  package var session: String?
  /// The schema version; `nil` if the file cannot be read.
  package var schema: Int?
  /// The number of rows in each table that was read.
  package var rows: [String: Int64] = [:]
  package var findings: [JournalFinding] = []
}
