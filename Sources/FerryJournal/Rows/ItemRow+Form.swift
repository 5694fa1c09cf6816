import FerryPlan
import GRDBSQLite

/// Checks that a row has a form that ferry writes. SQLite does not detect a changed bit in a page.
extension ItemRow {
  /// Throws an error if the row's state, intent, captures and times contradict each other.
  ///
  /// A run calls this for each row that it loads. It checks the types of five columns without decoding them.
  func checkForm() throws(JournalError) {
    let state = try state
    switch state {
    case .done:
      guard isNull(.expires) else { throw damaged("an upload ID's expiry in the state \(state.rawValue)") }
    case .queued, .failed, .cancelled:
      guard isNull(.captures), isNull(.secretCaptures), isNull(.expires) else {
        throw damaged("captures in the state \(state.rawValue)")
      }
    case .allocated, .transferred, .ambiguous: break
    }
    guard isNull(.closedAt) != state.isClosed else {
      throw damaged(
        "the state \(state.rawValue), \(state.isClosed ? "without a" : "with a") closing time")
    }
    guard !isNull(.intent) else { return }
    let intent = try intent
    let isAllowed =
      switch (state, intent) {
      case (.queued, .allocate), (.queued, .transfer), (.allocated, .transfer), (.transferred, .commit),
        (.transferred, .commitAgain), (.transferred, .commitDeferred), (.ambiguous, _):
        true
      case (.queued, _), (.allocated, _), (.transferred, _), (.done, _), (.failed, _), (.cancelled, _): false
      }
    guard isAllowed else { throw damaged("an intent in the state \(state.rawValue)") }
  }

  /// Indexes into `ItemRow.columns`.
  private enum Column: Int32 {
    case intent = 4
    case expires = 8
    case closedAt = 9
    case captures = 11
    case secretCaptures = 12
  }

  private func isNull(_ column: Column) -> Bool {
    sqlite3_column_type(statement, column.rawValue) == SQLITE_NULL
  }
}
