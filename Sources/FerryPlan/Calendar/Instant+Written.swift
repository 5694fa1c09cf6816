extension Instant {
  /// Parses an RFC 3339 date and time (§5.6), with any fraction and any offset; a space is accepted instead
  /// of the `T`.
  ///
  /// Saturates at the ends of the range, because servers may send any year. A leap second (60) is treated as
  /// the first second of the next minute.
  /// - Returns: `nil` for any other text, such as a day that does not exist.
  package init?(rfc3339 text: some StringProtocol) {
    guard let written = WrittenMoment(text), written.hasSeconds, written.offset != nil else { return nil }
    self = written.nearest(in: .utc)
  }

  /// Parses a time as `WrittenMoment` does, saturating at the ends of the range.
  package init?(written text: some StringProtocol, in zone: CalendarZone) {
    guard let written = WrittenMoment(text) else { return nil }
    self = written.nearest(in: zone)
  }
}
