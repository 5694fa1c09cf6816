import FerryManifest
import FerryPlan

extension ConditionTimeline {
  /// The conditions at the start, and their later changes in chronological order. An entry with a full date
  /// applies until a later entry of any kind.
  package func conditions(
    from start: Instant, until end: Instant, in zone: CalendarZone, at first: DeviceConditions
  ) -> (first: DeviceConditions, changes: [(at: Instant, conditions: DeviceConditions)]) {
    // Starting two days early also finds the daily entries that determine the conditions at the start.
    var moments: [(at: Instant, entry: Int)] = []
    let begin = start.advanced(by: .seconds(-2 * 86_400))
    for (index, entry) in entries.enumerated() {
      if let moment = Instant(written: entry.from, in: zone) {
        if moment < end { moments.append((moment, index)) }
      } else {
        moments += days(of: entry.from, from: begin, until: end, in: zone).map { ($0, index) }
      }
    }
    moments.sort { ($0.at, $0.entry) < ($1.at, $1.entry) }
    var present = first
    var changes: [(at: Instant, conditions: DeviceConditions)] = []
    var atStart = first
    for (moment, index) in moments {
      present = entries[index].applied(to: present)
      if moment <= start { atStart = present } else { changes.append((moment, present)) }
    }
    return (atStart, changes)
  }

  private func days(of time: String, from: Instant, until end: Instant, in zone: CalendarZone) -> [Instant] {
    let parts = time.split(separator: ":").compactMap { Int($0) }
    guard parts.count == 2 else { return [] }
    var date = zone.localTime(at: from).date
    var moments: [Instant] = []
    while true {
      let moment = zone.instant(of: LocalTime(date: date, hour: parts[0], minute: parts[1], second: 0))
      guard moment < end else { return moments }
      moments.append(moment)
      date = date.adding(days: 1)
    }
  }
}

extension ConditionTimeline.Entry {
  func applied(to old: DeviceConditions) -> DeviceConditions {
    let kind = network.flatMap { DeviceConditions.Network(rawValue: $0.rawValue) }
    let keepsExpense = kind == nil || kind == old.network
    return DeviceConditions(
      network: kind ?? old.network, isExpensive: isExpensive ?? (keepsExpense && old.isExpensive),
      power: power.flatMap { DeviceConditions.Power(rawValue: $0.rawValue) } ?? old.power)
  }
}
