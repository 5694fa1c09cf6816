import FerryPlan

/// The information that the user needs to decide whether a request was executed.
enum AmbiguityText {
  /// Shown in place of the commands if there are none.
  static let ephemeral = "its session is ephemeral and does not record it; the next run sends it again"

  /// Returns a line that describes the request, and the commands that record the decision of the user.
  ///
  /// - Parameters:
  ///   - name: the name as displayed.
  ///   - zone: the time zone in which times are shown; `nil` to show them as recorded.
  static func lines(_ ambiguity: Ambiguity, of name: String, in zone: CalendarZone? = nil) -> [String] {
    let origin = ambiguity.origin.map { " to \(DisplayPath.line($0))" } ?? ""
    let at = ambiguity.at.map { moment in
      " by \(zone.map { ReasonText.moment(moment, in: $0) } ?? moment)"
    }
    let redirect = ambiguity.redirectedTo.map { ["redirected to \(DisplayPath.line($0))"] } ?? []
    let captures = (ambiguity.captures ?? [:]).sorted { $0.key < $1.key }.map {
      "\($0.key) \(DisplayPath.line($0.value))"
    }
    let details = redirect + captures
    let given = details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"
    let what =
      ambiguity.failed == true
      ? "failed\(at ?? ""), and its transfer must not be repeated"
      : "may have been executed; no conclusive response was received\(at ?? "")"
    let decisions = zip(
      ["if it was executed:", "if it was not executed:", "if its commit was executed too:"],
      ambiguity.resolve
    ).map { "  \($0) \(DisplayPath.line($1))" }
    return ["\(name): its \(ambiguity.step.rawValue)\(origin)\(given) \(what)"]
      + (decisions.isEmpty ? ["  \(ephemeral)"] : decisions)
  }
}
