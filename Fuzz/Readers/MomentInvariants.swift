import FerryManifest
import FerryPlan

@testable import FerryEngine

/// Invariants of times on the command line, with and without a zone, and of values that are computed from them.
enum MomentInvariants {
  static func violations(by input: [UInt8]) -> [String] {
    let text = input.text
    do throws(UsageError) {
      let (moment, zone) = try MomentText.read(text)
      return shown(moment, in: zone ?? .utc) + windows(moment, in: zone ?? .utc) + rfc3339(text, moment, zone)
    } catch {
      return error.description.contains("\nhelp: ") ? [] : ["there is no remedy: \(error)"]
    }
  }

  /// Reading a printed time gives the same time.
  static func shown(_ moment: Instant, in zone: CalendarZone) -> [String] {
    var violations: [String] = []
    let exact = moment.rfc3339
    let local = moment.rfc3339(in: zone)
    let rest = moment.nanoseconds % 1_000_000
    let milliseconds = moment.advanced(by: .nanoseconds(-(rest < 0 ? rest + 1_000_000 : rest)))
    if Instant(rfc3339: exact) != milliseconds { violations.append("\(exact) is not read again") }
    if Instant(rfc3339: local) != Instant(wholeSeconds: moment.wholeSeconds) {
      violations.append("\(local) is not read again")
    }
    if moment.compact.utf8.count != 16 { violations.append("the name has \(moment.compact)") }
    do throws(CronError) {
      _ = try CronSchedule(moment.cronFields(in: zone))
    } catch {
      violations.append("the crontab line is wrong: \(error)")
    }
    return violations
  }

  /// The windows of budgets cover all time and do not overlap.
  static func windows(_ moment: Instant, in zone: CalendarZone) -> [String] {
    var violations: [String] = []
    for window in Budget.Window.allCases {
      let span = window.span(containing: moment, in: zone)
      let isLast = span.upperBound == .distantFuture
      if span.lowerBound > moment || (moment >= span.upperBound && !isLast) {
        violations.append("the \(window) of \(moment.rfc3339) is another")
      }
      if isLast { continue }
      let next = window.span(containing: span.upperBound, in: zone)
      if next.lowerBound != span.upperBound { violations.append("there is a gap behind the \(window)") }
    }
    return violations
  }

  /// The command line's reader and the RFC 3339 reader return the same time for an RFC 3339 text.
  private static func rfc3339(_ text: String, _ moment: Instant, _ zone: CalendarZone?) -> [String] {
    guard zone == nil, let same = Instant(rfc3339: text), same != moment else { return [] }
    return ["\(text) is \(same.rfc3339) and \(moment.rfc3339)"]
  }
}
