/// The formats of a run's report. The raw values are used on the command line.
package enum ReportFormat: String, CaseIterable, Sendable {
  case json, ndjson, junit, ctrf, github, markdown, text, html

  /// - Parameter status: the command that lists ambiguous items of earlier runs.
  package func renderer(status: String) -> any ReportRenderer {
    switch self {
    case .json: ReportJSON()
    case .ndjson: ReportNDJSON()
    case .junit: ReportJUnit()
    case .ctrf: ReportCTRF()
    case .github: ReportGitHub()
    case .markdown: ReportMarkdown(status: status)
    case .text: ReportText(status: status)
    case .html: ReportHTML(status: status)
    }
  }
}
