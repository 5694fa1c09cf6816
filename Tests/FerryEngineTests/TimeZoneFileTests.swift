import FerryPlan
import Testing

@testable import FerryEngine

/// The files of the IANA time zone database, and the rules at their ends.
struct TimeZoneFileTests {
  @Test(
    arguments: [
      ("UTC0", "2026-07-01T00:00:00Z", 0), ("<+0545>-5:45", "2026-07-01T00:00:00Z", 20_700),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2040-03-25T00:59:59Z", 3_600),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2040-03-25T01:00:00Z", 7_200),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2040-10-28T00:59:59Z", 7_200),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2040-10-28T01:00:00Z", 3_600),
      // Southern hemisphere, half an hour of daylight saving time.
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2040-01-01T00:00:00Z", 39_600),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2040-07-01T00:00:00Z", 37_800),
      // In Dublin, standard time applies in summer.
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2040-01-01T00:00:00Z", 0),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2040-07-01T00:00:00Z", 3_600),
      // A time before midnight, and one more than a day after it.
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2040-03-25T00:59:59Z", -7_200),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2040-03-25T01:00:00Z", -3_600),
      ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2040-03-23T23:59:59Z", 7_200),
      ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2040-03-24T00:00:00Z", 10_800),
      // The days of the year: J60 is March 1 in every year; 59 is February 29 in leap years.
      ("A.B0", "2040-01-01T00:00:00Z", nil), ("AAA0BBB,J60/0,J61/0", "2040-03-01T00:00:00Z", 3_600),
      ("AAA0BBB,59/0,60/0", "2040-02-29T00:00:00Z", 3_600),
      ("", "2040-01-01T00:00:00Z", nil), ("CET", "2040-01-01T00:00:00Z", nil),
      ("CET-1CEST", "2040-01-01T00:00:00Z", nil), ("CET-1CEST,M13.1.0,M10.5.0", "2040-01-01T00:00:00Z", nil),
      ("CET-999", "2040-01-01T00:00:00Z", nil), ("<CET-1", "2040-01-01T00:00:00Z", nil),
    ] as [(String, String, Int?)])
  func aRuleAppliesInEveryYear(_ text: String, _ moment: String, _ offset: Int?) throws {
    let second = try #require(Instant(rfc3339: moment)).wholeSeconds
    #expect(TimeZoneRule(Array(text.utf8))?.offset(at: second) == offset)
  }

  private static func number(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func header(
    version: UInt8 = UInt8(ascii: "2"), leaps: Int = 0, times: Int, types: Int
  ) -> [UInt8] {
    let start = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
    return [0, 0, leaps, times, types, 1].reduce(into: start) { $0 += number($1, 4) }
  }

  /// One change at 1,000 s, from an offset of one minute to one of an hour.
  private static func change(timeSize: Int) -> [UInt8] {
    var block = number(1_000, timeSize) + [1]
    for offset in [60, 3_600] { block += number(offset, 4) + [0, 0] }
    return block + [0]
  }

  /// A file with 64-bit times, and a rule.
  private static let file: [UInt8] = {
    var file = header(times: 0, types: 1) + number(0, 4) + [0, 0, 0]
    file += header(times: 1, types: 2) + change(timeSize: 8)
    return file + Array("\n<+02>-2\n".utf8)
  }()

  @Test func changesApplyUntilTheRule() throws {
    let zone = try #require(TimeZoneFile(Self.file))
    #expect(zone.offset(at: 999) == 60)
    #expect(zone.offset(at: 1_000) == 7_200)
    #expect(zone.offset(at: .max / 2) == 7_200)
  }

  @Test func theLastOffsetRemainsIfAFileHasNoRule() throws {
    let first = Self.header(version: 0, times: 1, types: 2) + Self.change(timeSize: 4)
    let second = Array(Self.file.dropLast(8)) + Array("\n".utf8)
    for file in [first, second] {
      let zone = try #require(TimeZoneFile(file))
      #expect(zone.offset(at: 999) == 60)
      #expect(zone.offset(at: 1_000) == 3_600)
      #expect(zone.offset(at: 4_000_000_000) == 3_600)
    }
  }

  @Test func incompleteOrDamagedFilesAreRefusedOrDoNoHarm() {
    for count in Self.file.indices { #expect(TimeZoneFile(Array(Self.file[..<count])) == nil) }
    for index in Self.file.indices {
      var damaged = Self.file
      damaged[index] = 0xFF
      _ = TimeZoneFile(damaged)?.offset(at: 2_000)
    }
  }

  @Test func aFileWithLeapSecondsIsRefused() {
    var file = Self.header(version: 0, leaps: 1, times: 1, types: 2) + Self.change(timeSize: 4)
    file += Self.number(78_796_800, 4) + Self.number(1, 4)
    #expect(TimeZoneFile(file) == nil)
  }

  @Test(arguments: [
    "", "/etc/localtime", "../zoneinfo/UTC", "Europe/", "Europe", "zone.tab", "Europe//Berlin", ".", "Mars",
    "Europe/Berlin ", "Europe/Bérlin", "right/Europe/Berlin",
  ])
  func aNameThatIsNotAZoneIsRefused(_ name: String) { #expect(TimeZoneFile(name) == nil) }
}
