import FerryPlan
import FerryReport
import Foundation

/// A report to write when a run ends: `--report FORMAT=FILE`, or `--report FILE` for JSON.
package struct ReportRequest: Sendable {
  package let format: ReportFormat
  package let path: String
  private let destination: ReportDestination

  /// - Parameters:
  ///   - written: the value of the option.
  ///   - summary: the file to which reports are appended (`GITHUB_STEP_SUMMARY`); `nil` if there is none.
  /// - Throws: `UsageError` if the format is unknown.
  package init(_ written: String, summary: String? = nil) throws(UsageError) {
    let parts = written.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    if parts.count == 2, let format = ReportFormat(rawValue: parts[0]) {
      (self.format, path) = (format, parts[1])
    } else if parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy({ (0x61...0x7A).contains($0) }) {
      let formats = ReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError(
        "--report \(written): there is no format '\(parts[0])'\n"
          + "help: the formats are \(formats); for JSON in a file of this name, write --report json=./\(written)"
      )
    } else {
      (format, path) = (.json, written)
    }
    let isSummary = summary != nil && summary != "" && summary == path
    destination = ReportDestination(path, appends: isSummary)
  }

  /// The requests of a command line.
  ///
  /// - Throws: `UsageError` if two of them have the same file, or a file cannot be written.
  package static func all(
    _ written: [String], environment: [String: String]
  ) throws(UsageError) -> [ReportRequest] {
    var requests: [ReportRequest] = []
    for text in written {
      let request = try ReportRequest(text, summary: environment["GITHUB_STEP_SUMMARY"])
      guard !requests.contains(where: { $0.path == request.path }) else {
        let name = request.path == "-" ? "standard output" : request.path
        throw UsageError(
          "two reports cannot be written to \(name)\nhelp: specify another file; nothing was done")
      }
      try request.destination.check()
      requests.append(request)
    }
    return requests
  }

  package func write(_ source: ReportSource, status: String) throws {
    try destination.write(source, as: format.renderer(status: status))
  }
}
