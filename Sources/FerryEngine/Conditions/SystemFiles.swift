import FerryPlan
import Foundation

/// Reads the network and power files of Linux.
package struct SystemFiles: Sendable {
  private let root: String

  /// - Parameter root: `/`, or a folder used in its place.
  package init(root: String) {
    self.root = root.utf8.last == UInt8(ascii: "/") ? String(root.unicodeScalars.dropLast()) : root
  }

  /// The interface of the default route with the lowest metric: over IPv4, or else over IPv6.
  package func defaultInterface() -> String? { ipv4Route() ?? ipv6Route() }

  /// The kind of an interface according to sysfs; `nil` for interfaces such as tunnels and bridges, which do
  /// not reveal the underlying network.
  package func kind(ofInterface name: String) -> DeviceConditions.Network? {
    let folder = "/sys/class/net/\(name)"
    let type = lines("\(folder)/uevent").first { $0.hasPrefix("DEVTYPE=") }
    if type == "DEVTYPE=wwan" { return .cellular }
    if type == "DEVTYPE=wlan" || exists("\(folder)/wireless") || exists("\(folder)/phy80211") { return .wifi }
    // ARPHRD_ETHER with a device: a network card, not a bridge, a bond or a veth pair.
    if lines("\(folder)/type").first == "1", exists("\(folder)/device"), type == nil { return .wired }
    return nil
  }

  /// The power source; `nil` if the machine has no battery and reports no power supply that is online.
  package func power() -> DeviceConditions.Power? {
    let folder = "/sys/class/power_supply"
    // A machine without this folder is treated as having no battery.
    let supplies = (try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []
    var isCharged = false
    var hasBattery = false
    for supply in supplies.sorted() {
      let path = "\(folder)/\(supply)"
      switch lines("\(path)/type").first {
      case "Mains", "USB", "USB_PD", "Wireless":
        if lines("\(path)/online").first == "1" { isCharged = true }
      case "Battery":
        // Ignore the batteries of devices such as mice, which do not power the machine.
        guard lines("\(path)/scope").first != "Device" else { continue }
        hasBattery = true
        if let status = lines("\(path)/status").first, status != "Discharging" { isCharged = true }
      default: continue
      }
    }
    guard hasBattery else { return isCharged ? .external : nil }
    return isCharged ? .external : .battery
  }

  /// Columns: interface, destination, gateway, flags, …, metric (index 6), mask; addresses are hexadecimal.
  private func ipv4Route() -> String? {
    let routes = lines("/proc/net/route").dropFirst().compactMap { line -> (name: String, metric: Int)? in
      let columns = line.split(separator: "\t").map { $0.trimmingCharacters(in: .whitespaces) }
      guard columns.count >= 8, columns[1] == "00000000", columns[7] == "00000000" else { return nil }
      return (columns[0], Int(columns[6]) ?? .max)
    }
    return routes.min { $0.metric < $1.metric }?.name
  }

  /// Columns: destination, its length, source, its length, gateway, metric, …, interface; hexadecimal.
  private func ipv6Route() -> String? {
    let routes = lines("/proc/net/ipv6_route").compactMap { line -> (name: String, metric: UInt64)? in
      let columns = line.split(separator: " ")
      guard columns.count >= 10, columns[0].allSatisfy({ $0 == "0" }), columns[1] == "00", columns[9] != "lo"
      else { return nil }
      return (String(columns[9]), UInt64(columns[5], radix: 16) ?? .max)
    }
    return routes.min { $0.metric < $1.metric }?.name
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: root + path) }

  /// The lines of a file; empty if it does not exist or cannot be read.
  private func lines(_ path: String) -> [String] {
    guard let data = FileManager.default.contents(atPath: root + path) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
