import FerryPlan
import Testing

/// Dates and local times of a zone.
struct CalendarZoneTests {
  @Test func eachDayOfEightCenturiesFollowsTheOneBefore() throws {
    var date = try #require(CivilDate(year: 1600, month: 1, day: 1))
    for _ in 0..<(2 * 146_097) {
      let next = date.adding(days: 1)
      let expected =
        date.day < date.daysInMonth
        ? CivilDate(year: date.year, month: date.month, day: date.day + 1) : date.firstOfNextMonth
      // A guard is used because an expectation for each day would take most of the time.
      guard next == expected, next.daysSinceEpoch == date.daysSinceEpoch + 1,
        next.weekday == date.weekday % 7 + 1
      else {
        Issue.record("\(next) follows \(date)")
        return
      }
      date = next
    }
    #expect(date.description == "2400-01-01")
  }

  @Test(arguments: [
    ("1970-01-01", 0, 4), ("1969-12-31", -1, 3), ("2000-02-29", 11_016, 2), ("2026-03-29", 20_541, 7),
    ("2100-03-01", 47_541, 1), ("0000-03-01", -719_468, 3),
  ])
  func aDateIsADayCountedFrom1970(text: String, days: Int, weekday: Int) {
    let date = CivilDate(daysSinceEpoch: days)
    #expect(date.description == text)
    #expect(date.daysSinceEpoch == days)
    #expect(date.weekday == weekday)
  }

  @Test(arguments: [
    (2026, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (10_000, 1, 1),
    (-1, 1, 1), (.max, .max, .max), (.min, 1, .min),
  ])
  func aDayThatDoesNotExistIsNoDate(year: Int, month: Int, day: Int) {
    #expect(CivilDate(year: year, month: month, day: day) == nil)
  }

  @Test(arguments: [
    ("2024-12-31T23:00:00Z", 3600), ("2026-03-29T00:59:59Z", 3600), ("2026-03-29T01:00:00Z", 7200),
    ("2026-10-25T00:59:59.999Z", 7200), ("2026-10-25T01:00:00Z", 3600), ("2200-07-01T00:00:00Z", 3600),
  ])
  func anOffsetCountsFromItsChangeOn(at: String, offset: Int) {
    #expect(CalendarZone.berlin.offset(at: moment(at)) == offset)
  }

  @Test(
    arguments: [
      // In spring, 02:00 to 03:00 is skipped; in autumn, 02:00 to 03:00 occurs twice.
      (.berlin, "2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
      (.berlin, "2026-03-29T02:00:00", "2026-03-29T01:00:00Z"),
      (.berlin, "2026-03-29T02:30:00", "2026-03-29T01:00:00Z"),
      (.berlin, "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
      (.berlin, "2026-03-29T03:00:01", "2026-03-29T01:00:01Z"),
      (.berlin, "2026-10-25T02:00:00", "2026-10-25T00:00:00Z"),
      (.berlin, "2026-10-25T02:59:59", "2026-10-25T00:59:59Z"),
      (.berlin, "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
      (.newYork, "2026-03-08T02:30:00", "2026-03-08T07:00:00Z"),
      (.newYork, "2026-11-01T01:30:00", "2026-11-01T05:30:00Z"),
      (.lordHowe, "2026-10-04T02:15:00", "2026-10-03T15:30:00Z"),
      (.lordHowe, "2026-04-05T01:45:00", "2026-04-04T14:45:00Z"),
      (.apia, "2011-12-30T12:00:00", "2011-12-30T10:00:00Z"),
      (.utc, "2026-03-29T02:30:00", "2026-03-29T02:30:00Z"),
    ] as [(CalendarZone, String, String)])
  func aSkippedTimeIsTheChangeAndARepeatedOneIsTheFirst(zone: CalendarZone, local: String, at: String) {
    #expect(Instant(written: local, in: zone) == moment(at))
  }

  @Test func aLocalTimeIsFoundAtTheFirstMomentThatShowsItOrALaterOne() {
    var random = SeededRandom(seed: 1)
    let middle = moment("2026-06-01T00:00:00Z")
    for _ in 0..<60 {
      let zone = CalendarZone.random(around: middle, unit: 900, using: &random)
      // The range is eight days in each direction, so no change or offset reaches beyond it.
      let axis = (-8 * 96...8 * 96).map { middle.advanced(by: .seconds($0 * 900)) }
      let shown = axis.map { zone.localTime(at: $0) }
      for _ in 0..<40 {
        let ref = Int.random(in: 96..<axis.count - 96, using: &random)
        let expected = shown.firstIndex { $0 >= shown[ref] }.map { axis[$0] }
        #expect(zone.instant(of: shown[ref]) == expected)
      }
    }
  }

  @Test func changesAreSortedAndCleaned() {
    let first = Instant(nanoseconds: 1_000_000_000)
    let second = Instant(nanoseconds: 9_000_000_000)
    let third = Instant(nanoseconds: 10_000_000_000)
    let zone = CalendarZone(
      name: "Test/Untidy", initialOffset: .max,
      changes: [
        .init(at: third, offset: 60), .init(at: second, offset: 7), .init(at: second, offset: 60),
        .init(at: first, offset: .min),
      ])
    #expect(zone.initialOffset == 86_399)
    #expect(zone.changes == [.init(at: first, offset: -86_399), .init(at: second, offset: 60)])
  }
}
