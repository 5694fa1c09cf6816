import FerryPlan

extension CalendarZone {
  /// Zones with the changes of the time zone database for the years around 2026.
  static let berlin = zone(
    "Europe/Berlin", 3600,
    [
      ("2025-03-30T01:00:00Z", 7200), ("2025-10-26T01:00:00Z", 3600), ("2026-03-29T01:00:00Z", 7200),
      ("2026-10-25T01:00:00Z", 3600), ("2027-03-28T01:00:00Z", 7200), ("2027-10-31T01:00:00Z", 3600),
    ])

  static let newYork = zone(
    "America/New_York", -18_000,
    [
      ("2025-03-09T07:00:00Z", -14_400), ("2025-11-02T06:00:00Z", -18_000), ("2026-03-08T07:00:00Z", -14_400),
      ("2026-11-01T06:00:00Z", -18_000), ("2027-03-14T07:00:00Z", -14_400), ("2027-11-07T06:00:00Z", -18_000),
    ])

  /// A zone that shifts by half an hour.
  static let lordHowe = zone(
    "Australia/Lord_Howe", 39_600,
    [
      ("2026-04-04T15:00:00Z", 37_800), ("2026-10-03T15:30:00Z", 39_600),
    ])

  /// A zone whose clocks were set back at one minute past midnight, to the previous evening.
  static let stJohns = zone(
    "America/St_Johns", -12_600,
    [
      ("2010-03-14T03:31:00Z", -9000), ("2010-11-07T02:31:00Z", -12_600),
    ])

  /// A zone that skipped 2011-12-30.
  static let apia = zone("Pacific/Apia", -36_000, [("2011-12-30T10:00:00Z", 50_400)])

  private static func zone(_ name: String, _ first: Int, _ changes: [(at: String, offset: Int)])
    -> CalendarZone
  {
    CalendarZone(
      name: name, initialOffset: first,
      changes: changes.map { Change(at: Instant(rfc3339: $0.at) ?? .distantFuture, offset: $0.offset) })
  }

  /// A zone with up to six changes within days of `middle`. They may have any size and be close together, which is
  /// worse than in any real zone.
  ///
  /// - Parameter unit: the number of seconds of which all offsets and times are multiples.
  static func random(around middle: Instant, unit: Int, using random: inout SeededRandom) -> CalendarZone {
    let largest = 86_399 / unit
    let changes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
      let distance = Int.random(in: (-5 * 86_400 / unit)...(5 * 86_400 / unit), using: &random)
      return Change(
        at: middle.advanced(by: .seconds(distance * unit)),
        offset: Int.random(in: -largest...largest, using: &random) * unit)
    }
    return CalendarZone(
      name: "Test/Random", initialOffset: Int.random(in: -largest...largest, using: &random) * unit,
      changes: changes)
  }
}

/// The time that an RFC 3339 text names.
func moment(_ text: String) -> Instant {
  guard let instant = Instant(rfc3339: text) else { preconditionFailure("\(text) is no moment") }
  return instant
}
