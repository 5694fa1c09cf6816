import FerryManifest
import FerryPlan

extension Plan {
  /// The time zones that the budgets and bandwidth limits name, with the system's offsets.
  package func zones(around now: Instant) throws(UsageError) -> [String: CalendarZone] {
    var zones: [String: CalendarZone] = [:]
    for name in namedZones where zones[name] == nil {
      guard let zone = CalendarZone(systemName: name, around: now) else {
        throw UsageError(
          "the time zone \(name) is not installed on this machine\nhelp: install the package tzdata"
        )
      }
      zones[name] = zone
    }
    return zones
  }

  private var namedZones: [String] {
    Budget.Scope.allCases.compactMap { policies.budgets[$0]?.timeZone }
      + ([policies.maxBandwidth] + sessions.map(\.maxBandwidth)).compactMap { $0?.timeZone }
  }
}

extension Job {
  /// The time zones named in the budgets and bandwidth limits, and a diagnostic for each of them that is not installed
  /// on this machine.
  func zones(around moment: Instant) -> (zones: [String: CalendarZone], diagnostics: [Diagnostic]) {
    var zones: [String: CalendarZone] = [:]
    var diagnostics: [Diagnostic] = []
    var unknown: Set<String> = []
    for scope in Budget.Scope.allCases {
      guard let name = plan.policies.budgets[scope]?.timeZone, zones[name] == nil else { continue }
      if let zone = CalendarZone(systemName: name, around: moment) {
        zones[name] = zone
      } else {
        unknown.insert(name)
        diagnostics.append(
          Diagnostic(
            .unknownTimeZone, at: manifest.places.timeZones[scope.rawValue] ?? manifest.name.location,
            "the time zone \(name.quoted) is not installed on this machine",
            help: "write a name of the IANA database, such as Europe/Berlin, or install tzdata"))
      }
    }
    for limit in ([plan.policies.maxBandwidth] + plan.sessions.map(\.maxBandwidth)).compactMap(\.self)
    where zones[limit.timeZone] == nil {
      if let zone = CalendarZone(systemName: limit.timeZone, around: moment) {
        zones[limit.timeZone] = zone
      } else if unknown.insert(limit.timeZone).inserted {
        diagnostics.append(
          Diagnostic(
            .unknownTimeZone, at: manifest.name.location,
            "the time zone \(limit.timeZone.quoted) of 'max_bandwidth' is not installed on this machine",
            help: "write a name of the IANA database, such as Europe/Berlin, or install tzdata"))
      }
    }
    return (zones, diagnostics)
  }
}
