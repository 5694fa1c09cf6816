/// The machine's network and power source.
package struct DeviceConditions: Hashable, Codable, Sendable {
  /// The raw values are used in the manifest and written to reports.
  package enum Network: String, CaseIterable, Codable, Sendable {
    case wifi
    case wired
    case cellular
    /// There is no network.
    case none
  }

  package enum Power: String, CaseIterable, Codable, Sendable {
    case external
    case battery
  }

  package var network: Network
  /// Whether the network is metered; a cellular network always is.
  package var isExpensive: Bool
  package var power: Power

  package init(network: Network = .wired, isExpensive: Bool = false, power: Power = .external) {
    self.network = network
    self.isExpensive = isExpensive || network == .cellular
    self.power = power
  }
}
