import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// The state and the work of a future run. The preview reads the files and the journals without changing them, and
/// does not send requests.
package struct Preview {
  private let job: Job
  private let state: StateDirectory
  private let options: RunPreview.Options
  private let environment = ProcessInfo.processInfo.environment

  /// - Parameter moment: the start time of the run; `nil` for now.
  package init(
    _ job: Job, state: String?, only: [String] = [], network: Conditions.Network? = nil,
    power: Conditions.Power? = nil, launch: LaunchKind = .background, at moment: Instant? = nil
  ) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.job = try job.divided(in: self.state)
    var options = RunPreview.Options()
    options.only = only
    options.network = network
    options.power = power
    options.launch = launch
    options.moment = moment
    self.options = options
  }

  /// The plan, and the problems that were not already reported when the manifest was read. If one of them is
  /// an error, the plan cannot be run.
  package func look() throws -> (document: PlanDocument, diagnostics: [Diagnostic]) {
    try takePreview { (document($0), $0.diagnostics) }
  }

  private func document(_ preview: RunPreview) -> PlanDocument {
    PlanDocument(
      job.plan, path: job.path, round: preview.round, continuesRound: preview.continuesRound,
      launch: preview.launch, at: preview.moment, starts: preview.launchState.starts,
      conditions: preview.conditions, budgets: preview.budgets, reasons: preview.look.reasons,
      orphans: preview.launchState.releaseCounts(job.plan),
      problems: preview.launchState.problems.mapValues { $0.map(\.description) },
      problemsOmitted: preview.launchState.problems.mapValues(\.omitted).filter { $0.value > 0 },
      onEnd: job.manifest.onEnd, listsLater: preview.launchState.listsLater,
      diagnostics: job.warnings + preview.diagnostics)
  }

  /// Calls `body` with each file that the run would send.
  package func eachFile(_ body: (PlannedFile) throws -> Void) throws {
    try takePreview { try $0.eachFile(body) }
  }

  /// Writes the plan to a file, for `ferry run --plan`.
  package func save(to path: String) throws {
    try takePreview {
      try SavedPlan.write($0, job, only: options.only, document: document($0), to: path)
    }
  }

  /// The changes since a plan was made, one sentence for each; empty if there are none.
  package func drift(from plan: SavedPlan) throws -> [String] {
    try takePreview { try plan.drift(from: $0, job) }
  }

  /// Creates a preview for a plan, and calls `body` while the journals are open.
  func takePreview<Result>(_ body: (RunPreview) throws -> Result) throws -> Result {
    var options = options
    options.readsStandardInput = true
    return try RunPreview.take(job, options, in: state, environment: environment, body)
  }

  /// Determines the time at which a run would next have work.
  package func next() throws -> NextRun {
    try RunPreview.take(job, options, in: state, environment: environment) { preview in
      try NextRun(preview)
    }
  }

  /// The initial state of a simulation.
  package func simulationStart() throws -> SimulationStart {
    try takePreview { preview in
      SimulationStart(
        plan: preview.job.plan, path: preview.job.path, moment: preview.moment, launch: preview.launch,
        conditions: preview.conditions, zones: preview.zones, budgets: preview.budgets,
        measured: preview.measured, starts: preview.launchState.starts,
        listsLater: preview.launchState.listsLater, intervals: preview.launchState.intervals,
        delays: preview.delays,
        foreground: preview.foreground)
    }
  }
}
