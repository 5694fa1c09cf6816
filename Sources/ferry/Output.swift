import ArgumentParser
import FerryEngine
import FerryManifest
import Foundation

/// Standard output is the product, standard error is for people.
enum Output {
  static func complain(_ text: String) {
    write(text.hasSuffix("\n") ? text : text + "\n", to: .standardError)
  }

  /// A line that is written over; without a line end.
  static func draw(_ text: String) { write(text, to: .standardError) }

  /// What the files and the history show to be wrong with a manifest.
  static func warn(_ warnings: [Diagnostic], of job: Job) { warn(warnings, of: Jobs(job)) }

  static func warn(_ warnings: [Diagnostic], of jobs: Jobs) {
    guard !warnings.isEmpty else { return }
    complain(DiagnosticFormatter(sources: jobs.sources, isColored: isComplaintColored).text(warnings))
  }

  /// Writes what a command was asked for. A reader that has gone (EPIPE) has had what it wanted.
  static func produce(_ text: String) throws(EngineFault) { _ = try put(Array(text.utf8)) }

  /// Writes a part of what a command was asked for, and ends it where the reader has gone.
  static func export(_ bytes: [UInt8]) throws {
    guard try put(bytes) else { throw ArgumentParser.ExitCode.success }
  }

  /// Says how a run went, which its report says too.
  static func summarize(_ text: String) { write(text, to: .standardOutput) }

  /// - Returns: whether there is still a reader.
  private static func put(_ bytes: [UInt8]) throws(EngineFault) -> Bool {
    guard let code = WholeWrite.failure(of: bytes, to: STDOUT_FILENO) else { return true }
    guard code != EPIPE else { return false }
    throw EngineFault(
      .fault,
      "the standard output cannot be written: \(String(cString: strerror(code)))\n"
        + "help: free some space there, or send it to another place; the command itself was carried out")
  }

  private static func write(_ text: String, to handle: FileHandle) {
    // A reader that has gone (EPIPE), or a terminal (EIO), is no reason to stop moving files.
    try? handle.write(contentsOf: Data(text.utf8))
  }

  /// Whether to write colours to the standard output, and to the standard error.
  static var isProductColored: Bool { isatty(STDOUT_FILENO) != 0 && allowsColor }
  static var isComplaintColored: Bool { isErrorTerminal && allowsColor }

  /// https://no-color.org: an empty variable counts as none.
  private static var allowsColor: Bool {
    (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) != 0 }
  static var isInteractive: Bool { isatty(STDIN_FILENO) != 0 && isErrorTerminal }
}
