import FerryManifest
import FerryPlan

extension Plan {
  /// The time zones that the budgets and bandwidth limits name, with the system's offsets.
  package func zones(around now: Instant) throws(UsageError) -> [String: CalendarZone] {
    var zones: [String: CalendarZone] = [:]
    for name in namedZones where zones[name] == nil {
      guard let zone = CalendarZone(systemName: name, around: now) else {
        throw UnknownTimeZone(name).error
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
    func add(_ name: String, of key: String?, at place: SourceLocation) {
      guard zones[name] == nil else { return }
      if let zone = CalendarZone(systemName: name, around: moment) {
        zones[name] = zone
      } else if unknown.insert(name).inserted {
        let problem = UnknownTimeZone(name, of: key)
        diagnostics.append(Diagnostic(.unknownTimeZone, at: place, problem.message, help: problem.help))
      }
    }
    for scope in Budget.Scope.allCases {
      guard let name = plan.policies.budgets[scope]?.timeZone else { continue }
      add(name, of: nil, at: manifest.places.timeZones[scope.rawValue] ?? manifest.name.location)
    }
    for limit in ([plan.policies.maxBandwidth] + plan.sessions.map(\.maxBandwidth)).compactMap(\.self) {
      add(limit.timeZone, of: "max_bandwidth", at: manifest.name.location)
    }
    return (zones, diagnostics)
  }
}
