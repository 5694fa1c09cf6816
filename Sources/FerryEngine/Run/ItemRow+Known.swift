import FerryJournal
import FerryPlan

extension ItemRow {
  /// The item in the form that the reconciliation expects.
  var known: Reconciliation.Known {
    get throws(JournalError) {
      let state = try state
      // There may be almost a million closed items, so their other columns are not read.
      guard !state.isClosed else {
        return Reconciliation.Known(
          row: id, round: round, state: state, size: size, modified: modified,
          owesAfter: try after == .owed)
      }
      let intent = try intent
      // An item that no launch has begun has no commit.
      let commitKey = state == .queued && intent == nil ? nil : try commitKey
      var known = Reconciliation.Known(
        row: id, round: round, state: state, intent: intent, size: size, modified: modified,
        handedOver: handedOver, expires: expires, commitKey: commitKey, owesAfter: try after == .owed)
      // An upload ID is recorded together with the identity of the file.
      if state == .allocated { known.partialIdentity = inode }
      return known
    }
  }
}
