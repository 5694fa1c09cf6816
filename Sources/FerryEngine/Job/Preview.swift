import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// What a run would find and do: reads the files and the journals, changes neither, asks nobody.
package struct Preview {
  private let job: Job
  private let state: StateDirectory
  private let selection: Selection
  private let network: Conditions.Network?
  private let power: Conditions.Power?
  private let environment = ProcessInfo.processInfo.environment

  package init(
    _ job: Job, state: String?, only: [String], network: Conditions.Network? = nil,
    power: Conditions.Power? = nil
  ) throws {
    self.job = job
    self.network = network
    self.power = power
    self.state = try StateDirectory(explicit: state, environment: environment)
    selection = try Selection(only, in: job.plan)
  }

  /// The plan, and what it warns of beyond what was told when the manifest was read.
  package func look() throws -> (document: PlanDocument, warnings: [Diagnostic]) {
    let history = try RunHistory.openForReading(in: state)
    // It was only read.
    defer { try? history.close() }
    let latest = try history.latestRound(manifest: job.plan.manifest)
    let isOpen = latest.map { $0.closedAt == nil } ?? false
    let round = (latest?.number ?? 0) + (isOpen ? 0 : 1)
    let journals = try SessionJournals.openForReading(job.plan, in: state)
    defer { journals.close() }
    let situation = try Situation(
      job, journals: journals, round: round, selection: selection,
      listers: try job.listers(environment: environment), at: LaunchClock().now)
    let warnings = try PlanWarnings.find(job, situation: situation, history: history)
    let document = PlanDocument(
      job.plan, path: job.path, round: round, continuesRound: isOpen, starts: situation.starts,
      conditions: job.conditions(network: network, power: power) { _ in },
      problems: situation.problems.mapValues { $0.map(\.description) }, warnings: job.warnings + warnings)
    return (document, warnings)
  }
}
