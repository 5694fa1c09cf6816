import FerryPlan
import Testing

@testable import FerryEngine

/// Time zones as the operating system defines them, and times as people write them.
struct SystemZoneTests {
  private func moment(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text)) }

  @Test func clockChangesAreFoundToTheSecond() throws {
    let zone = try #require(
      CalendarZone(systemName: "Europe/Berlin", around: moment("2026-01-01T00:00:00Z")))
    #expect(zone.offset(at: try moment("2026-03-29T00:59:59Z")) == 3600)
    #expect(zone.offset(at: try moment("2026-03-29T01:00:00Z")) == 7200)
    #expect(zone.offset(at: try moment("2026-10-25T01:00:00Z")) == 3600)
  }

  @Test func aCountryThatLeavesItsZoneIsNoticed() throws {
    // Kazakhstan permanently changed from +06:00 to +05:00; no daylight saving time began or ended.
    let zone = try #require(CalendarZone(systemName: "Asia/Almaty", around: moment("2024-01-01T00:00:00Z")))
    #expect(zone.offset(at: try moment("2024-02-29T17:59:59Z")) == 6 * 3600)
    #expect(zone.offset(at: try moment("2024-02-29T18:00:00Z")) == 5 * 3600)
  }

  @Test func utcIsNotReadFromTheDatabase() throws {
    #expect(CalendarZone(systemName: "UTC", around: try moment("2026-01-01T00:00:00Z")) == .utc)
  }

  @Test func anUnknownZoneIsNil() throws {
    #expect(CalendarZone(systemName: "Europe/Atlantis", around: try moment("2026-01-01T00:00:00Z")) == nil)
  }

  @Test(arguments: [
    ("2026-03-29T10:00:00+02:00", "2026-03-29T08:00:00Z"),
    ("2026-03-29T10:00[Europe/Berlin]", "2026-03-29T08:00:00Z"),
    ("2026-03-28T10:00[Europe/Berlin]", "2026-03-28T09:00:00Z"),
    ("2026-03-29 10:00:00.5Z[Asia/Tokyo]", "2026-03-29T10:00:00.5Z"),
  ])
  func aMomentMayNameItsZone(_ text: String, _ meant: String) throws {
    let (moment, zone) = try MomentText.read(text)
    #expect(moment == (try self.moment(meant)))
    #expect(text.contains("[") == (zone != nil))
  }

  @Test(arguments: [
    "", "now", "2026-03-29", "2026-13-01T00:00", "2026-03-29T10:00[Mars]", "2026-03-29T10:00[",
  ])
  func anInvalidMomentIsRejectedWithARemedy(_ text: String) {
    #expect { try MomentText.read(text) } throws: { "\($0)".contains("\nhelp: ") }
  }
}
