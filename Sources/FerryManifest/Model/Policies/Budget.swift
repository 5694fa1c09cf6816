/// The number of bytes that a kind of network may carry in a window of time.
package struct Budget: Hashable, Codable, Sendable {
  /// A window of the calendar in the budget's time zone.
  package enum Window: String, CaseIterable, Codable, Sendable {
    case hour
    case day
    case week
    case month
  }

  package enum Cutoff: String, CaseIterable, Codable, Sendable {
    /// Items that would exceed the limit are not started; smaller items may be.
    case cautious
    /// Items that have started may finish.
    case soft
    /// At the limit, everything stops and offsets are kept.
    case hard
  }

  /// In bytes.
  package var limit: Int64
  package var per: Window
  /// Default cautious.
  package var cutoff: Cutoff
  /// A name of the IANA time zone database. Default UTC.
  package var timeZone: String

  package init(limit: Int64, per: Window, cutoff: Cutoff = .cautious, timeZone: String = "UTC") {
    self.limit = limit
    self.per = per
    self.cutoff = cutoff
    self.timeZone = timeZone
  }
}

/// The budget of each kind of network; `nil` means no limit.
package struct Budgets: Hashable, Codable, Sendable {
  package var wifi: Budget?
  package var wired: Budget?
  package var cellular: Budget?

  package init(wifi: Budget? = nil, wired: Budget? = nil, cellular: Budget? = nil) {
    self.wifi = wifi
    self.wired = wired
    self.cellular = cellular
  }
}
