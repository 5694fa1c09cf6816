import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport

/// Prints a plan to standard output and its diagnostics to standard error. If one of the diagnostics is an error,
/// throws exit code 3.
struct PlanOutput {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case mermaid
    case dot
    case html
  }

  var format = Format.text
  /// The time zone for text output.
  var zone: CalendarZone

  /// - Returns: whether the run would have work, even if all of that work has to wait.
  @discardableResult func produce(_ preview: Preview, of job: Job) throws -> Bool {
    let (document, diagnostics) = try preview.look()
    Output.warn(diagnostics, of: job)
    switch format {
    case .text: try Output.produce(PlanText.text(document, in: zone))
    case .mermaid: try Output.produce(PlanGraph.mermaid(document))
    case .dot: try Output.produce(PlanGraph.dot(document))
    case .json, .html: try Output.produce(try JSONText.pretty(document))
    }
    if !document.errors.isEmpty {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
    return document.hasWork
  }
}
