/// The machine's network and power, or `auto` to detect them.
package struct Conditions: Hashable, Codable, Sendable {
  package enum Network: String, CaseIterable, Codable, Sendable {
    case auto
    case wifi
    case wired
    case cellular
    case none
  }

  package enum Power: String, CaseIterable, Codable, Sendable {
    case auto
    case external
    case battery
  }

  /// The kind of network; `auto` by default.
  package var network: Network
  /// The power source; `auto` by default.
  package var power: Power

  package init(network: Network = .auto, power: Power = .auto) {
    self.network = network
    self.power = power
  }
}
