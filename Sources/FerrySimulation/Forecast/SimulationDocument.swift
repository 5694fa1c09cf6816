import FerryManifest
import FerryPlan

/// The simulation of a plan, as printed by `ferry plan --simulate`.
package struct SimulationDocument: Codable, Sendable {
  /// The version of this format.
  package var version = 1
  package var manifest: String
  package var path: String
  package var network: Network
  package var launch: LaunchKind
  /// The cron expression or the times, as given; absent for one launch that waits.
  package var launches: String?
  /// Whether further rounds follow the first one.
  package var continues: Bool
  /// The conditions at the start, unless a timeline specifies others.
  package var conditions: DeviceConditions
  package var seed: UInt64
  /// The names of the requests of `on_end`. A launch sends these requests after its work, but they are not
  /// simulated. Absent if there are none.
  package var onEnd: [String]?
  /// The names of the uploads and download batches whose list a fetch writes. Files that are known only at run time are
  /// not simulated. Absent if there are none.
  package var listedAtRunTime: [String]?
  /// The number of items of download batches whose lists do not state their sizes. Each is simulated with
  /// `network.fetch_size_bytes`. Absent if there are none.
  package var unknownSizes: Int?
  package var forecasts: [Entry] = []

  package struct Network: Codable, Sendable {
    package var bytesPerSecond: Double
    /// Whether the rate applies to each connection; otherwise all connections share it.
    package var isPerConnection: Bool
    /// Whether the rate was measured in earlier runs.
    package var isMeasured: Bool
    package var latencySeconds: Double
    package var lossPercent: Double
    package var fetchSizeBytes: Int64
    /// The interval at which fetched documents change; absent if they never change.
    package var fetchChangesSeconds: Double?
  }

  /// The forecast for one policy of the resume delay.
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
    launches: String?, continues: Bool, conditions: DeviceConditions, seed: UInt64
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
      latencySeconds: network.latency.seconds, lossPercent: network.lossPercent,
      fetchSizeBytes: network.fetchSize, fetchChangesSeconds: network.fetchChanges?.seconds)
    self.launch = launch
    self.launches = launches
    self.continues = continues
    self.conditions = conditions
    self.seed = seed
  }

  mutating func setUnknownSizes(_ plan: Plan, _ starts: [NodeStart]) {
    let unknown = zip(plan.nodes, starts).reduce(0) { sum, node in
      guard node.0.kind == .download, case .upload(let table, _) = node.1 else { return sum }
      return sum + table.files.unknownSizes
    }
    unknownSizes = unknown > 0 ? unknown : nil
  }
}
