import FerryManifest

extension BandwidthLimit {
  /// The limit that applies at an instant, in bytes per second; `nil` for no limit.
  package func bytesPerSecond(at now: Instant, in zone: CalendarZone) -> Int64? {
    let time = zone.localTime(at: now)
    return bytesPerSecond(atMinute: time.hour * 60 + time.minute)
  }

  /// The time of the next change of the limit; `nil` if the limit does not depend on the time.
  package func change(after now: Instant, in zone: CalendarZone) -> Instant? {
    guard periods.count > 1 else { return nil }
    let time = zone.localTime(at: now)
    let minute = time.hour * 60 + time.minute
    let start = periods.first { $0.start > minute }?.start ?? (periods.first?.start ?? 0) + 24 * 60
    // If the clocks change in between, the result is early or late by the amount of the change.
    return now.advanced(by: .seconds(60 * (start - minute) - time.second))
  }
}
