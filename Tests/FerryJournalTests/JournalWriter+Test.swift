import FerryJournal

extension JournalWriter {
  /// A writer with threads of its own.
  convenience init(
    journals: [SessionJournal], options: Options = Options(),
    deliver: @escaping @Sendable (JournalEvent) -> Void
  ) throws {
    self.init(journals: journals, options: options, threads: try Threads(), deliver: deliver)
  }
}
