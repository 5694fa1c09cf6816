import FerryEngine
import FerryManifest
import FerryPlan
import Foundation
import Testing

/// A folder with the files that Linux has below `/proc` and `/sys`.
private final class System {
  let root: URL

  init(_ texts: [String: String]) throws {
    root = FileManager.default.temporaryDirectory.appending(path: "ferry-system-\(UUID().uuidString)")
    for (path, text) in texts {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
  }

  deinit {
    // If this fails, the files remain in the system's temporary folder, which is harmless.
    try? FileManager.default.removeItem(at: root)
  }

  var files: SystemFiles { SystemFiles(root: root.path(percentEncoded: false)) }
}

private let routeHead =
  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

private func route(_ name: String, metric: Int, destination: String = "00000000", mask: String = "00000000")
  -> String
{
  "\(name)\t\(destination)\t0102A8C0\t0003\t0\t0\t\(metric)\t\(mask)\t0\t0\t0\n"
}

@Suite struct `The conditions of a machine` {
  private func look(
    _ texts: [String: String], network: Conditions.Network = .auto, power: Conditions.Power = .auto,
    isMetered: Bool? = nil
  ) throws -> (conditions: DeviceConditions, notices: [String]) {
    let system = try System(texts)
    var probe = ConditionsProbe(
      .init(network: network, power: power), files: system.files, isMetered: { _ in isMetered })
    return withExtendedLifetime(system) { probe.look(asksForExpense: true) }
  }

  @Test func `are those of the default route with the lowest metric`() throws {
    let texts = [
      "proc/net/route": routeHead + route("eth0", metric: 600) + route("wlan0", metric: 100)
        + route("wwan0", metric: 0, destination: "0002A8C0", mask: "00FFFFFF"),
      "sys/class/net/wlan0/uevent": "DEVTYPE=wlan\nINTERFACE=wlan0\n",
      "sys/class/net/wlan0/type": "1\n",
      "sys/class/net/eth0/type": "1\n",
    ]
    let found = try look(texts)
    #expect(found.conditions == DeviceConditions(network: .wifi))
    #expect(found.notices == [])
    #expect(try look(texts, isMetered: true).conditions.isExpensive)
    #expect(try !look(texts, isMetered: false).conditions.isExpensive)
  }

  @Test func `identify a network card, a modem and a radio from sysfs`() throws {
    func kind(_ files: [String: String]) throws -> DeviceConditions.Network? {
      let system = try System(files.reduce(into: [:]) { $0["sys/class/net/x0/\($1.key)"] = $1.value })
      return withExtendedLifetime(system) { system.files.kind(ofInterface: "x0") }
    }
    #expect(try kind(["type": "1\n", "device/vendor": "0x8086\n", "uevent": "INTERFACE=x0\n"]) == .wired)
    #expect(try kind(["type": "1\n", "device/vendor": "0x8086\n", "uevent": "DEVTYPE=wwan\n"]) == .cellular)
    #expect(try kind(["type": "1\n", "wireless/status": "0\n"]) == .wifi)
    #expect(try kind(["type": "1\n", "phy80211/name": "phy0\n"]) == .wifi)
    // The network below a virtual Ethernet pair, a bridge or a tunnel is unknown.
    #expect(try kind(["type": "1\n", "uevent": "INTERFACE=x0\n"]) == nil)
    #expect(try kind(["type": "1\n", "device/x": "", "uevent": "DEVTYPE=bridge\n"]) == nil)
    #expect(try kind(["type": "65534\n"]) == nil)
  }

  @Test func `use IPv6's default route if IPv4 has none`() throws {
    let zero = String(repeating: "0", count: 32)
    let line = { (name: String, metric: String) in
      "\(zero) 00 \(zero) 00 fe800000000000000000000000000001 \(metric) 00000001 00000000 00000003 \(name)\n"
    }
    let found = try look([
      "proc/net/route": routeHead,
      "proc/net/ipv6_route": line("lo", "ffffffff") + line("wwan0", "00000400") + line("eth0", "00000800"),
      "sys/class/net/wwan0/uevent": "DEVTYPE=wwan\n",
    ])
    #expect(found.conditions == DeviceConditions(network: .cellular))
  }

  @Test func `treat unknown values as wired and external, with a notice`() throws {
    let nothing = try look([:])
    #expect(nothing.conditions == DeviceConditions())
    #expect(
      nothing.notices == [
        "no default route was found: the network is assumed to be wired (override this with --network)"
      ]
    )
    let tunnel = try look([
      "proc/net/route": routeHead + route("tun0", metric: 0), "sys/class/net/tun0/type": "65534\n",
    ])
    #expect(tunnel.conditions.network == .wired)
    #expect(tunnel.notices.count == 1 && tunnel.notices[0].contains("tun0"))
  }

  @Test(arguments: [
    (
      ["AC/type": "Mains\n", "AC/online": "1\n", "BAT0/type": "Battery\n", "BAT0/status": "Charging\n"],
      "external"
    ),
    (
      ["AC/type": "Mains\n", "AC/online": "0\n", "BAT0/type": "Battery\n", "BAT0/status": "Discharging\n"],
      "battery"
    ),
    (["BAT0/type": "Battery\n", "BAT0/status": "Full\n"], "external"),
    (["AC/type": "Mains\n", "AC/online": "0\n"], "unknown"),
    (["mouse/type": "Battery\n", "mouse/scope": "Device\n", "mouse/status": "Discharging\n"], "unknown"),
    ([:], "unknown"),
  ])
  func `use the power state of the supplies`(_ files: [String: String], _ power: String) throws {
    let texts = files.reduce(into: [:]) { $0["sys/class/power_supply/\($1.key)"] = $1.value }
    let system = try System(texts)
    #expect(withExtendedLifetime(system) { system.files.power()?.rawValue ?? "unknown" } == power)
  }

  @Test func `use the given values if there are any`() throws {
    let found = try look([:], network: .none, power: .battery)
    #expect(found.conditions == DeviceConditions(network: .none, power: .battery))
    #expect(found.notices == [])
  }

  @Test func `use NetworkManager's metered state, guessed or not`() {
    #expect(NetworkManager.meaning(of: "yes\n") == true)
    #expect(NetworkManager.meaning(of: "yes (guessed)\n") == true)
    #expect(NetworkManager.meaning(of: "no (guessed)\n") == false)
    #expect(NetworkManager.meaning(of: "unknown\n") == nil)
    #expect(NetworkManager.meaning(of: "") == nil)
  }

  @Test func `can be read on this machine`() {
    var probe = ConditionsProbe(.init(network: .auto, power: .auto))
    let found = probe.look(asksForExpense: true)
    #expect(found.conditions.network != .none)
  }
}
