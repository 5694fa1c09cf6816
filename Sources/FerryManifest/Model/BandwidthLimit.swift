/// The maximum rate at which requests transfer data, in each direction. It may depend on the time of day.
package struct BandwidthLimit: Hashable, Codable, Sendable {
  /// The limit that applies from a time of day.
  package struct Period: Hashable, Codable, Sendable {
    /// Minutes since midnight.
    package var start: Int
    /// `nil` for no limit.
    package var bytesPerSecond: Int64?

    package init(start: Int, bytesPerSecond: Int64?) {
      self.start = start
      self.bytesPerSecond = bytesPerSecond
    }
  }

  /// At least one period, in ascending order. Before the start of the first one, the last one applies. A limit
  /// that does not depend on the time has one period.
  package var periods: [Period]
  /// A name in the IANA time zone database. Default UTC.
  package var timeZone: String

  package init(periods: [Period], timeZone: String = "UTC") {
    self.periods = periods
    self.timeZone = timeZone
  }

  /// The limit in bytes per second at a time of day, in minutes since midnight; `nil` for no limit.
  package func bytesPerSecond(atMinute minute: Int) -> Int64? {
    (periods.last { $0.start <= minute } ?? periods.last)?.bytesPerSecond
  }
}
