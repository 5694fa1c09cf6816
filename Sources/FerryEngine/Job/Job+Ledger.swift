import FerryJournal
import FerryManifest
import FerryPlan

extension Job {
  /// Whether the job is a part whose bytes count against budgets that all parts share.
  fileprivate var sharesBudgets: Bool {
    switch manifest.engine.budgets {
    case .shared: part != nil && Budget.Scope.allCases.contains { manifest.budgets[$0] != nil }
    case .split: false
    }
  }

  /// Opens an existing ledger for reading.
  func ledgerForReading(in state: StateDirectory) throws(JournalError) -> Ledger {
    try Ledger.openForReading(in: sharesBudgets ? state.sharedLedger : state)
  }
}

extension Jobs {
  /// Opens the ledger in which a launch records its bytes.
  func ledger(in state: StateDirectory, writtenBy ferry: String, at now: Instant) throws(JournalError)
    -> Ledger
  {
    guard let job = all.first, job.sharesBudgets else {
      return try Ledger.open(in: state, writtenBy: ferry, at: now)
    }
    return try Ledger.openShared(in: state.sharedLedger, writtenBy: ferry, at: now)
  }
}
