@testable import FerryPlan

/// Invariants of cron expressions and their next runs.
enum CronInvariants {
  /// The number of minutes that are checked one by one: two days.
  private static let minutes = 2 * 1440

  /// The first part of the input is the expression, the second the start time.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.parts(atMost: 2)
    let text = parts[0].text
    let start = parts.count > 1 ? Instant(written: parts[1].text, in: .utc) : nil
    do throws(CronError) {
      let schedule = try CronSchedule(text)
      return next(schedule, after: start ?? Instant(rfc3339: "2026-03-28T22:59:30Z") ?? .distantFuture)
    } catch {
      guard (1...text.count + 1).contains(error.column), !error.message.isEmpty, !error.help.isEmpty else {
        return ["the mistake has no place or remedy: \(error)"]
      }
      return []
    }
  }

  private static func next(_ schedule: CronSchedule, after start: Instant) -> [String] {
    var violations: [String] = []
    let utc = schedule.next(after: start, in: .utc)
    let expected = firstMinute(schedule, after: start)
    switch (utc, expected) {
    case (let utc?, let expected?):
      if utc != expected { violations.append("runs at \(utc.rfc3339), not \(expected.rfc3339)") }
    case (let utc?, nil):
      if utc <= start.advanced(by: .seconds((minutes - 1) * 60)) {
        violations.append("runs at \(utc.rfc3339)")
      }
    case (nil, let expected?): violations.append("does not run at \(expected.rfc3339)")
    case (nil, nil): break
    }
    var last = start
    for _ in 0..<3 {
      guard let next = schedule.next(after: last, in: Self.berlin) else { break }
      if next <= last { violations.append("\(next.rfc3339) is not after \(last.rfc3339)") }
      last = next
    }
    return violations
  }

  /// The first matching minute in UTC, found by trying every minute.
  private static func firstMinute(_ schedule: CronSchedule, after start: Instant) -> Instant? {
    let first = start.wholeSeconds / 60 * 60 - 60
    for minute in 0..<minutes + 2 {
      let second = first + minute * 60
      let moment = Instant(wholeSeconds: second)
      guard moment > start, moment.wholeSeconds == second else { continue }
      let time = CalendarZone.utc.localTime(at: moment)
      if schedule.minutes.contains(time.minute), schedule.hours.contains(time.hour),
        schedule.matches(time.date)
      {
        return moment
      }
    }
    return nil
  }

  private static let berlin = CalendarZone(
    name: "Europe/Berlin", initialOffset: 3600,
    changes: [
      .init(at: Instant(rfc3339: "2026-03-29T01:00:00Z") ?? .distantFuture, offset: 7200),
      .init(at: Instant(rfc3339: "2026-10-25T01:00:00Z") ?? .distantFuture, offset: 3600),
    ])
}
