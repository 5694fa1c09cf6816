import FerryManifest
import FerryPlan
import Foundation

/// The machine's knowledge of time zones, as data for the plan.
package enum TimeZones {
  /// How far before and after a moment the changes of a zone are looked for.
  private static let years = (before: 2, after: 12)
  /// A change that lasts longer than this is found.
  private static let stride = 7 * 86_400

  /// The zone of `TZ`, else the machine's.
  package static func local(around moment: Instant) -> CalendarZone {
    let name = ProcessInfo.processInfo.environment["TZ"].flatMap { $0.isEmpty ? nil : $0 } ?? "local"
    return zone(name, around: moment) { second in
      var time = time_t(second)
      var parts = tm()
      // localtime_r need not look at TZ by itself (POSIX).
      tzset()
      localtime_r(&time, &parts)
      return Int(parts.tm_gmtoff)
    }
  }

  /// The machine's zone, whatever `TZ` says: the one that cron goes by.
  package static func system(around moment: Instant) -> CalendarZone {
    // Where there is no such link, the machine keeps its zone elsewhere.
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime")
    guard let link, let folder = link.range(of: "zoneinfo/") else { return local(around: moment) }
    return named(String(link[folder.upperBound...]), around: moment) ?? local(around: moment)
  }

  /// A zone of the IANA database; `nil` where the machine has none of this name.
  package static func named(_ name: String, around moment: Instant) -> CalendarZone? {
    if name == "UTC" { return .utc }
    guard let known = TimeZone(identifier: name) else { return nil }
    return zone(name, around: moment) {
      known.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0)))
    }
  }

  private static func zone(
    _ name: String, around moment: Instant, offset: (Int) -> Int
  ) -> CalendarZone {
    let now = Int(moment.nanoseconds / 1_000_000_000)
    var second = now - years.before * 366 * 86_400
    let end = now + years.after * 366 * 86_400
    let initial = offset(second)
    var last = initial
    var changes: [CalendarZone.Change] = []
    while second < end {
      let next = second + stride
      let there = offset(next)
      if there != last {
        // The first second that shows the new offset.
        var (low, high) = (second, next)
        while high - low > 1 {
          let middle = (low + high) / 2
          if offset(middle) == last { low = middle } else { high = middle }
        }
        changes.append(.init(at: Instant(nanoseconds: Int64(high) * 1_000_000_000), offset: there))
        last = there
      }
      second = next
    }
    return CalendarZone(name: name, initialOffset: initial, changes: changes)
  }
}

extension Job {
  /// The zones that the budgets name, and those that this machine does not know.
  package func zones(around moment: Instant) -> (zones: [String: CalendarZone], diagnostics: [Diagnostic]) {
    var zones: [String: CalendarZone] = [:]
    var diagnostics: [Diagnostic] = []
    for network in DeviceConditions.Network.allCases {
      guard let name = plan.policies.budgets[network]?.timeZone, zones[name] == nil else { continue }
      if let zone = TimeZones.named(name, around: moment) {
        zones[name] = zone
      } else {
        diagnostics.append(
          Diagnostic(
            .unknownTimeZone, at: manifest.places.timeZones[network.rawValue] ?? manifest.name.location,
            "this machine knows no time zone \(name.quoted)",
            help: "write a name of the IANA database, such as Europe/Berlin, or install tzdata"))
      }
    }
    return (zones, diagnostics)
  }
}
