import FerryPlan

/// Formats the time at which a run would next have work.
package enum NextText {
  package static func text(_ next: NextRun, in zone: CalendarZone) -> String {
    switch next.when {
    case .now: "now"
    case .later: next.moment?.rfc3339(in: zone) ?? ""
    case .event:
      "nothing to do until something changes: \(next.reason.map { ReasonText.text($0, in: zone) } ?? "")"
    }
  }
}
