import FerryManifest
import FerryPlan
import Foundation

extension CalendarZone {
  /// What the system's time zone database says of the years around `now`: two before and ten after it.
  ///
  /// - Returns: `nil` for a name that it does not know.
  package init?(systemName name: String, around now: Instant) {
    guard let zone = TimeZone(identifier: name) else { return nil }
    self.init(zone, name: name, around: now)
  }

  /// The machine's own zone.
  package static func current(around now: Instant) -> CalendarZone {
    CalendarZone(TimeZone.current, name: TimeZone.current.identifier, around: now)
  }

  private init(_ zone: TimeZone, name: String, around now: Instant) {
    let year: TimeInterval = 366 * 86_400
    let middle = Double(now.nanoseconds) / 1e9
    var date = Date(timeIntervalSince1970: middle - 2 * year)
    let end = Date(timeIntervalSince1970: middle + 10 * year)
    let initial = zone.secondsFromGMT(for: date)
    var changes: [Change] = []
    while let next = zone.nextDaylightSavingTimeTransition(after: date), next > date, next < end {
      let seconds = Int64(next.timeIntervalSince1970.rounded())
      changes.append(
        Change(
          at: Instant(nanoseconds: seconds * 1_000_000_000),
          offset: zone.secondsFromGMT(for: next.addingTimeInterval(1))))
      date = next
    }
    self.init(name: name, initialOffset: initial, changes: changes)
  }
}

extension Budgets {
  /// The time zones that they name, as the system knows them.
  package func zones(around now: Instant) throws(UsageError) -> [String: CalendarZone] {
    var zones: [String: CalendarZone] = [:]
    for budget in [wifi, wired, cellular].compactMap(\.self) where zones[budget.timeZone] == nil {
      guard let zone = CalendarZone(systemName: budget.timeZone, around: now) else {
        throw UsageError(
          "this machine knows no time zone \(budget.timeZone)\nhelp: install the package tzdata")
      }
      zones[budget.timeZone] = zone
    }
    return zones
  }
}
