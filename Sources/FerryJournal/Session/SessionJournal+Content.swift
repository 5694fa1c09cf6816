import FerryPlan

extension SessionJournal {
  /// Records, before a run, the current modification time and the digest of delivered files. The changes are
  /// synced when this method returns.
  package func confirm(_ files: [ContentQuestions.Confirmed]) throws(JournalError) {
    guard !files.isEmpty else { return }
    for start in stride(from: 0, to: files.count, by: Self.rowsPerTransaction) {
      let end = min(start + Self.rowsPerTransaction, files.count)
      try commit([[.confirmed(Array(files[start..<end]))]])
      try checkpointIfDue()
    }
    try sync()
  }
}
