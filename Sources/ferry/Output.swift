import ArgumentParser
import FerryEngine
import FerryManifest
import FerryReport
import Foundation

/// Writes results to standard output, and messages to standard error.
enum Output {
  static func complain(_ text: String) {
    MessageStream.standardError.write(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Writes text without a line break, for a line that is updated in place.
  static func draw(_ text: String) { MessageStream.standardError.write(text) }

  /// Prints warnings about a manifest that result from its files and its history.
  static func warn(_ warnings: [Diagnostic], of job: Job) { warn(warnings, of: Jobs(job)) }

  static func warn(_ warnings: [Diagnostic], of jobs: Jobs) {
    guard !warnings.isEmpty else { return }
    complain(DiagnosticFormatter(sources: jobs.sources, isColored: isComplaintColored).text(warnings))
  }

  /// Writes a command's result. A reader that has closed the pipe (EPIPE) is not an error.
  static func produce(_ text: String) throws(EngineFault) { _ = try put(Array(text.utf8)) }

  /// Writes a report. A reader that has closed the pipe (EPIPE) is not an error.
  static func produce(_ source: ReportSource, as renderer: any ReportRenderer) throws {
    let sink = DescriptorSink(STDOUT_FILENO)
    try produce(to: sink) { try renderer.render(source, to: sink) }
  }

  /// Writes a document to standard output. A reader that has closed the pipe (EPIPE) is not an error.
  static func produce(to sink: DescriptorSink, _ render: () throws -> Void) throws {
    do {
      try render()
      try sink.flush()
    } catch let failure as DescriptorSink.Failure {
      guard failure.code != EPIPE else { return }
      throw Self.fault(failure.code)
    }
  }

  /// Writes a part of a command's result. If the reader has closed the pipe, the command exits with 0.
  static func export(_ bytes: [UInt8]) throws {
    guard try put(bytes) else { throw ArgumentParser.ExitCode.success }
  }

  /// Prints the summary of a run. Write errors are ignored, because the report contains the same
  /// information.
  static func summarize(_ text: String) { MessageStream.standardOutput.write(text) }

  /// Writes bytes to standard output.
  ///
  /// - Returns: whether the output still has a reader.
  private static func put(_ bytes: [UInt8]) throws(EngineFault) -> Bool {
    guard let code = AtomicWrite.failure(of: bytes, to: STDOUT_FILENO) else { return true }
    guard code != EPIPE else { return false }
    throw fault(code)
  }

  private static func fault(_ code: Int32) -> EngineFault {
    EngineFault(
      .fault,
      "cannot write to standard output: \(String(cString: strerror(code)))\n"
        + "help: free some space on the device, or redirect the output; the command itself has completed")
  }

  /// Whether to color standard output and standard error.
  static var isProductColored: Bool { isatty(STDOUT_FILENO) != 0 && allowsColor }
  static var isComplaintColored: Bool { isErrorTerminal && allowsColor }

  /// An empty variable counts as unset (https://no-color.org).
  private static var allowsColor: Bool {
    (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  }

  static var isErrorTerminal: Bool { isatty(STDERR_FILENO) != 0 }
  static var isInteractive: Bool { isatty(STDIN_FILENO) != 0 && isErrorTerminal }
}
