import FerryManifest
import FerryPlan

/// The assumptions of a simulation about the network, the launches and the machine.
package struct SimulationOptions: Sendable {
  /// Bytes per second for all requests together; `nil` for the rate measured in the last runs of the job.
  package var bandwidth: Double?
  package var latency: Duration = .zero
  package var lossPercent: Double = 0
  package var launches = LaunchSchedule.once
  /// The launches as the user specified them.
  package var launchesText: String?
  package var timeline: ConditionTimeline?
  /// Resume delay policies to compare; empty to use the manifest's own policy.
  package var compare: [ResumeDelay.Policy] = []
  /// The size of each fetched document, in bytes.
  package var fetchSize: Int64 = 0
  /// The interval at which every fetched document changes; `nil` if documents never change.
  package var fetchChanges: Duration?
  /// The maximum simulated time.
  package var length: Duration = .seconds(366 * 86_400)
  /// Whether further rounds follow the first one.
  package var continues = false
  package var zone: CalendarZone
  package var seed: UInt64 = 1

  package init(zone: CalendarZone) { self.zone = zone }
}

extension SimulationStart {
  /// Simulates the plan to determine the results of future launches.
  ///
  /// - Returns: `nil` if the network's rate is unknown because the options do not specify it and no run has
  ///   measured it.
  package func simulate(_ options: SimulationOptions) -> SimulationDocument? {
    guard
      let rate = options.bandwidth.map(NetworkModel.Rate.shared)
        ?? measured.map(NetworkModel.Rate.perConnection)
    else { return nil }
    let network = NetworkModel(
      rate: rate, latency: options.latency, lossPercent: options.lossPercent, fetchSize: options.fetchSize,
      fetchChanges: options.fetchChanges)
    var document = SimulationDocument(
      plan, path: path, network: network, isMeasured: options.bandwidth == nil, launch: launch,
      launches: options.launchesText, continues: options.continues, conditions: conditions, seed: options.seed
    )
    if !listsLater.isEmpty { document.listedAtRunTime = listsLater.sorted().map { plan.nodes[$0].name } }
    document.setUnknownSizes(plan, starts)
    for policy in options.compare.isEmpty ? [plan.policies.resumeDelay.policy] : options.compare {
      var plan = plan
      plan.policies.resumeDelay.policy = policy
      var setting = Forecaster.Setting(
        network: network, launch: launch, conditions: conditions, zone: options.zone, zones: zones,
        start: moment, length: options.length, seed: options.seed)
      setting.launches = options.launches
      setting.continues = options.continues
      setting.timeline = options.timeline
      setting.used = Dictionary(uniqueKeysWithValues: budgets.map { ($0.network, $0.usedBytes) })
      var forecaster = Forecaster(
        plan, starts: starts, intervals: intervals, delays: delays, foreground: foreground, setting)
      document.forecasts.append(.init(policy: policy, forecast: forecaster.forecast()))
    }
    return document
  }
}
