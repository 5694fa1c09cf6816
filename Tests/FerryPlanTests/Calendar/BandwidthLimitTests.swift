import FerryManifest
import FerryPlan
import Testing

@Suite struct `A timetable of the bandwidth` {
  private static let berlin = CalendarZone(name: "Europe/Berlin", initialOffset: 3600, changes: [])
  private let limit = BandwidthLimit(
    periods: [.init(start: 8 * 60, bytesPerSecond: 1000), .init(start: 18 * 60 + 30, bytesPerSecond: nil)],
    timeZone: "Europe/Berlin")

  private func at(_ hour: Int, _ minute: Int, _ second: Int = 0) -> Instant {
    Instant(wholeSeconds: 1_774_569_600 + hour * 3600 + minute * 60 + second)
  }

  /// The times are in UTC; in Berlin it is an hour later.
  @Test func `applies in its time zone, over midnight`() {
    let rates = [at(0, 0), at(6, 59, 59), at(7, 0), at(17, 29, 59), at(17, 30), at(23, 30)].map {
      limit.bytesPerSecond(at: $0, in: Self.berlin)
    }
    #expect(rates == [nil, nil, 1000, 1000, nil, nil])
  }

  @Test func `has the time of its next change`() {
    #expect(limit.change(after: at(6, 59, 58), in: Self.berlin) == at(7, 0))
    #expect(limit.change(after: at(7, 0), in: Self.berlin) == at(17, 30))
    #expect(limit.change(after: at(18, 0), in: Self.berlin) == at(31, 0))
    let constant = BandwidthLimit(periods: [.init(start: 0, bytesPerSecond: 1)])
    #expect(constant.change(after: at(7, 0), in: .utc) == nil)
    #expect(constant.bytesPerSecond(at: at(7, 0), in: .utc) == 1)
  }
}
