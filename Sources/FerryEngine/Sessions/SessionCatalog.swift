import FerryJournal
import FerryPlan

/// The sessions that a state folder knows: by a journal, a note, or a process that holds them.
struct SessionCatalog {
  let state: StateDirectory
  let inbox: Inbox

  var identifiers: [String] {
    get throws(JournalError) { Set(try state.sessions() + (try inbox.sessions())).sorted() }
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
      if try state.lockedSessions().contains(name) {
        throw UsageError(
          "the session '\(NameText.shown(name))' has no journal in \(state.path) any more\n"
            + "help: where it was moved away, put it back before anything is run; a run begins it anew")
      }
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
    return UsageError("there is no \(what) '\(NameText.shown(name))' in \(state.path)\nhelp: \(help)")
  }
}
