import FerryJournal
import FerryManifest
import FerryPlan

/// The assumptions of a simulation about the network, the launches and the machine.
package struct SimulationOptions: Sendable {
  /// Bytes per second of all requests together; `nil` uses the rate measured in the last runs of the job.
  package var bandwidth: Double?
  package var latency: Duration = .zero
  package var lossPercent: Double = 0
  package var launches = LaunchSchedule.once
  /// The launches as given.
  package var launchesText: String?
  package var timeline: ConditionTimeline?
  /// Resume delay policies to compare; empty to use the manifest's own.
  package var compare: [ResumeDelay.Policy] = []
  /// The maximum simulated time.
  package var length: Duration = .seconds(366 * 86_400)
  package var zone: CalendarZone
  package var seed: UInt64 = 1

  package init(zone: CalendarZone) { self.zone = zone }
}

extension Preview {
  /// Simulates the plan: what future launches would do.
  package func simulate(_ simulation: SimulationOptions) throws -> SimulationDocument {
    try takePreview { preview in
      let network = try network(simulation, preview)
      let policies =
        simulation.compare.isEmpty ? [preview.job.plan.policies.resumeDelay.policy] : simulation.compare
      var document = SimulationDocument(
        preview.job.plan, path: preview.job.path, network: network, isMeasured: simulation.bandwidth == nil,
        launch: preview.launch, launches: simulation.launchesText, conditions: preview.conditions,
        seed: simulation.seed)
      for policy in policies {
        var plan = preview.job.plan
        plan.policies.resumeDelay.policy = policy
        var setting = Forecaster.Setting(
          network: network, launch: preview.launch, conditions: preview.conditions, zone: simulation.zone,
          zones: preview.zones, start: preview.moment, length: simulation.length, seed: simulation.seed)
        setting.launches = simulation.launches
        setting.timeline = simulation.timeline
        setting.used = Dictionary(uniqueKeysWithValues: preview.budgets.map { ($0.network, $0.usedBytes) })
        var forecaster = Forecaster(
          plan, starts: preview.launchState.starts, intervals: preview.launchState.intervals,
          delays: preview.delays, setting)
        document.forecasts.append(.init(policy: policy, forecast: forecaster.forecast()))
      }
      return document
    }
  }

  private func network(_ simulation: SimulationOptions, _ preview: RunPreview) throws(UsageError)
    -> NetworkModel
  {
    guard
      let rate = simulation.bandwidth.map(NetworkModel.Rate.shared)
        ?? preview.measured.map(NetworkModel.Rate.perConnection)
    else {
      throw UsageError(
        "no run of \(preview.job.plan.manifest) has measured the network yet\n"
          + "help: say how fast it is: --bandwidth 5MB is 5 MB a second")
    }
    return NetworkModel(rate: rate, latency: simulation.latency, lossPercent: simulation.lossPercent)
  }
}
