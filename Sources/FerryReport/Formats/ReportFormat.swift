/// The formats of a run's report. The raw values are used on the command line.
package enum ReportFormat: String, CaseIterable, Sendable {
  case json, text

  /// - Parameter status: the command that lists ambiguous items of earlier runs.
  package func renderer(status: String) -> any ReportRenderer {
    switch self {
    case .json: ReportJSON()
    case .text: ReportText(status: status)
    }
  }
}
