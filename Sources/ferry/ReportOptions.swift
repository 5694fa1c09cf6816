import ArgumentParser
import FerryEngine
import FerryManifest
import FerryReport
import Foundation

/// The reports that a run writes.
struct ReportOptions: ParsableArguments {
  @Option(
    name: .customLong("report"),
    help: ArgumentHelp(
      "Also write the report to this file, in one of the formats \(formats); without FORMAT=, as JSON. "
        + "- is standard output. May be repeated.",
      valueName: "format=file"))
  var written: [String] = []

  @Option(
    help: ArgumentHelp(
      "The items that the report lists: notable (those that did not succeed on the first attempt) or all. Default: the "
        + "manifest's report: { items }.",
      valueName: "items"))
  var items: ReportSettings.Items?

  private static var formats: String { ReportFormat.allCases.map(\.rawValue).joined(separator: ", ") }

  func requests() throws -> [ReportRequest] {
    try ReportRequest.all(written, environment: ProcessInfo.processInfo.environment)
  }
}

extension ReportSettings.Items: ExpressibleByArgument {}
extension ReportFormat: ExpressibleByArgument {}
