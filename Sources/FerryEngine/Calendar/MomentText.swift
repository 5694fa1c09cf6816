import FerryPlan

/// A moment as people write it on the command line.
package enum MomentText {
  /// Reads RFC 3339 (`2026-03-29T10:00:00+02:00`), or a time without an offset (`2026-03-29T10:00`), which is the
  /// local zone's, or that of a name in brackets behind it (`2026-03-29T10:00[Europe/Berlin]`, RFC 9557).
  ///
  /// - Returns: the moment, and the zone that was named.
  package static func read(_ text: String) throws(UsageError) -> (moment: Instant, zone: CalendarZone?) {
    var written = text[...]
    var name: String?
    if written.hasSuffix("]"), let bracket = written.firstIndex(of: "[") {
      name = String(written[written.index(after: bracket)...].dropLast())
      written = written[..<bracket]
    }
    // The zone has to be known around the moment, not around today.
    guard let about = Instant(written: written, in: .utc) else {
      throw UsageError(
        "'\(NameText.shown(text))' is no moment\nhelp: write it as 2026-03-29T10:00, 2026-03-29T10:00:00+02:00 or "
          + "2026-03-29T10:00[Europe/Berlin]")
    }
    guard let name else {
      guard let moment = Instant(written: written, in: CalendarZone.current(around: about)) else {
        return (about, nil)
      }
      return (moment, nil)
    }
    guard let zone = CalendarZone(systemName: name, around: about) else {
      throw UsageError(
        "this machine knows no time zone '\(NameText.shown(name))'\nhelp: write a name such as Europe/Berlin")
    }
    return (Instant(written: written, in: zone) ?? about, zone)
  }
}
