import FerryPlan
import GRDBSQLite

/// Whether a row has a form that a ferry writes. A changed bit in a page is no error to SQLite.
extension ItemRow {
  /// Throws where the row has a state, an intent, captures or times that do not fit each other.
  ///
  /// A run asks this of each row that it loads, so it looks at the kinds of five columns and decodes none.
  func checkForm() throws(JournalError) {
    let state = try state
    switch state {
    case .queued, .failed, .cancelled, .done:
      guard isNull(.captures), isNull(.secretCaptures), isNull(.expires) else {
        throw damaged("captures in the state \(state.rawValue)")
      }
    case .allocated, .transferred, .ambiguous: break
    }
    guard isNull(.closedAt) != state.isClosed else {
      throw damaged(
        "the state \(state.rawValue), \(state.isClosed ? "but no" : "but a") closing time")
    }
    guard !isNull(.intent) else { return }
    let intent = try intent
    let isAllowed =
      switch (state, intent) {
      case (.queued, .allocate), (.queued, .transfer), (.allocated, .transfer), (.transferred, .commit),
        (.transferred, .commitAgain), (.ambiguous, _):
        true
      case (.queued, _), (.allocated, _), (.transferred, _), (.done, _), (.failed, _), (.cancelled, _): false
      }
    guard isAllowed else { throw damaged("an intent in the state \(state.rawValue)") }
  }

  /// Columns of `ItemRow.columns`, by their places.
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
