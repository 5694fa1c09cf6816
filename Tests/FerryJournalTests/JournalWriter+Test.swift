import FerryJournal

extension JournalWriter {
  /// A writer with separate threads.
  convenience init(
    journals: [SessionJournal], options: Options = Options(),
    deliver: @escaping @Sendable (JournalEvent) -> Void
  ) throws {
    self.init(journals: journals, options: options, threads: try Threads(), deliver: deliver)
  }
}
