import FerryPlan

extension SessionJournal {
  /// Before a run: delivered files of which the journal is to say the time that they have now, and the digest. On the
  /// disk when this returns.
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
