import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// What a run would find and do: reads the files and the journals, changes neither, asks nobody.
package struct Preview {
  private let job: Job
  private let state: StateDirectory
  private let options: Outlook.Options
  private let environment = ProcessInfo.processInfo.environment

  /// - Parameter moment: when the run would be; now where it is nil.
  package init(
    _ job: Job, state: String?, only: [String] = [], network: Conditions.Network? = nil,
    power: Conditions.Power? = nil, launch: LaunchKind = .background, at moment: Instant? = nil
  ) throws {
    self.job = job
    self.state = try StateDirectory(explicit: state, environment: environment)
    var options = Outlook.Options()
    options.only = only
    options.network = network
    options.power = power
    options.launch = launch
    options.moment = moment
    self.options = options
  }

  /// The plan, and what is wrong beyond what was told when the manifest was read; with an error among it the
  /// plan cannot be carried out.
  package func look() throws -> (document: PlanDocument, diagnostics: [Diagnostic]) {
    try takeOutlook { outlook in
      let document = PlanDocument(
        job.plan, path: job.path, round: outlook.round, continuesRound: outlook.continuesRound,
        launch: outlook.launch, at: outlook.moment, starts: outlook.situation.starts,
        conditions: outlook.conditions, budgets: outlook.budgets, reasons: outlook.look.reasons,
        orphans: outlook.situation.releaseCounts,
        problems: outlook.situation.problems.mapValues { $0.map(\.description) },
        diagnostics: job.warnings + outlook.diagnostics)
      return (document, outlook.diagnostics)
    }
  }

  /// Looks, as a plan does, and calls `body` while the journals are open.
  func takeOutlook<Result>(_ body: (Outlook) throws -> Result) throws -> Result {
    var options = options
    options.readsStandardInput = true
    return try Outlook.take(job, options, in: state, environment: environment, body)
  }

  /// When a run would next have something to do.
  package func next() throws -> NextRun {
    try Outlook.take(job, options, in: state, environment: environment) { outlook in
      try NextRun(outlook)
    }
  }
}
