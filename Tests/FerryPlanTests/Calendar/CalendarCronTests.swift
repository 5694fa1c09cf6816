import FerryPlan
import Testing

/// The meaning of crontab lines.
struct CalendarCronTests {
  /// The runs after a time, with the zone's offset.
  private func runs(_ expression: String, after: String, in zone: CalendarZone, count: Int) throws -> [String]
  {
    let schedule = try CronSchedule(expression)
    var runs: [String] = []
    var last = moment(after)
    while runs.count < count, let next = schedule.next(after: last, in: zone) {
      runs.append(next.rfc3339(in: zone))
      last = next
    }
    return runs
  }

  // 2026-03-02 is a Monday.
  @Test(arguments: [
    ("* * * * *", "2026-03-02T10:15:00Z", ["03-02T10:16", "03-02T10:17"]),
    ("*/15 * * * *", "2026-03-02T10:15:00Z", ["03-02T10:30", "03-02T10:45", "03-02T11:00"]),
    ("*/40 * * * *", "2026-03-02T10:15:00Z", ["03-02T10:40", "03-02T11:00", "03-02T11:40"]),
    ("5-20/7 3 * * *", "2026-03-02T10:15:00Z", ["03-03T03:05", "03-03T03:12", "03-03T03:19", "03-04T03:05"]),
    ("0,30 8-10/2 * * *", "2026-03-02T10:15:00Z", ["03-02T10:30", "03-03T08:00", "03-03T08:30"]),
    ("15 10 * * *", "2026-03-02T10:15:00Z", ["03-03T10:15"]),
    ("15 10 * * *", "2026-03-02T10:14:59.999Z", ["03-02T10:15"]),
    ("0 0 31 * *", "2026-03-02T00:00:00Z", ["03-31T00:00", "05-31T00:00", "07-31T00:00", "08-31T00:00"]),
    ("0 9 * * 1-5", "2026-03-06T09:00:00Z", ["03-09T09:00", "03-10T09:00"]),
    ("0 9 * * Mon-FRI", "2026-03-06T09:00:00Z", ["03-09T09:00"]),
    ("0 9 * * 0", "2026-03-02T00:00:00Z", ["03-08T09:00", "03-15T09:00"]),
    ("0 9 * * 7", "2026-03-02T00:00:00Z", ["03-08T09:00", "03-15T09:00"]),
    ("0 9 * * sun", "2026-03-02T00:00:00Z", ["03-08T09:00", "03-15T09:00"]),
    ("0 9 * * 6-7", "2026-03-02T00:00:00Z", ["03-07T09:00", "03-08T09:00", "03-14T09:00"]),
    ("0 0 1 jan,JUL *", "2026-03-02T00:00:00Z", ["07-01T00:00"]),
    ("0 0 * oct-dec/2 *", "2026-03-02T00:00:00Z", ["10-01T00:00", "10-02T00:00"]),
    // If both day fields are restricted, one match is enough.
    (
      "0 0 13 * 5", "2026-03-02T00:00:00Z",
      [
        "03-06T00:00", "03-13T00:00", "03-20T00:00", "03-27T00:00", "04-03T00:00", "04-10T00:00",
        "04-13T00:00",
      ]
    ),
    // A field that begins with `*` does not count as restricted, so both fields must match.
    ("0 0 */2 * 5", "2026-03-02T00:00:00Z", ["03-13T00:00", "03-27T00:00", "04-03T00:00"]),
    ("0 0 13 * */5", "2026-03-02T00:00:00Z", ["03-13T00:00", "09-13T00:00", "11-13T00:00"]),
    ("@hourly", "2026-03-02T10:15:00Z", ["03-02T11:00", "03-02T12:00"]),
    ("@daily", "2026-03-02T10:15:00Z", ["03-03T00:00", "03-04T00:00"]),
    ("@midnight", "2026-03-02T10:15:00Z", ["03-03T00:00"]),
    ("@weekly", "2026-03-02T10:15:00Z", ["03-08T00:00", "03-15T00:00"]),
    ("@monthly", "2026-03-02T10:15:00Z", ["04-01T00:00", "05-01T00:00"]),
    ("  @daily\t", "2026-03-02T10:15:00Z", ["03-03T00:00"]),
    ("\t0  0 1\t* * ", "2026-03-02T10:15:00Z", ["04-01T00:00"]),
  ])
  func aLineRunsWhenItsFieldsMatch(expression: String, after: String, expected: [String]) throws {
    let found = try runs(expression, after: after, in: .utc, count: expected.count)
    #expect(found == expected.map { "2026-\($0):00Z" })
  }

