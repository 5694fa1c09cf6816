import FerryManifest
import FerryPlan

/// Parses moments on the command line.
package enum MomentText {
  /// Parses RFC 3339 (`2026-03-29T10:00:00+02:00`), or a time without an offset (`2026-03-29T10:00`). A time without
  /// an offset is in the local zone, or in the zone named in brackets after it (`2026-03-29T10:00[Europe/Berlin]`,
  /// RFC 9557).
  ///
  /// - Returns: the moment, and the named zone.
  package static func read(_ text: String) throws(UsageError) -> (moment: Instant, zone: CalendarZone?) {
    var written = text[...]
    var name: String?
    if written.hasSuffix("]"), let bracket = written.firstIndex(of: "[") {
      name = String(written[written.index(after: bracket)...].dropLast())
      written = written[..<bracket]
    }
    guard let time = WrittenMoment(written) else {
      throw UsageError(
        "'\(DisplayPath.shown(text))' is not a moment\nhelp: write it as 2026-03-29T10:00, 2026-03-29T10:00:00+02:00 or "
          + "2026-03-29T10:00[Europe/Berlin]")
    }
    // The zone's offsets must be those around this moment, not around today.
    let about = time.nearest(in: .utc)
    guard let name else { return (try moment(time, text, in: .current(around: about)), nil) }
    guard let zone = CalendarZone(systemName: name, around: about) else {
      throw UsageError(
        "the time zone '\(DisplayPath.shown(name))' is not installed on this machine\nhelp: write a name such as Europe/Berlin"
      )
    }
    return (try moment(time, text, in: zone), zone)
  }

  /// Parses one of several comma-separated moments, as in `--launches`.
  ///
  /// - Parameter zone: the zone of times without an offset.
  /// - Returns: `nil` if the text does not have the form of a moment.
  package static func read(_ text: String, in zone: CalendarZone) throws(UsageError) -> Instant? {
    guard let time = WrittenMoment(text) else { return nil }
    return try moment(time, text, in: zone)
  }

  /// Rejects a timeline if an entry names a day that does not exist or a moment that ferry cannot represent.
  package static func check(_ timeline: ConditionTimeline, in zone: CalendarZone) throws(UsageError) {
    // A time of day has five characters: `08:00`.
    for entry in timeline.entries where entry.from.utf8.count > 5 {
      guard try read(entry.from, in: zone) != nil else {
        throw UsageError(
          "'\(DisplayPath.shown(entry.from))' is not a moment\nhelp: correct its date or time of day")
      }
    }
  }

  private static func moment(
    _ time: WrittenMoment, _ text: String, in zone: CalendarZone
  ) throws(UsageError) -> Instant {
    if let moment = time.moment(in: zone) { return moment }
    throw UsageError(
      "'\(DisplayPath.shown(text))' is outside the range of moments that ferry supports\n"
        + "help: write a moment from \(WrittenMoment.range)")
  }
}
