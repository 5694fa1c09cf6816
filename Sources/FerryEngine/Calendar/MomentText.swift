import FerryManifest
import FerryPlan

/// Parses times on the command line.
package enum MomentText {
  /// Parses RFC 3339 (`2026-03-29T10:00:00+02:00`), or a time without an offset (`2026-03-29T10:00`). A time
  /// without an offset is in the local time zone, or in the time zone named in brackets after it
  /// (`2026-03-29T10:00[Europe/Berlin]`, RFC 9557).
  ///
  /// - Returns: the time, and the named time zone; the zone is `nil` if the text names none.
  package static func read(_ text: String) throws(UsageError) -> (moment: Instant, zone: CalendarZone?) {
    var written = text[...]
    var name: String?
    if written.hasSuffix("]"), let bracket = written.firstIndex(of: "[") {
      name = String(written[written.index(after: bracket)...].dropLast())
      written = written[..<bracket]
    }
    guard let time = WrittenMoment(written) else {
      throw UsageError(
        "'\(DisplayPath.shown(text))' is not a valid time\nhelp: write it as 2026-03-29T10:00, 2026-03-29T10:00:00+02:00 or "
          + "2026-03-29T10:00[Europe/Berlin]")
    }
    // The time zone's offsets must be those around this time, not around today.
    let about = time.nearest(in: .utc)
    guard let name else { return (try moment(time, text, in: .current(around: about)), nil) }
    guard let zone = CalendarZone(systemName: name, around: about) else {
      throw UnknownTimeZone(name).error
    }
    return (try moment(time, text, in: zone), zone)
  }

  /// Parses one of several comma-separated times, as in `--launches`.
  ///
  /// - Parameter zone: the time zone for times without an offset.
  /// - Returns: `nil` if the string is not a timestamp.
  package static func read(_ text: String, in zone: CalendarZone) throws(UsageError) -> Instant? {
    guard let time = WrittenMoment(text) else { return nil }
    return try moment(time, text, in: zone)
  }

  /// Rejects a timeline if an entry names a day that does not exist or a time that ferry cannot represent.
  package static func check(_ timeline: ConditionTimeline, in zone: CalendarZone) throws(UsageError) {
    // A time of day has five characters: `08:00`.
    for entry in timeline.entries where entry.from.utf8.count > 5 {
      guard try read(entry.from, in: zone) != nil else {
        throw UsageError(
          "'\(DisplayPath.shown(entry.from))' is not a valid time\nhelp: correct its date or time of day")
      }
    }
  }

  private static func moment(
    _ time: WrittenMoment, _ text: String, in zone: CalendarZone
  ) throws(UsageError) -> Instant {
    if let moment = time.moment(in: zone) { return moment }
    throw UsageError(
      "'\(DisplayPath.shown(text))' is outside the range of times that ferry supports\n"
        + "help: write a time from \(WrittenMoment.range)")
  }
}
