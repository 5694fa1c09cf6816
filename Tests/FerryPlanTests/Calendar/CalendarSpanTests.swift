import FerryManifest
import FerryPlan
import Testing

/// The calendar windows of budgets.
struct CalendarSpanTests {
  private func check(
    _ window: Budget.Window, _ zone: CalendarZone, at: String, is from: String, _ to: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let span = window.span(containing: moment(at), in: zone)
    #expect(span.lowerBound.rfc3339(in: zone) == from, sourceLocation: sourceLocation)
    #expect(span.upperBound.rfc3339(in: zone) == to, sourceLocation: sourceLocation)
  }

  private func length(_ span: Range<Instant>) -> Duration { span.lowerBound.duration(to: span.upperBound) }

  @Test(
    arguments: [
      (.berlin, "2026-03-28", 24), (.berlin, "2026-03-29", 23), (.berlin, "2026-03-30", 24),
      (.berlin, "2026-10-24", 24), (.berlin, "2026-10-25", 25), (.berlin, "2026-10-26", 24),
      (.newYork, "2026-03-08", 23), (.newYork, "2026-11-01", 25), (.lordHowe, "2026-04-05", 24.5),
      (.lordHowe, "2026-10-04", 23.5), (.utc, "2026-03-29", 24),
    ] as [(CalendarZone, String, Double)])
  func aDayHasTheLengthThatItsClockChangesGiveIt(zone: CalendarZone, date: String, hours: Double) throws {
    let noon = try #require(Instant(written: "\(date)T12:00", in: zone))
    let day = Budget.Window.day.span(containing: noon, in: zone)
    #expect(day.lowerBound == Instant(written: "\(date)T00:00", in: zone))
    #expect(length(day) == .seconds(fraction: hours * 3600))
  }

  @Test func windowsAreThoseOfTheZone() {
    let at = "2026-03-29T22:30:00Z"
    check(.day, .utc, at: at, is: "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z")
    check(.day, .berlin, at: at, is: "2026-03-30T00:00:00+02:00", "2026-03-31T00:00:00+02:00")
    check(.day, .newYork, at: at, is: "2026-03-29T00:00:00-04:00", "2026-03-30T00:00:00-04:00")
    check(.hour, .utc, at: at, is: "2026-03-29T22:00:00Z", "2026-03-29T23:00:00Z")
    check(
      .hour, .lordHowe, at: "2026-06-01T00:15:00Z", is: "2026-06-01T10:00:00+10:30",
      "2026-06-01T11:00:00+10:30")
  }

  @Test func weeksBeginOnMondayAndMonthsOnTheirFirst() {
    let at = "2026-12-31T23:30:00+01:00"
    check(.hour, .berlin, at: at, is: "2026-12-31T23:00:00+01:00", "2027-01-01T00:00:00+01:00")
    check(.day, .berlin, at: at, is: "2026-12-31T00:00:00+01:00", "2027-01-01T00:00:00+01:00")
    check(.week, .berlin, at: at, is: "2026-12-28T00:00:00+01:00", "2027-01-04T00:00:00+01:00")
    check(.month, .berlin, at: at, is: "2026-12-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00")
    // At this time, the next year has already begun further east.
    check(.week, .lordHowe, at: at, is: "2026-12-28T00:00:00+11:00", "2027-01-04T00:00:00+11:00")
    check(.month, .lordHowe, at: at, is: "2027-01-01T00:00:00+11:00", "2027-02-01T00:00:00+11:00")
    check(
      .week, .berlin, at: "2026-03-29T23:59:59+02:00", is: "2026-03-23T00:00:00+01:00",
      "2026-03-30T00:00:00+02:00")
    check(
      .week, .berlin, at: "2026-03-30T00:00:00+02:00", is: "2026-03-30T00:00:00+02:00",
      "2026-04-06T00:00:00+02:00")
    check(
      .month, .berlin, at: "2026-10-25T02:30:00+01:00", is: "2026-10-01T00:00:00+02:00",
      "2026-11-01T00:00:00+01:00")
    check(.month, .utc, at: "2028-02-29T12:00:00Z", is: "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z")
  }

  @Test func anHourThatComesTwiceIsTwoWindows() {
    check(
      .hour, .berlin, at: "2026-10-25T00:30:00Z", is: "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"
    )
    check(
      .hour, .berlin, at: "2026-10-25T01:30:00Z", is: "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"
    )
    check(
      .hour, .berlin, at: "2026-03-29T00:30:00Z", is: "2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"
    )
    // An hour in which the clocks shift by a full hour keeps its length.
    check(
      .hour, .stJohns, at: "2010-11-07T02:30:30Z", is: "2010-11-07T00:00:00-02:30",
      "2010-11-07T00:00:00-03:30")
  }

