import FerryPlan
import Testing

/// Compares crontab lines with a model that checks every minute, as cron does.
struct CalendarCronModelTests {
  @Test func randomLinesRunAsInAModelThatChecksEachMinute() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<60 { try compare(line(&random), in: .utc, days: 24, using: &random) }
  }

  @Test func randomLinesRunAsInTheModelAcrossClockChanges() throws {
    var random = SeededRandom(seed: 12)
    for round in 0..<150 {
      // Most zones have offsets of full or half hours. Offsets of other minutes are rarer.
      let zone = CalendarZone.random(around: middle, unit: round % 2 == 0 ? 1800 : 60, using: &random)
      try compare(line(&random), in: zone, days: 14, using: &random)
    }
  }

  private let middle = moment("2026-02-27T00:00:00Z")

  /// Compares all runs within some days of `middle`.
  private func compare(
    _ line: [Field], in zone: CalendarZone, days: Int, using random: inout SeededRandom
  ) throws {
    let text = line.map(\.text).joined(separator: " ")
    let schedule = try CronSchedule(text)
    var now = middle.advanced(by: .seconds(-days * 43_200))
    let end = middle.advanced(by: .seconds(days * 43_200))
    var expected: [Instant] = []
    // The latest local time that the clocks have shown. They change some days later at the earliest.
    var latest = zone.localTime(at: now)
    let isFixed = !line[0].isWildcard && !line[1].isWildcard
    let start = now
    while now < end {
      now = now.advanced(by: .seconds(60))
      let shown = zone.localTime(at: now)
      if isFixed {
        // All local times that are reached in this minute, including skipped ones.
        var reached = latest
        var isRun = false
        while reached < shown {
          reached = LocalTime(date: reached.date, hour: reached.hour, minute: reached.minute + 1)
          isRun = isRun || matches(line, reached)
        }
        if isRun { expected.append(now) }
        latest = max(latest, shown)
      } else if matches(line, shown) {
        expected.append(now)
      }
    }
    var found: [Instant] = []
    var last = start
    while let next = schedule.next(after: last, in: zone), next <= end {
      found.append(next)
      last = next
    }
    #expect(found == expected, "\(text) in \(zone)")
    // Also checks times between runs, because a launch may need the next run at any time.
    let isSame = (0..<100).allSatisfy { _ in
      let at = Instant(nanoseconds: Int64.random(in: start.nanoseconds..<end.nanoseconds, using: &random))
      let next = schedule.next(after: at, in: zone)
      return next.map { $0 > at } != false
        && expected.first { $0 > at } == next.flatMap { $0 <= end ? $0 : nil }
    }
    #expect(isSame, "\(text) in \(zone)")
  }

  private func matches(_ line: [Field], _ time: LocalTime) -> Bool {
    let date = time.date
    let byDay = line[2].numbers.contains(date.day)
    let byWeekday = line[4].numbers.contains(date.weekday) || date.weekday == 7 && line[4].numbers.contains(0)
    let onDay = line[2].isWildcard || line[4].isWildcard ? byDay && byWeekday : byDay || byWeekday
    return onDay && line[0].numbers.contains(time.minute) && line[1].numbers.contains(time.hour)
      && line[3].numbers.contains(date.month)
  }

  private struct Field {
    var text: String
    var numbers: Set<Int>
    var isWildcard: Bool { text.hasPrefix("*") }
  }

  private func line(_ random: inout SeededRandom) -> [Field] {
    [0...59, 0...23, 1...31, 1...12, 0...7].map { field($0, &random) }
  }

  private func field(_ all: ClosedRange<Int>, _ random: inout SeededRandom) -> Field {
    // Most lines match every month, so that there are runs to compare.
    if all == 1...12, random.fraction() < 0.7 { return Field(text: "*", numbers: Set(all)) }
    switch Int.random(in: 0...4, using: &random) {
    case 0: return Field(text: "*", numbers: Set(all))
    case 1:
      let step = Int.random(in: 1...7, using: &random)
      return Field(
        text: "*/\(step)", numbers: Set(stride(from: all.lowerBound, through: all.upperBound, by: step)))
    default:
      var texts: [String] = []
      var numbers: Set<Int> = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let low = Int.random(in: all, using: &random)
        let high = Int.random(in: low...all.upperBound, using: &random)
        let step = Int.random(in: 1...3, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0:
          texts.append("\(low)")
          numbers.insert(low)
        case 1:
          texts.append("\(low)-\(high)")
          numbers.formUnion(low...high)
        default:
          texts.append("\(low)-\(high)/\(step)")
          numbers.formUnion(stride(from: low, through: high, by: step))
        }
      }
      return Field(text: texts.joined(separator: ","), numbers: numbers)
    }
  }
}
