/// Something that a check of a journal found to be wrong.
package struct JournalFinding: Hashable, Codable, Sendable {
  /// Stable codes: they are an interface; the prose beside them may change.
  package enum Code: String, Hashable, Codable, Sendable, CaseIterable {
    /// The file cannot be opened, as `JournalError` says.
    case refused = "refused"
    /// Pages of the file do not hold what they should.
    case damagedPages = "damaged_pages"
    /// An index and its table differ.
    case indexDiffers = "index_differs"
    /// A line refers to one that is not there.
    case brokenReference = "broken_reference"
    /// Tables or columns are not those of the schema that the file says it has.
    case schemaDiffers = "schema_differs"
    /// The file, or its log, belongs to another user.
    case wrongOwner = "wrong_owner"
    /// Others may read or write it.
    case openToOthers = "open_to_others"
    /// A log without the file that it belongs to.
    case logWithoutFile = "log_without_file"
    /// A file without a byte.
    case emptied = "emptied"
    /// A session's journal that is not there any more.
    case journalMissing = "journal_missing"
    /// A session's journal that lacks transactions that were recorded.
    case commitsLost = "commits_lost"
    /// The record of a journal's transactions that cannot be read.
    case recordDamaged = "commit_record_damaged"
    /// A value that no ferry writes.
    case unknownValue = "unknown_value"
    /// An intent in a state that has none.
    case intentNotAllowed = "intent_not_allowed"
    /// Captures, or when they expire, in a state that has none.
    case capturesNotAllowed = "captures_not_allowed"
    /// Captures or variables that are not what ferry writes.
    case unreadableText = "unreadable_text"
    /// An upload ID that is to be released and is in use.
    case orphanInUse = "orphan_in_use"
    /// When it was closed does not fit whether it is.
    case closingDiffers = "closing_differs"
    /// A failure without a reason.
    case reasonMissing = "reason_missing"
    /// A round that was never opened.
    case unknownRound = "unknown_round"
    /// An open round whose manifest's place is not known.
    case jobMissing = "job_missing"
    /// Sums of the ledger that are not possible.
    case ledgerWrong = "ledger_wrong"
    /// A note that nobody can carry out.
    case noteWrong = "note_wrong"
  }

  package var code: Code
  /// What is wrong.
  package var message: String
  /// What cannot be known any more because of it.
  package var lost: String
  /// What a person does about it.
  package var remedy: String
  /// Whether no run begins before it is settled; otherwise a run does no harm, or sets it right.
  package var stopsRun: Bool

  init(_ code: Code, _ message: String, lost: String, remedy: String, stopsRun: Bool = true) {
    self.stopsRun = stopsRun
    self.code = code
    self.message = message
    self.lost = lost
    self.remedy = remedy
  }
}

/// What a check found in one file.
package struct JournalVerdict: Hashable, Sendable {
  package var file: String
  /// The session's identifier; `nil` for `ferry.db`.
  package var session: String?
  /// `nil` where the file cannot be read.
  package var schema: Int?
  /// Lines of each table that was read.
  package var rows: [String: Int64] = [:]
  package var findings: [JournalFinding] = []
}
