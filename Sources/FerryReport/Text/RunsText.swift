import FerryPlan

/// Formats the runs of a state folder as text, one per line.
package enum RunsText {
  package static func text(_ document: RunsDocument, in zone: CalendarZone) -> String {
    guard !document.runs.isEmpty else { return "there are no runs\n" }
    return document.runs.map { line($0, zone) + "\n" }.joined()
  }

  private static func line(_ run: RunsDocument.Entry, _ zone: CalendarZone) -> String {
    let manifests = run.manifests.map { "\(DisplayPath.line($0.name)) round \($0.round)" }
    let began = ReasonText.moment(run.startedAt, in: zone)
    var text = "\(run.id)  \(manifests.joined(separator: ", ")): "
    switch run.state {
    case .running: text += "running as process \(run.pid ?? 0) since \(began)"
    case .interrupted: text += "interrupted; it began \(began)"
    case .ended:
      text += run.exitCode.map { "exit code \($0)" } ?? "ended"
      text += ", began \(began)"
      if let start = Instant(rfc3339: run.startedAt), let end = run.endedAt.flatMap({ Instant(rfc3339: $0) })
      {
        text += ", took \(ElapsedText.text(start.duration(to: end).seconds))"
      }
    }
    return text
  }
}
