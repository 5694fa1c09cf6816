import FerryJournal
import FerryPlan

/// A fault of ferry's own or of its surroundings that ends a command.
package struct EngineFault: Error, CustomStringConvertible, Sendable {
  package var exitCode: ExitCode
  package var description: String

  package init(_ exitCode: ExitCode, _ description: String) {
    self.exitCode = exitCode
    self.description = description
  }

  /// One of several sessions' journals could not be written, and those before it were.
  static func halfway(_ error: any Error, _ what: String, sessions: [String]) -> any Error {
    guard !sessions.isEmpty else { return error }
    return EngineFault(
      exitCode(of: error),
      "\(describe(error))\nhelp: \(what) all the same, and on the disk: \(sessions.joined(separator: ", ")); "
        + "give the command again for the rest")
  }

  /// An error of any part, for people, with its remedy.
  package static func describe(_ error: any Error) -> String {
    guard let remedy = (error as? ListingFailure)?.remedy else { return "\(error)" }
    return "\(error)\nhelp: \(remedy)"
  }

  /// A state folder that cannot be known is wrong usage; whatever else a journal says is a fault.
  package static func exitCode(of error: any Error) -> ExitCode {
    switch error {
    case is UsageError, is ListingFailure: .usage
    case let error as JournalError where error.code == .folderUnknown: .usage
    default: .fault
    }
  }
}
