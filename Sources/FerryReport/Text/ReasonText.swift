import FerryPlan

/// Why something waits, and until when, for people.
package enum ReasonText {
  /// - Parameter zone: the zone in which moments are shown.
  package static func text(_ reason: RecordedFailure, in zone: CalendarZone) -> String {
    let message = DisplayPath.line(reason.message)
    return reason.until.map { "\(message), until \($0.rfc3339(in: zone))" } ?? message
  }

  /// Shows a moment that a document contains as RFC 3339.
  package static func moment(_ text: String, in zone: CalendarZone) -> String {
    Instant(rfc3339: text)?.rfc3339(in: zone) ?? text
  }

  /// One line per budget.
  package static func lines(_ budgets: [BudgetUse], in zone: CalendarZone) -> [String] {
    budgets.map {
      "\($0.network.rawValue)\($0.binds == .all ? "" : ", for discretionary sessions"): \(ByteText.text($0.usedBytes)) of \(ByteText.text($0.limitBytes)) used, "
        + "until \(moment($0.window.until, in: zone))"
    }
  }
}
