import FerryManifest

/// A plan turned forward, as `ferry plan --simulate` prints it.
package struct SimulationDocument: Codable, Sendable {
  /// Of this format.
  package var version = 1
  package var manifest: String
  package var path: String
  package var network: Network
  package var launch: LaunchKind
  /// The cron expression or the moments, as they were given; absent for one launch that waits.
  package var launches: String?
  /// At the beginning, where a timeline does not say otherwise.
  package var conditions: DeviceConditions
  package var seed: UInt64
  package var forecasts: [Entry] = []

  package struct Network: Codable, Sendable {
    package var bytesPerSecond: Double
    /// Whether each connection has that many; otherwise all share them.
    package var isPerConnection: Bool
    /// Whether earlier runs measured it.
    package var isMeasured: Bool
    package var latencySeconds: Double
    package var lossPercent: Double
  }

  /// What one policy of the resume delay leads to.
  package struct Entry: Codable, Sendable {
    package var policy: ResumeDelay.Policy
    package var forecast: Forecast

    package init(policy: ResumeDelay.Policy, forecast: Forecast) {
      self.policy = policy
      self.forecast = forecast
    }
  }

  package init(
    _ plan: Plan, path: String, network: NetworkModel, isMeasured: Bool, launch: LaunchKind,
    launches: String?, conditions: DeviceConditions, seed: UInt64
  ) {
    manifest = plan.manifest
    self.path = path
    let (rate, isPerConnection) =
      switch network.rate {
      case .shared(let rate): (rate, false)
      case .perConnection(let rate): (rate, true)
      }
    self.network = Network(
      bytesPerSecond: rate, isPerConnection: isPerConnection, isMeasured: isMeasured,
      latencySeconds: network.latency.seconds, lossPercent: network.lossPercent)
    self.launch = launch
    self.launches = launches
    self.conditions = conditions
    self.seed = seed
  }
}
