import FerryManifest

package struct CalendarZone: Hashable, Codable, Sendable { package static let utc = CalendarZone() }
extension Budget.Window {
  func span(containing now: Instant, in zone: CalendarZone) -> Range<Instant> {
    let day: Int64 = 86_400_000_000_000
    let start = now.nanoseconds / day * day
    return Instant(nanoseconds: start)..<Instant(nanoseconds: start + day)
  }
}
