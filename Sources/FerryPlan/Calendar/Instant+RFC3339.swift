extension Instant {
  /// RFC 3339 in UTC with milliseconds, as in `2026-03-02T10:15:00.250Z`.
  package var rfc3339: String {
    let milliseconds = nanoseconds.floorDivided(by: 1_000_000)
    let (seconds, ofSecond) = milliseconds.dividedWithFloor(by: 1000)
    return "\(LocalTime(seconds: Int(seconds))).\(ofSecond.padded(to: 3))Z"
  }

  /// Like `rfc3339`, but with a resolution of seconds and without separators, for use in names:
  /// `20260302T101500Z`.
  package var compact: String {
    String(rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }
}
