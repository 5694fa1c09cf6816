/// A time zone as data: how far its clocks are from UTC, and when that changes.
///
/// A zone is counted in whole seconds, as time zone files are (RFC 9636): a change within a second
/// counts from the second's beginning.
package struct CalendarZone: Hashable, Sendable {
  /// The clocks are set: `offset` counts from `at` on.
  package struct Change: Hashable, Codable, Sendable {
    package var at: Instant
    /// In seconds east of UTC.
    package var offset: Int

    package init(at: Instant, offset: Int) {
      self.at = at
      self.offset = offset
    }
  }

  /// A name of the IANA time zone database.
  package let name: String
  /// Before the first change, in seconds east of UTC.
  package let initialOffset: Int
  /// In ascending order, each with an offset other than the one before it.
  package let changes: [Change]

  /// No clock is further from UTC than this, in seconds: RFC 3339 writes at most 23:59, real zones end at
  /// +14:00.
  static let largestOffset = 86_399

  /// - Parameters:
  ///   - initialOffset: as all offsets it is brought within a day of UTC.
  ///   - changes: in any order. Of two in the same second the later one in the list counts; one that
  ///     changes nothing is left out.
  package init(name: String, initialOffset: Int, changes: [Change]) {
    self.name = name
    self.initialOffset = Self.clamped(initialOffset)
    // Sorting by place as well keeps the order of those in the same second.
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

  /// In seconds east of UTC.
  package func offset(at instant: Instant) -> Int { offset(ofPeriod: period(at: instant.wholeSeconds)) }

  /// What the zone's clocks show, to the second, rounded down.
  package func localTime(at instant: Instant) -> LocalTime {
    LocalTime(seconds: instant.wholeSeconds + offset(at: instant))
  }

  /// The first moment at which the zone's clocks show this time or a later one, saturating at the ends of
  /// the range.
  ///
  /// A time that is left out when clocks are set forward gives the moment at which they are set, one that
  /// comes twice when they are set back gives its first.
  package func instant(of time: LocalTime) -> Instant { Instant(wholeSeconds: second(of: time)) }

  private static func clamped(_ offset: Int) -> Int { min(max(offset, -largestOffset), largestOffset) }
}

// Moments in whole seconds since 1970, in which nothing overflows, and the periods between two changes.
extension CalendarZone {
  /// The number of the period: 0 is before the first change, 1 after it.
  func period(at second: Int) -> Int {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].at.wholeSeconds <= second { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// In seconds east of UTC.
  func offset(ofPeriod period: Int) -> Int { period == 0 ? initialOffset : changes[period - 1].offset }

  func start(ofPeriod period: Int) -> Int { period == 0 ? .min : changes[period - 1].at.wholeSeconds }

  /// Where the next period begins.
  func end(ofPeriod period: Int) -> Int {
    period == changes.count ? .max : changes[period].at.wholeSeconds
  }

  /// As `instant(of:)`. Of two times the later one never gives the earlier moment.
  func second(of time: LocalTime) -> Int {
    // Before this the time has been reached with no offset.
    var period = period(at: time.seconds - Self.largestOffset)
    while true {
      let second = max(start(ofPeriod: period), time.seconds - offset(ofPeriod: period))
      if second < end(ofPeriod: period) { return second }
      period += 1
    }
  }

  /// The latest time that the clocks have shown up to a moment. It is later than what they show where they
  /// have been set back and have not caught up.
  func latestTime(upTo second: Int) -> LocalTime {
    var period = period(at: second)
    var latest = second + offset(ofPeriod: period)
    // What was shown two days ago is not later with any offset.
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
