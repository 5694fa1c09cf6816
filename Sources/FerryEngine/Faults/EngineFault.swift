import FerryJournal
import FerryPlan

/// A fault that ends a command: a fault of ferry itself or of its environment.
package struct EngineFault: Error, CustomStringConvertible, Sendable {
  package var exitCode: ExitCode
  package var description: String

  package init(_ exitCode: ExitCode, _ description: String) {
    self.exitCode = exitCode
    self.description = description
  }

  /// The error of a command that failed to write the journal of one session after it had changed the journals of other
  /// sessions.
  static func halfway(_ error: any Error, _ what: String, sessions: [String]) -> any Error {
    guard !sessions.isEmpty else { return error }
    return EngineFault(
      exitCode(of: error),
      "\(describe(error))\nhelp: these sessions were \(what) and saved before the error: "
        + "\(sessions.joined(separator: ", ")); repeat the command for the others")
  }

  /// A description of any error, with its remedy.
  package static func describe(_ error: any Error) -> String {
    guard let remedy = (error as? ListingFailure)?.remedy else { return "\(error)" }
    return "\(error)\nhelp: \(remedy)"
  }

  /// The exit code for an error. An unknown state folder is a usage error; every other journal error is a
  /// fault.
  package static func exitCode(of error: any Error) -> ExitCode {
    switch error {
    case is UsageError, is ListingFailure: .usage
    case let error as JournalError where error.code == .folderUnknown: .usage
    default: .fault
    }
  }
}
