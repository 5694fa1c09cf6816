/// A time zone as data: its offsets from UTC, and the times at which they change.
///
/// All times are whole seconds, as in time zone files (RFC 9636): a change within a second applies from the
/// start of that second.
package struct CalendarZone: Hashable, Sendable {
  /// A change of the clocks: `offset` applies starting at `at`.
  package struct Change: Hashable, Codable, Sendable {
    package var at: Instant
    /// The offset in seconds east of UTC.
    package var offset: Int

    package init(at: Instant, offset: Int) {
      self.at = at
      self.offset = offset
    }
  }

  /// A name from the IANA time zone database.
  package let name: String
  /// The offset before the first change, in seconds east of UTC.
  package let initialOffset: Int
  /// The changes in ascending order, each with a different offset from the previous one.
  package let changes: [Change]

  /// The largest distance from UTC, in seconds: RFC 3339 allows at most 23:59, and present time zones are at
  /// most 14 hours from UTC.
  static let largestOffset = 86_399

  /// - Parameters:
  ///   - initialOffset: clamped to less than a day from UTC, as are all offsets.
  ///   - changes: in any order. If two changes are in the same second, the later one in the list applies. A
  ///     change without effect is omitted.
  package init(name: String, initialOffset: Int, changes: [Change]) {
    self.name = name
    self.initialOffset = Self.clamped(initialOffset)
    // Sorting also by index preserves the order of changes in the same second.
    let ordered = changes.enumerated().sorted {
      ($0.element.at.wholeSeconds, $0.offset) < ($1.element.at.wholeSeconds, $1.offset)
    }
    var kept: [Change] = []
    for (place, entry) in ordered.enumerated() {
      let second = entry.element.at.wholeSeconds
      if place + 1 < ordered.count, ordered[place + 1].element.at.wholeSeconds == second { continue }
      let offset = Self.clamped(entry.element.offset)
      if offset != kept.last?.offset ?? self.initialOffset {
        kept.append(Change(at: entry.element.at, offset: offset))
      }
    }
    self.changes = kept
  }

  package static let utc = CalendarZone(name: "UTC", initialOffset: 0, changes: [])

  /// The offset in seconds east of UTC.
  package func offset(at instant: Instant) -> Int { offset(ofPeriod: period(at: instant.wholeSeconds)) }

  /// The local time in the time zone, rounded down to the second.
  package func localTime(at instant: Instant) -> LocalTime {
    LocalTime(seconds: instant.wholeSeconds + offset(at: instant))
  }

  /// The first instant at which the clocks show this time or a later one, saturating at the ends of the
  /// range.
  ///
  /// For a time that is skipped when clocks are set forward, the result is the instant at which they are set.
  /// For a time that occurs twice when clocks are set back, the result is the first occurrence.
  package func instant(of time: LocalTime) -> Instant { Instant(wholeSeconds: second(of: time)) }

  private static func clamped(_ offset: Int) -> Int { min(max(offset, -largestOffset), largestOffset) }
}

// Computations that cannot overflow, in whole seconds since 1970, and lookups of the periods between changes.
extension CalendarZone {
  /// The index of the period that contains a time: period 0 ends at the first change, and period 1 begins
  /// there.
  func period(at second: Int) -> Int {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].at.wholeSeconds <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The offset in seconds east of UTC.
  func offset(ofPeriod period: Int) -> Int { period == 0 ? initialOffset : changes[period - 1].offset }

  func start(ofPeriod period: Int) -> Int { period == 0 ? .min : changes[period - 1].at.wholeSeconds }

  /// The start of the next period.
  func end(ofPeriod period: Int) -> Int {
    period == changes.count ? .max : changes[period].at.wholeSeconds
  }

  /// Like `instant(of:)`, in whole seconds. A later local time never results in an earlier instant.
  func second(of time: LocalTime) -> Int {
    // Whatever the offset is, the clocks do not show the time before this period.
    var period = period(at: time.seconds - Self.largestOffset)
    while true {
      let second = max(start(ofPeriod: period), time.seconds - offset(ofPeriod: period))
      if second < end(ofPeriod: period) { return second }
      period += 1
    }
  }

  /// The latest local time that the clocks have shown up to an instant. After the clocks are set back, this is
  /// later than the current local time until the clocks show it again.
  func latestTime(upTo second: Int) -> LocalTime {
    var period = period(at: second)
    var latest = second + offset(ofPeriod: period)
    // Times shown more than two days ago are earlier than the current local time, regardless of the offsets.
    while period > 0, start(ofPeriod: period) > second - 2 * Self.largestOffset {
      latest = max(latest, start(ofPeriod: period) - 1 + offset(ofPeriod: period - 1))
      period -= 1
    }
    return LocalTime(seconds: latest)
  }
}

extension CalendarZone: Codable {
  private enum CodingKeys: String, CodingKey {
    case name
    case initialOffset
    case changes
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      initialOffset: try container.decode(Int.self, forKey: .initialOffset),
      changes: try container.decode([Change].self, forKey: .changes))
  }
}
