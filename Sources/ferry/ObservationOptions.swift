import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// What a run prints and writes while it runs.
struct ObservationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "If standard error is not a terminal, print a progress line at the start, at the end, and at most this often "
        + "in between. Default: every 30s.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var progressInterval: Duration?

  @Flag(
    name: [.short, .customLong("verbose")],
    help: "Print requests, items that fail, and resumes to standard error; with -vv, every item.")
  var verbosity: Int

  @Option(help: ArgumentHelp("Append a line for each request and item to this file.", valueName: "file"))
  var log: String?

  @Option(help: "Format of the log.")
  var logFormat: EventFormat?

  @Option(
    help: ArgumentHelp(
      "Append each event to this file, as one JSON object per line; - is standard output.", valueName: "file")
  )
  var events: String?

  @Option(
    help: ArgumentHelp(
      "Add each request and response to this HTTP Archive (HAR 1.2). Secrets are masked.",
      valueName: "file"))
  var trace: String?

  func validate() throws {
    if logFormat != nil, log == nil { throw ValidationError("--log-format requires --log") }
    if let progressInterval, progressInterval < .milliseconds(100) {
      throw ValidationError("--progress-interval must be 100ms or longer")
    }
    if log == "-" { throw ValidationError("--log needs a file; -vv prints the log to standard error") }
    if trace == "-" { throw ValidationError("--trace needs a file") }
  }

  /// The files, with their options.
  var files: [(option: String, path: String)] {
    [("--log", log), ("--events", events), ("--trace", trace)].compactMap { option, path in
      path.map { (option, $0) }
    }
  }

  /// Opens the files. Throws if one of them cannot be opened. In that case, nothing has been done.
  func observers() throws -> RunObservers {
    let logFormat = logFormat ?? .text
    return RunObservers(
      log: try log.map { try EventWriter(ReportDestination($0).open(for: "--log"), logFormat) },
      logFormat: logFormat,
      stream: try events.map { try EventWriter(ReportDestination($0).open(for: "--events"), .json) },
      trace: try trace.map {
        try EventWriter(TraceFile(ReportDestination($0), version: Ferry.version))
      },
      verbosity: verbosity)
  }
}

extension EventFormat: ExpressibleByArgument {}
