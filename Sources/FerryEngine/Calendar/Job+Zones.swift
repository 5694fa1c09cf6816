import FerryManifest
import FerryPlan

extension Budgets {
  /// The time zones named in the budgets, with the system's offsets.
  package func zones(around now: Instant) throws(UsageError) -> [String: CalendarZone] {
    var zones: [String: CalendarZone] = [:]
    for budget in [wifi, wired, cellular].compactMap(\.self) where zones[budget.timeZone] == nil {
      guard let zone = CalendarZone(systemName: budget.timeZone, around: now) else {
        throw UsageError(
          "the time zone \(budget.timeZone) is not installed on this machine\nhelp: install the package tzdata"
        )
      }
      zones[budget.timeZone] = zone
    }
    return zones
  }
}

extension Job {
  /// The time zones named in the budgets, and a diagnostic for each time zone that is not installed on this
  /// machine.
  func zones(around moment: Instant) -> (zones: [String: CalendarZone], diagnostics: [Diagnostic]) {
    var zones: [String: CalendarZone] = [:]
    var diagnostics: [Diagnostic] = []
    for scope in Budget.Scope.allCases {
      guard let name = plan.policies.budgets[scope]?.timeZone, zones[name] == nil else { continue }
      if let zone = CalendarZone(systemName: name, around: moment) {
        zones[name] = zone
      } else {
        diagnostics.append(
          Diagnostic(
            .unknownTimeZone, at: manifest.places.timeZones[scope.rawValue] ?? manifest.name.location,
            "the time zone \(name.quoted) is not installed on this machine",
            help: "write a name of the IANA database, such as Europe/Berlin, or install tzdata"))
      }
    }
    return (zones, diagnostics)
  }
}