  @Test(arguments: [
    ("@yearly", "2026-03-02T00:00:00Z", "2027-01-01T00:00:00Z"),
    ("@annually", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
    ("0 0 29 2 *", "2026-03-02T00:00:00Z", "2028-02-29T00:00:00Z"),
    ("0 0 29 2 *", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"),
    // This requires that 29 February is a Sunday, which happens every 28 years, except around 2100.
    ("0 0 29 2 */7", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z"),
    ("59 23 31 12 *", "1677-12-31T23:59:00Z", "1678-12-31T23:59:00Z"),
  ])
  func aLineWaitsForYears(expression: String, after: String, expected: String) throws {
    #expect(try runs(expression, after: after, in: .utc, count: 1) == [expected])
  }

  @Test(arguments: ["0 0 30 2 *", "* * 31 4,6,9,11 *", "0 0 30-31 feb *"])
  func aLineWhoseDayNeverComesHasNoNextTime(expression: String) throws {
    let schedule = try CronSchedule(expression)
    for start in [Instant(nanoseconds: .min), Instant(nanoseconds: 0), .distantFuture] {
      for zone in [CalendarZone.utc, .berlin] { #expect(schedule.next(after: start, in: zone) == nil) }
    }
  }

  @Test(arguments: ["* * * * *", "0 0 * * *", "@yearly"])
  func nothingComesAfterTheEndOfTime(expression: String) throws {
    let schedule = try CronSchedule(expression)
    for zone in [CalendarZone.utc, .berlin, .newYork] {
      #expect(schedule.next(after: .distantFuture, in: zone) == nil)
      let first = try #require(schedule.next(after: Instant(nanoseconds: .min), in: zone))
      #expect(first > Instant(nanoseconds: .min))
    }
    #expect(
      try CronSchedule("* * * * *").next(after: moment("2262-04-11T23:46:00Z"), in: .utc)
        == moment("2262-04-11T23:47:00Z"))
    #expect(try CronSchedule("* * * * *").next(after: moment("2262-04-11T23:47:00Z"), in: .utc) == nil)
  }

  /// Includes the rows of the table in the documentation of `next`.
  @Test(
    arguments: [
      // A fixed time that is skipped runs once, at the moment when the clocks change.
      (
        "30 2 * * *", .berlin, "2026-03-28T12:00:00Z",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
      ),
      (
        "0,30 2 * * *", .berlin, "2026-03-28T12:00:00Z",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]
      ),
      (
        "0 2-3 * * *", .berlin, "2026-03-28T12:00:00Z",
        ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]
      ),
      (
        "30 1-3 * * *", .berlin, "2026-03-28T12:00:00Z",
        ["2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"]
      ),
      (
        "30 2 8 3 *", .newYork, "2026-03-01T12:00:00Z",
        ["2026-03-08T03:00:00-04:00", "2027-03-08T02:30:00-05:00"]
      ),
      (
        "15 2 * * *", .lordHowe, "2026-10-03T00:00:00Z",
        ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"]
      ),
      (
        "0 12 30 12 *", .apia, "2011-12-01T00:00:00Z",
        ["2011-12-31T00:00:00+14:00", "2012-12-30T12:00:00+14:00"]
      ),
      // A fixed time that occurs twice runs the first time.
      (
        "30 2 * * *", .berlin, "2026-10-24T12:00:00Z",
        ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]
      ),
      ("30 2 * * *", .berlin, "2026-10-25T01:15:00Z", ["2026-10-26T02:30:00+01:00"]),
      ("59 2 * * *", .berlin, "2026-10-25T01:15:00Z", ["2026-10-26T02:59:00+01:00"]),
      ("0 3 * * *", .berlin, "2026-10-24T12:00:00Z", ["2026-10-25T03:00:00+01:00"]),
      (
        "30 1 * * *", .newYork, "2026-10-31T12:00:00Z",
        ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"]
      ),
      (
        "45 1 * * *", .lordHowe, "2026-04-04T00:00:00Z",
        ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"]
      ),
      (
        "0 0 * * *", .stJohns, "2010-11-06T12:00:00Z",
        ["2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"]
      ),
      // A wildcard matches the local time that the clock shows.
      (
        "0 * * * *", .berlin, "2026-03-29T00:00:00Z",
        ["2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"]
      ),
      (
        "0 * * * *", .berlin, "2026-10-24T23:30:00Z",
        ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"]
      ),
      (
        "*/30 2 * * *", .berlin, "2026-03-28T12:00:00Z",
        ["2026-03-30T02:00:00+02:00", "2026-03-30T02:30:00+02:00"]
      ),
      (
        "*/30 2 * * *", .berlin, "2026-10-25T00:00:00Z",
        [
          "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00",
          "2026-10-26T02:00:00+01:00",
        ]
      ),
      ("30 */2 * * *", .berlin, "2026-03-28T23:45:00Z", ["2026-03-29T04:30:00+02:00"]),
      (
        "*/20 * * * *", .lordHowe, "2026-10-03T15:05:00Z",
        ["2026-10-04T01:40:00+10:30", "2026-10-04T02:40:00+11:00"]
      ),
      ("@hourly", .berlin, "2026-10-25T00:30:00Z", ["2026-10-25T02:00:00+01:00"]),
    ] as [(String, CalendarZone, String, [String])])
  func aLineFollowsClockChanges(
    expression: String, zone: CalendarZone, after: String, expected: [String]
  ) throws {
    #expect(try runs(expression, after: after, in: zone, count: expected.count) == expected)
  }

