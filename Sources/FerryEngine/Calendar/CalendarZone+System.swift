import FerryPlan
import Foundation

// Loads the offsets of a time zone from the system, for two years before and twelve years after a given time.
extension CalendarZone {
  private static let years = (before: 2, after: 12)
  /// The minimum number of seconds for which an offset must apply to be detected.
  private static let stride = 7 * 86_400

  /// A time zone of the IANA time zone database. UTC, the default of manifests, does not require the database.
  ///
  /// - Returns: `nil` if the machine's database does not contain the name.
  package init?(systemName name: String, around moment: Instant) {
    if name == Self.utc.name {
      self = .utc
      return
    }
    guard let zone = TimeZoneFile(name) else { return nil }
    self.init(name: name, around: moment) { zone.offset(at: $0) }
  }

  /// The time zone of `TZ`, in any of its forms (POSIX.1-2017 §8.3); without `TZ`, the machine's time zone.
  package static func current(around moment: Instant) -> CalendarZone {
    let name = ProcessInfo.processInfo.environment["TZ"].flatMap { $0.isEmpty ? nil : $0 } ?? "local"
    // Unlike localtime(3), localtime_r(3) is not required to read TZ.
    tzset()
    return CalendarZone(name: name, around: moment) { second in
      var time = time_t(second)
      var parts = tm()
      localtime_r(&time, &parts)
      return Int(parts.tm_gmtoff)
    }
  }

  /// The machine's time zone, regardless of `TZ`. cron uses this time zone.
  package static func machine(around moment: Instant) -> CalendarZone {
    // If `/etc/localtime` is not a link, the name of the machine's time zone is unknown.
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime")
    guard let link, let folder = link.range(of: "zoneinfo/") else { return current(around: moment) }
    return CalendarZone(systemName: String(link[folder.upperBound...]), around: moment)
      ?? current(around: moment)
  }

  /// Samples the offset at regular intervals, because the system libraries report daylight saving time transitions,
  /// but not the transitions when a country changes its time zone.
  private init(name: String, around moment: Instant, offset: (Int) -> Int) {
    let now = moment.wholeSeconds
    let end = now + Self.years.after * 366 * 86_400
    var second = now - Self.years.before * 366 * 86_400
    let initial = offset(second)
    var last = initial
    var changes: [Change] = []
    while second < end {
      let next = second + Self.stride
      let there = offset(next)
      if there != last {
        // Find the first second with the new offset.
        var (low, high) = (second, next)
        while high - low > 1 {
          let middle = (low + high) / 2
          if offset(middle) == last { low = middle } else { high = middle }
        }
        changes.append(Change(at: Instant(wholeSeconds: high), offset: there))
        last = there
      }
      second = next
    }
    self.init(name: name, initialOffset: initial, changes: changes)
  }
}
