import FerryJournal
import FerryPlan

/// The sessions that a state folder knows: by a journal, also one that is lost, by a note, or by a process that holds
/// them.
struct SessionCatalog {
  let state: StateDirectory
  let inbox: Inbox

  var identifiers: [String] {
    get throws(JournalError) {
      try RunHistory.knownJournals(in: state).union(state.sessions()).union(inbox.sessions()).sorted()
    }
  }

  func knows(_ identifier: String) throws -> Bool {
    if try identifiers.contains(identifier) { return true }
    do throws(JournalError) {
      return try SessionLock.holder(session: identifier, in: state) != nil
    } catch {
      // No process holds what can have no file.
      guard error.code == .nameRefused else { throw error }
      return false
    }
  }

  /// Throws where one of these is not known.
  func check(_ names: [String]) throws {
    for name in names where try !knows(name) {
      throw Self.unknown("session", name, among: try identifiers, in: state)
    }
  }

  /// Throws where one of these has no journal.
  static func checkJournals(_ names: [String], among known: [String], in state: StateDirectory)
    throws(UsageError)
  {
    for name in names where !known.contains(name) {
      throw unknown("journal of a session", name, among: known, in: state)
    }
  }

  private static func unknown(
    _ what: String, _ name: String, among known: [String], in state: StateDirectory
  ) -> UsageError {
    let help =
      known.isEmpty ? "nothing was run with this state yet" : "it has \(known.joined(separator: ", "))"
    return UsageError("there is no \(what) '\(DisplayPath.shown(name))' in \(state.path)\nhelp: \(help)")
  }
}
