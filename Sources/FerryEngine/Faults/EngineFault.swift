import FerryJournal
import FerryPlan

/// A fault of ferry itself or of its environment that ends a command.
package struct EngineFault: Error, CustomStringConvertible, Sendable {
  package var exitCode: ExitCode
  package var description: String

  package init(_ exitCode: ExitCode, _ description: String) {
    self.exitCode = exitCode
    self.description = description
  }

  /// An error for when one of several sessions' journals could not be written, after others were.
  static func halfway(_ error: any Error, _ what: String, sessions: [String]) -> any Error {
    guard !sessions.isEmpty else { return error }
    return EngineFault(
      exitCode(of: error),
      "\(describe(error))\nhelp: \(what) all the same, and on the disk: \(sessions.joined(separator: ", ")); "
        + "give the command again for the rest")
  }

  /// Describes any error for people, with its remedy.
  package static func describe(_ error: any Error) -> String {
    guard let remedy = (error as? ListingFailure)?.remedy else { return "\(error)" }
    return "\(error)\nhelp: \(remedy)"
  }

  /// An unknown state folder is wrong usage; every other journal error is a fault.
  package static func exitCode(of error: any Error) -> ExitCode {
    switch error {
    case is UsageError, is ListingFailure: .usage
    case let error as JournalError where error.code == .folderUnknown: .usage
    default: .fault
    }
  }
}
