import FerryJournal
import FerryPlan

/// The sessions of a state folder. A session is known from its journal (even a lost one), from a note, or
/// from a process that holds it.
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
      // No process can hold a session whose name cannot be a file name.
      guard error.code == .nameRefused else { throw error }
      return false
    }
  }

  /// Throws `UsageError` if one of the sessions is unknown.
  func check(_ names: [String]) throws {
    for name in names where try !knows(name) {
      throw Self.unknown("session", name, among: try identifiers, in: state)
    }
  }

  /// Throws `UsageError` if one of the sessions has no journal.
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
      known.isEmpty
      ? "this state folder contains no session"
      : "the sessions in \(state.path): \(known.map { "'\($0)'" }.joined(separator: ", "))"
    return UsageError("there is no \(what) '\(DisplayPath.shown(name))' in \(state.path)\nhelp: \(help)")
  }
}
