import FerryManifest
import FerryPlan
import Foundation

/// Determines the machine's network and power source.
///
/// Linux provides the default route in `/proc/net/route` and `/proc/net/ipv6_route`, the kind of an interface below
/// `/sys/class/net`, and the power source below `/sys/class/power_supply`. A network of an unknown kind is treated as
/// wired, with a notice. An unknown power source is treated as external power.
package struct ConditionsProbe {
  /// Conditions that are set explicitly. The command line overrides the manifest, and both override the machine.
  package struct Given: Sendable {
    package var network: Conditions.Network
    package var power: Conditions.Power

    package init(network: Conditions.Network, power: Conditions.Power) {
      self.network = network
      self.power = power
    }
  }

  private let given: Given
  private let files: SystemFiles
  /// Whether an interface is metered, according to NetworkManager; `nil` if unknown.
  private let isMetered: (String) -> Bool?
  private var notices: [String] = []

  package init(
    _ given: Given, files: SystemFiles = SystemFiles(root: "/"),
    isMetered: @escaping (String) -> Bool? = NetworkManager.isMetered
  ) {
    self.given = given
    self.files = files
    self.isMetered = isMetered
  }

  /// Determines the current conditions. The notices describe what is assumed about the network.
  ///
  /// - Parameter asksForExpense: whether any session depends on whether the network is metered. If not,
  ///   NetworkManager is not queried, because a query starts a program.
  package mutating func look(asksForExpense: Bool) -> (conditions: DeviceConditions, notices: [String]) {
    notices = []
    let (network, interface) = network()
    let isExpensive = asksForExpense && interface.flatMap(isMetered) == true
    let conditions = DeviceConditions(network: network, isExpensive: isExpensive, power: power())
    return (conditions, notices)
  }

  /// Determines the kind of network and, if the machine was queried, the interface of its default route.
  private mutating func network() -> (DeviceConditions.Network, interface: String?) {
    switch given.network {
    case .wifi: return (.wifi, nil)
    case .wired: return (.wired, nil)
    case .cellular: return (.cellular, nil)
    case .none: return (.none, nil)
    case .auto: break
    }
    guard let interface = files.defaultInterface() else {
      notices.append(
        "no default route was found: the network is assumed to be wired (override this with --network)")
      return (.wired, nil)
    }
    guard let kind = files.kind(ofInterface: interface) else {
      notices.append(
        "the kind of the network interface \(interface) is unknown: the network is assumed to be wired (override this with --network)"
      )
      return (.wired, interface)
    }
    return (kind, interface)
  }

  private mutating func power() -> DeviceConditions.Power {
    switch given.power {
    case .external: return .external
    case .battery: return .battery
    case .auto: return files.power() ?? .external
    }
  }
}
