import FerryPlan

extension SessionJournal {
  /// Records why the root of an upload cannot be listed, so that its queued files are not sent; `nil` removes the
  /// reason. The change is synced when this method returns. No run writes to the journal.
  package func record(rootFailure failure: RecordedFailure?, node: Int64) throws(JournalError) {
    try transaction { db in
      try db.execute(
        sql: """
          UPDATE node SET failure_code = ?, failure_status = NULL, failure_message = ?
          WHERE id = ? AND \(NodeRow.Kind.ofItems)
          """,
        arguments: [failure?.code.rawValue, failure?.message, node])
    }
  }
}
