/// What the machine has while a launch lasts.
package struct DeviceConditions: Hashable, Codable, Sendable {
  /// Raw values are those of the manifest, and are written into reports.
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
  /// Paid by volume, as a cellular network always is.
  package var isExpensive: Bool
  package var power: Power

  package init(network: Network = .wired, isExpensive: Bool = false, power: Power = .external) {
    self.network = network
    self.isExpensive = isExpensive || network == .cellular
    self.power = power
  }
}
