import ArgumentParser
import FerryEngine
import FerryPlan

/// A plan for the standard output; what is wrong goes to the standard error, and an error ends the process with 3.
struct PlanOutput {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  var format = Format.text
  /// What moments are shown to people in.
  var zone: CalendarZone

  func produce(_ preview: Preview, of job: Job) throws {
    let (document, diagnostics) = try preview.look()
    Output.warn(diagnostics, of: job)
    switch format {
    case .text: try Output.produce(PlanText.text(document, in: zone))
    case .json: try Output.produce(try JSONText.pretty(document))
    }
    if !document.errors.isEmpty {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
  }
}