  /// These are the rows of the table in the documentation of `span`, and the change in spring.
  @Test func aShiftByHalfAnHourEndsAnHour() {
    check(
      .hour, .lordHowe, at: "2026-04-04T14:45:00Z", is: "2026-04-05T01:00:00+11:00",
      "2026-04-05T01:30:00+10:30")
    check(
      .hour, .lordHowe, at: "2026-04-04T15:00:00Z", is: "2026-04-05T01:30:00+10:30",
      "2026-04-05T02:00:00+10:30")
    check(
      .hour, .lordHowe, at: "2026-04-04T15:30:00Z", is: "2026-04-05T02:00:00+10:30",
      "2026-04-05T03:00:00+10:30")
    check(
      .hour, .lordHowe, at: "2026-10-03T15:29:59Z", is: "2026-10-04T01:00:00+10:30",
      "2026-10-04T02:30:00+11:00")
    check(
      .hour, .lordHowe, at: "2026-10-03T15:30:00Z", is: "2026-10-04T02:30:00+11:00",
      "2026-10-04T03:00:00+11:00")
  }

  @Test func aDayThatHasBegunDoesNotBeginAgain() {
    // 7 November began. One minute later, the clocks were set back to 23:01 on 6 November.
    for at in [
      "2010-11-07T02:30:00Z", "2010-11-07T02:31:00Z", "2010-11-07T03:29:59Z", "2010-11-07T03:30:00Z",
    ] {
      check(.day, .stJohns, at: at, is: "2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30")
    }
    check(
      .day, .stJohns, at: "2010-11-07T02:29:59Z", is: "2010-11-06T00:00:00-02:30", "2010-11-07T00:00:00-02:30"
    )
  }

  @Test func aSkippedDayHasNoWindow() {
    check(
      .day, .apia, at: "2011-12-30T09:59:59Z", is: "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00")
    check(
      .day, .apia, at: "2011-12-30T10:00:00Z", is: "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00")
  }

  @Test(arguments: Budget.Window.allCases)
  func windowsCoverAllTimeAndDoNotOverlap(window: Budget.Window) {
    var random = SeededRandom(seed: 7)
    let middle = moment("2026-12-31T12:00:00Z")
    for round in 0..<300 {
      let unit = [1, 60, 900, 1800, 3600][round % 5]
      let zone = CalendarZone.random(around: middle, unit: unit, using: &random)
      for _ in 0..<20 {
        let nanoseconds = Int64.random(in: -700_000_000_000_000...700_000_000_000_000, using: &random)
        let at = middle.advanced(by: .nanoseconds(nanoseconds))
        let span = window.span(containing: at, in: zone)
        let last = span.upperBound.advanced(by: .nanoseconds(-1))
        let next = window.span(containing: span.upperBound, in: zone)
        let before = window.span(containing: span.lowerBound.advanced(by: .nanoseconds(-1)), in: zone)
        guard span.contains(at), window.span(containing: span.lowerBound, in: zone) == span,
          window.span(containing: last, in: zone) == span, next.lowerBound == span.upperBound,
          before.upperBound == span.lowerBound, window != .hour || length(span) <= .seconds(3600)
        else {
          Issue.record("\(window) at \(at) in \(zone): \(before) \(span) \(next)")
          return
        }
      }
    }
  }

  @Test(arguments: Budget.Window.allCases)
  func windowsEndWithTheRangeOfInstants(window: Budget.Window) {
    let ends = [Int64.min, .min + 1, -1, 0, .max - 1].map { Instant(nanoseconds: $0) }
    let changes = ends.enumerated().map {
      CalendarZone.Change(at: $0.element, offset: $0.offset * 20_000 - 40_000)
    }
    let zones = [.utc, .berlin, CalendarZone(name: "Test/Ends", initialOffset: .min, changes: changes)]
    for zone in zones {
      for at in ends { #expect(window.span(containing: at, in: zone).contains(at)) }
      let last = window.span(containing: .distantFuture, in: zone)
      #expect(last.upperBound == .distantFuture)
      #expect(last == window.span(containing: Instant(nanoseconds: .max - 1), in: zone))
      #expect(
        window.span(containing: Instant(nanoseconds: .min), in: zone).lowerBound == Instant(nanoseconds: .min)
      )
    }
  }
}
