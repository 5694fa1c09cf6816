import FerryPlan
import Testing

@testable import FerryEngine

/// The files of the IANA time zone database, and the rules at their ends.
struct TimeZoneFileTests {
  @Test func utcRequiresNoFile() throws {
    let zone = try #require(TimeZoneFile("UTC"))
    #expect(zone.offset(at: 0) == 0 && zone.offset(at: 2_000_000_000) == 0)
  }

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

  /// A file with 64-bit times: one change at 1,000 s to an offset of one hour, and a rule.
  private static let file: [UInt8] = {
    func number(_ value: Int, _ size: Int) -> [UInt8] {
      (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func header(times: Int, types: Int) -> [UInt8] {
      var header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
      for count in [0, 0, 0, times, types, 1] { header += number(count, 4) }
      return header
    }
    var file = header(times: 0, types: 1) + number(0, 4) + [0, 0, 0]
    file += header(times: 1, types: 2) + number(1_000, 8) + [1]
    file += number(60, 4) + [0, 0] + number(3_600, 4) + [0, 0] + [0]
    return file + Array("\n<+02>-2\n".utf8)
  }()

  @Test func changesApplyUntilTheRule() throws {
    let zone = try #require(TimeZoneFile(Self.file))
    #expect(zone.offset(at: 999) == 60)
    #expect(zone.offset(at: 1_000) == 7_200)
    #expect(zone.offset(at: .max / 2) == 7_200)
  }

  @Test func incompleteOrDamagedFilesDoNoHarm() {
    for count in Self.file.indices { _ = TimeZoneFile(Array(Self.file[..<count]))?.offset(at: 2_000) }
    #expect(TimeZoneFile([]) == nil)
    #expect(TimeZoneFile(Array("TZif2".utf8)) == nil)
    #expect(TimeZoneFile(Array(Self.file.prefix(80))) == nil)
    for index in Self.file.indices {
      var damaged = Self.file
      damaged[index] = 0xFF
      _ = TimeZoneFile(damaged)?.offset(at: 2_000)
    }
  }

  @Test(arguments: [
    "", "/etc/localtime", "../zoneinfo/UTC", "Europe/", "Europe", "zone.tab", "Europe//Berlin", ".", "Mars",
    "Europe/Berlin ", "Europe/Bérlin",
  ])
  func aNameThatIsNotAZoneIsRefused(_ name: String) { #expect(TimeZoneFile(name) == nil) }
}
