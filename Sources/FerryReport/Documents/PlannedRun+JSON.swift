import FerryPlan
import FerrySimulation

extension PlannedRun {
  /// The content of a document in JSON.
  package enum Document {
    case planned(PlannedRun)
    /// A simulation of several rounds, which cannot be compared with one run.
    case severalRounds
    /// Neither a plan nor a simulation.
    case other
  }

  /// Reads the JSON of `ferry plan` or `ferry plan --simulate`.
  package static func document(_ json: [UInt8]) -> Document {
    // A document of one kind lacks required keys of the other.
    if let plan = try? ReportJSON.decode(PlanDocument.self, from: json) { return .planned(PlannedRun(plan)) }
    guard let simulation = try? ReportJSON.decode(SimulationDocument.self, from: json),
      let planned = PlannedRun(simulation)
    else { return .other }
    return simulation.continues ? .severalRounds : .planned(planned)
  }
}
