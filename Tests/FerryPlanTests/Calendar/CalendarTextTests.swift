import FerryPlan
import Testing

/// Times as text, with a zone.
struct CalendarTextTests {
  @Test(
    arguments: [
      (.berlin, "2026-03-28T23:00:00Z", "2026-03-29T00:00:00+01:00"),
      (.berlin, "2026-03-29T01:00:00.999Z", "2026-03-29T03:00:00+02:00"),
      (.newYork, "2026-03-29T04:00:00Z", "2026-03-29T00:00:00-04:00"),
      (.stJohns, "2026-03-29T04:00:00Z", "2026-03-29T00:30:00-03:30"),
      (.utc, "2026-03-29T00:00:00Z", "2026-03-29T00:00:00Z"),
      (.utc, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z"),
      (.utc, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"),
      // Until 1972, Monrovia was 44 minutes and 30 seconds behind UTC.
      (
        CalendarZone(name: "Africa/Monrovia", initialOffset: -2670, changes: []), "1970-01-01T00:00:00Z",
        "1969-12-31T23:16:00-00:44"
      ),
    ] as [(CalendarZone, String, String)])
  func aMomentIsWrittenWithTheOffsetOfItsZone(zone: CalendarZone, at: String, text: String) throws {
    #expect(moment(at).rfc3339(in: zone) == text)
    let read = try #require(Instant(rfc3339: text))
    #expect(read <= moment(at) && read.duration(to: moment(at)) < .seconds(1))
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00z", 0),
      ("1970-01-01 00:00:01.5+00:00", 1_500_000_000),
      ("1970-01-01T00:00:00.1234567899Z", 123_456_789), ("1969-12-31T23:00:00-01:00", 0),
      ("1970-01-01T05:45:00+05:45", 0), ("1969-12-31T23:59:60Z", 0),
      ("1677-09-21T00:12:43.145224192Z", .min), ("1600-01-01T00:00:00Z", .min),
      ("9999-12-31T23:59:59Z", .max),
    ] as [(String, Int64)])
  func aDateAndTimeOfRFC3339IsRead(text: String, nanoseconds: Int64) {
    #expect(Instant(rfc3339: text)?.nanoseconds == nanoseconds)
    #expect(Instant(written: text, in: .berlin)?.nanoseconds == nanoseconds)
  }

  @Test(arguments: [
    "", "2026", "2026-03-29", "2026-03-29T", "2026-03-29T10", "2026-02-29T10:00:00Z", "2026-13-01T10:00:00Z",
    "2026-03-29T24:00:00Z", "2026-03-29T10:60:00Z", "2026-03-29T10:00:61Z", "2026-03-29T10:00:00.Z",
    "2026-03-29T10:00:00+0100", "2026-03-29T10:00:00+24:00", "2026-03-29T10:00:00+01:60",
    "2026-03-29T10:00:00Z ",
    " 2026-03-29T10:00:00Z", "26-03-29T10:00:00Z", "2026-3-29T10:00:00Z", "2026-03-29T10:00:00 Z",
    "２026-03-29T10:00:00Z",
  ])
  func anythingElseIsRejected(text: String) {
    #expect(Instant(rfc3339: text) == nil)
    #expect(Instant(written: text, in: .utc) == nil)
  }

  @Test(arguments: [
    ("2026-03-29T10:00", "2026-03-29T08:00:00Z"), ("2026-03-29T10:00:30", "2026-03-29T08:00:30Z"),
    ("2026-03-29 10:00:30.5", "2026-03-29T08:00:30.500Z"), ("2026-01-29T10:00", "2026-01-29T09:00:00Z"),
    ("2026-03-29T10:00Z", "2026-03-29T10:00:00Z"), ("2026-03-29T10:00-05:00", "2026-03-29T15:00:00Z"),
  ])
  func aTimeWithoutAnOffsetIsInTheZone(text: String, at: String) {
    #expect(Instant(written: text, in: .berlin) == moment(at))
  }

  @Test(arguments: ["2026-03-29T10:00:00", "2026-03-29T10:00Z", "2026-03-29T10:00"])
  func rfc3339RequiresSecondsAndAnOffset(text: String) {
    #expect(Instant(rfc3339: text) == nil)
  }

  @Test(
    arguments: [
      (.utc, "2026-03-29T04:30:00Z", "30 4 29 3 *"), (.utc, "2026-03-29T04:30:00.001Z", "31 4 29 3 *"),
      (.utc, "2026-12-31T23:59:01Z", "0 0 1 1 *"), (.berlin, "2026-03-29T00:59:30Z", "0 3 29 3 *"),
      (.newYork, "2026-03-29T04:30:00Z", "30 0 29 3 *"), (.lordHowe, "2026-04-04T14:59:59.5Z", "30 1 5 4 *"),
    ] as [(CalendarZone, String, String)])
  func aMomentBecomesTheFieldsOfACrontabLine(zone: CalendarZone, at: String, fields: String) {
    #expect(moment(at).cronFields(in: zone) == fields)
  }

  @Test(arguments: [Int64.min, .min + 1, .max - 1, .max])
  func theEndsOfTimeCanBeWritten(nanoseconds: Int64) {
    let end = Instant(nanoseconds: nanoseconds)
    for zone in [CalendarZone.berlin, .newYork, .lordHowe] {
      #expect(Instant(rfc3339: end.rfc3339(in: zone)) != nil)
      #expect(end.cronFields(in: zone).split(separator: " ").count == 5)
    }
  }
}
