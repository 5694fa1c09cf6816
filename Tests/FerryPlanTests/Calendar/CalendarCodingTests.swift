import FerryPlan
import Foundation
import Testing

/// The encoding of zones and schedules. The journal and reports may contain both.
struct CalendarCodingTests {
  @Test(arguments: [CalendarZone.utc, .berlin, .lordHowe])
  func aZoneIsStoredCompletely(zone: CalendarZone) throws {
    #expect(try JSONDecoder().decode(CalendarZone.self, from: JSONEncoder().encode(zone)) == zone)
  }

  @Test func aDecodedZoneIsNormalizedLikeANewOne() throws {
    let text = """
      {"name": "Test/Untidy", "initialOffset": 9999999, "changes": [
        {"at": {"nanoseconds": 9000000000}, "offset": 60}, {"at": {"nanoseconds": 1000000000}, "offset": 0}]}
      """
    let zone = try JSONDecoder().decode(CalendarZone.self, from: Data(text.utf8))
    #expect(zone.initialOffset == 86_399)
    #expect(zone.changes.map(\.offset) == [0, 60])
  }

  @Test func aScheduleIsStoredAsText() throws {
    let schedule = try CronSchedule("0 9 * * mon-fri")
    let data = try JSONEncoder().encode([schedule])
    #expect(String(decoding: data, as: UTF8.self) == #"["0 9 * * mon-fri"]"#)
    #expect(try JSONDecoder().decode([CronSchedule].self, from: data) == [schedule])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CronSchedule].self, from: Data(#"["0 9 * *"]"#.utf8))
    }
  }
}
