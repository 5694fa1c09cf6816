extension Instant {
  /// Reads a date and time of RFC 3339 (§5.6), with any fraction and any offset; a space may stand for the
  /// `T`.
  ///
  /// Saturates at the ends of the range, as servers write any year; a leap second (60) counts as the next
  /// minute's first.
  /// - Returns: `nil` for anything else, such as a day that does not exist.
  package init?(rfc3339 text: some StringProtocol) {
    guard let written = WrittenMoment(text), written.hasSeconds, written.offset != nil else { return nil }
    self = written.nearest(in: .utc)
  }

  /// Reads a time as `WrittenMoment` does, saturating at the ends of the range.
  package init?(written text: some StringProtocol, in zone: CalendarZone) {
    guard let written = WrittenMoment(text) else { return nil }
    self = written.nearest(in: zone)
  }
}
