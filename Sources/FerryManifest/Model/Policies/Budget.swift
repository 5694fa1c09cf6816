/// The number of bytes that a kind of network, or all networks together, may carry in a window of time.
package struct Budget: Hashable, Codable, Sendable {
  /// The networks whose bytes count against a budget.
  package enum Scope: String, CaseIterable, Codable, Sendable {
    case wifi
    case wired
    case cellular
    /// All networks together.
    case any
  }

  /// The sessions that a budget limits. The bytes of all sessions count.
  package enum Binding: String, CaseIterable, Codable, Sendable {
    case all
    /// The budget limits only discretionary sessions, as in URLSession.
    case discretionary
  }

  /// A window of the calendar in the budget's time zone.
  package enum Window: String, CaseIterable, Codable, Sendable {
    case hour
    case day
    case week
    case month
  }

  package enum Cutoff: String, CaseIterable, Codable, Sendable {
    /// An item that would exceed the limit does not start, but a smaller item may.
    case cautious
    /// Items that have started may finish.
    case soft
    /// At the limit, all transfers stop and wait for the next window.
    case hard
  }

  /// The limit in bytes.
  package var limit: Int64
  package var per: Window
  /// The effect of reaching the limit; `cautious` by default.
  package var cutoff: Cutoff
  /// A name in the IANA time zone database. Default UTC.
  package var timeZone: String
  /// The sessions that the budget limits; `all` by default, `discretionary` with the profiles `ios`, `ios7`
  /// and `ios13`.
  package var binds: Binding

  package init(
    limit: Int64, per: Window, cutoff: Cutoff = .cautious, timeZone: String = "UTC", binds: Binding = .all
  ) {
    self.limit = limit
    self.per = per
    self.cutoff = cutoff
    self.timeZone = timeZone
    self.binds = binds
  }
}

/// The budgets of each kind of network, and of all networks together; `nil` means no limit.
package struct Budgets: Hashable, Codable, Sendable {
  package var wifi: Budget?
  package var wired: Budget?
  package var cellular: Budget?
  package var any: Budget?

  package init(
    wifi: Budget? = nil, wired: Budget? = nil, cellular: Budget? = nil, any: Budget? = nil
  ) {
    self.wifi = wifi
    self.wired = wired
    self.cellular = cellular
    self.any = any
  }

  package subscript(scope: Budget.Scope) -> Budget? {
    switch scope {
    case .wifi: wifi
    case .wired: wired
    case .cellular: cellular
    case .any: any
    }
  }
}
