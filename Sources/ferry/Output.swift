import ArgumentParser
import FerryEngine
import FerryManifest
import Foundation

/// Writes results to standard output, and messages for people to standard error.
enum Output {
  static func complain(_ text: String) {
    MessageStream.standardError.write(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Writes text without a line end, for a line that is updated in place.
  static func draw(_ text: String) { MessageStream.standardError.write(text) }

  /// Prints warnings about a manifest that its files and its history give rise to.
  static func warn(_ warnings: [Diagnostic], of job: Job) { warn(warnings, of: Jobs(job)) }

  static func warn(_ warnings: [Diagnostic], of jobs: Jobs) {
    guard !warnings.isEmpty else { return }
    complain(DiagnosticFormatter(sources: jobs.sources, isColored: isComplaintColored).text(warnings))
  }

  /// Writes a command's result. A reader that has closed the pipe (EPIPE) is not an error.
  static func produce(_ text: String) throws(EngineFault) { _ = try put(Array(text.utf8)) }

  /// Writes a part of a command's result. If the reader has closed the pipe, the command exits with 0.
  static func export(_ bytes: [UInt8]) throws {
    guard try put(bytes) else { throw ArgumentParser.ExitCode.success }
  }

  /// Prints the summary of a run. Write errors are ignored, because the report contains all of it.
  static func summarize(_ text: String) { MessageStream.standardOutput.write(text) }

  /// - Returns: whether there is still a reader.
  private static func put(_ bytes: [UInt8]) throws(EngineFault) -> Bool {
    guard let code = AtomicWrite.failure(of: bytes, to: STDOUT_FILENO) else { return true }
    guard code != EPIPE else { return false }
    throw EngineFault(
      .fault,
      "cannot write to standard output: \(String(cString: strerror(code)))\n"
        + "help: free some space there, or redirect the output; the command itself has completed")
  }

  /// Whether to color standard output and standard error.
  static var isProductColored: Bool { isatty(STDOUT_FILENO) != 0 && allowsColor }
  static var isComplaintColored: Bool { isErrorTerminal && allowsColor }

  /// https://no-color.org: an empty variable counts as unset.
  private static var allowsColor: Bool {
    (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) != 0 }
  static var isInteractive: Bool { isatty(STDIN_FILENO) != 0 && isErrorTerminal }
}
