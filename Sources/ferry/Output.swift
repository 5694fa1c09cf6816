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

  static func produce(_ text: String) { write(text, to: .standardOutput) }

  /// Writes bytes that have to be complete: whoever wants them is told where they are not.
  static func export(_ bytes: [UInt8]) throws {
    try FileHandle.standardOutput.write(contentsOf: Data(bytes))
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
