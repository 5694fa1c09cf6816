/// The time on a wall clock: a date and a time of day, to the second, without a time zone.
package struct LocalTime: Hashable, Sendable {
  /// Seconds since 1970-01-01T00:00:00 on the same clock, as if the clock had never been changed.
  let seconds: Int

  init(seconds: Int) { self.seconds = seconds }

  /// - Parameters:
  ///   - hour: 0 to 23; `minute` and `second` are 0 to 59. Larger values carry over, so that second 60 (a
  ///     leap second) is the first second of the next minute.
  package init(date: CivilDate, hour: Int = 0, minute: Int = 0, second: Int = 0) {
    seconds = date.daysSinceEpoch * Self.secondsPerDay + hour * 3600 + minute * 60 + second
  }

  package var date: CivilDate { CivilDate(daysSinceEpoch: seconds.floorDivided(by: Self.secondsPerDay)) }

  package var hour: Int { secondOfDay / 3600 }

  package var minute: Int { secondOfDay / 60 % 60 }

  package var second: Int { secondOfDay % 60 }

  /// The first whole minute at or after this time.
  var roundedUpToMinute: LocalTime { LocalTime(seconds: (seconds + 59).floorDivided(by: 60) * 60) }

  private var secondOfDay: Int { seconds.dividedWithFloor(by: Self.secondsPerDay).remainder }

  private static let secondsPerDay = 86_400
}

extension LocalTime: Comparable {
  package static func < (a: Self, b: Self) -> Bool { a.seconds < b.seconds }
}

extension LocalTime: CustomStringConvertible {
  /// `2026-03-29T10:15:00`.
  package var description: String {
    "\(date)T\(hour.padded(to: 2)):\(minute.padded(to: 2)):\(second.padded(to: 2))"
  }
}