  @Test func theCrontabLineOfAMomentRunsThen() throws {
    var random = SeededRandom(seed: 3)
    for zone in [CalendarZone.utc, .berlin, .newYork, .lordHowe] {
      let start = moment("2026-01-01T00:00:00Z")
      for _ in 0..<200 {
        let at = start.advanced(by: .seconds(Int.random(in: 0..<31_536_000, using: &random)))
        let line = try CronSchedule(at.cronFields(in: zone))
        let run = try #require(line.next(after: at.advanced(by: .nanoseconds(-1)), in: zone))
        #expect(run >= at && at.duration(to: run) < .seconds(60))
      }
    }
  }

  @Test func aTimeThatRepeatsDaysLaterIsRememberedToo() throws {
    let set = moment("2026-06-02T02:00:00Z")
    let zone = CalendarZone(
      name: "Test/Far", initialOffset: 82_800, changes: [.init(at: set, offset: -82_800)])
    // Midnight of the 3rd occurred an hour before the change, and occurs again 45 hours after it.
    let next = try CronSchedule("0 0 * * *").next(after: set.advanced(by: .seconds(144_000)), in: zone)
    #expect(next == moment("2026-06-04T23:00:00Z"))
  }

  // `^` marks the position of the mistake.
  @Test(arguments: [
    ("^", "the expression is empty"), ("^  ", "the expression is empty"),
    ("0 0 * *^", "the day of the week is missing: found 4 of 5 fields"),
    ("*/5^", "the hour is missing: found 1 of 5 fields"),
    ("0 0 * * * ^*", "there are 6 fields instead of 5"),
    ("0 0 1 1 * ^/bin/true now", "there are 7 fields instead of 5"),
    ("^60 * * * *", "`60` is not a valid minute"), ("* ^24 * * *", "`24` is not a valid hour"),
    ("* * ^0 * *", "`0` is not a valid day of the month"),
    ("* * 1,5-^32 * *", "`32` is not a valid day of the month"),
    ("* * * ^13 *", "`13` is not a valid month"), ("* * * * ^8", "`8` is not a valid day of the week"),
    ("* * * ^mai *", "`mai` is not a valid month"),
    ("* * * * mon,^tues", "`tues` is not a valid day of the week"),
    ("^jan * * * *", "`jan` is not a valid minute"), ("0 0 ^? * *", "`?` is not a valid day of the month"),
    ("0 0 ^L * *", "`L` is not a valid day of the month"),
    ("0 0 * * ^5#2", "`5#2` is not a valid day of the week"),
    ("^99999999999999999999 * * * *", "`99999999999999999999` is not a valid minute"),
    ("^٣ * * * *", "`٣` is not a valid minute"),
    ("1,^,2 * * * *", "a minute is missing"), ("1,^ * * * *", "a minute is missing"),
    ("^-5 * * * *", "a minute is missing"), ("1-^ * * * *", "a minute is missing"),
    ("^/5 * * * *", "a minute is missing"), ("1-^2-3 * * * *", "`2-3` is not a valid minute"),
    ("^**/2 * * * *", "`**` is not a valid minute"), ("* ^22-2 * * *", "the range `22-2` is reversed"),
    ("* * * * 1,^fri-sun", "the range `fri-sun` is reversed"),
    ("^5/15 * * * *", "a step must follow a range or `*`, not the single value `5`"),
    ("*/^ * * * *", "the step after `/` is missing"), ("*/^0 * * * *", "`0` is not a valid step"),
    ("*/^-1 * * * *", "`-1` is not a valid step"), ("*/^5/5 * * * *", "`5/5` is not a valid step"),
    ("^@never", "`@never` is not supported"), ("^@Daily", "`@Daily` is not supported"),
    ("^@reboot", "`@reboot` does not define a time"),
    (" @daily ^0", "`@daily` must not be followed by other fields"),
  ])
  func aMistakeIsReportedWithItsLocationAndRemedy(marked: String, message: String) throws {
    let ref = try #require(marked.firstIndex(of: "^"))
    let error = try #require(throws: CronError.self) { try CronSchedule(marked.replacing("^", with: "")) }
    #expect(error.message == message)
    #expect(error.column == marked.distance(from: marked.startIndex, to: ref) + 1)
    #expect(!error.help.isEmpty)
  }

  @Test func theRemedyListsTheValidValues() throws {
    func help(_ text: String) throws -> String {
      try #require(throws: CronError.self) { try CronSchedule(text) }.help
    }
    #expect(
      try help("60 * * * *")
        == "write `*`, `*/2`, a number (0 to 59), a range such as `1-5`, or a list such as `1,3`")
    #expect(try help("* * * mai *").contains("1 to 12, or jan to dec"))
    #expect(try help("* * * * 8").contains("0 to 7 (0 and 7 are Sunday), or sun to sat"))
    #expect(try help("* 22-2 * * *") == "write two ranges: `22-23,0-2`")
    #expect(try help("* * * * fri-sun") == "Sunday is 7 at the end of a range: write `5-7`")
    #expect(try help("5/15 * * * *") == "write `5-59/…`, or omit the step")
    #expect(try help("*/0 * * * *") == "a step is a positive whole number, as in `*/15`")
    #expect(try help("@never").hasPrefix("write one of @yearly, @annually, @monthly, "))
    #expect(try help("@daily 1") == "`@daily` is `0 0 * * *`")
  }
}
