import FerryPlan

/// Formats the state of a manifest's shards as text, one line for each part that needs attention or is running.
package enum ShardsText {
  /// The maximum number of parts that are listed.
  private static let listed = 40

  package static func text(_ document: ShardsDocument) -> String {
    var lines = [summary(document), "  " + counts(document.items)]
    let notable = document.parts.filter(isNotable)
    lines += notable.prefix(listed).map { "  " + line($0) }
    if notable.count > listed {
      lines.append("  … and \(notable.count - listed) more; --format json lists all parts")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func summary(_ document: ShardsDocument) -> String {
    let shards = document.parts.filter { $0.part != "once" }
    let states: [(ShardsDocument.State, String)] = [
      (.running, "running"), (.runningElsewhere, "running on another machine, or interrupted there"),
      (.interrupted, "interrupted"), (.notStarted, "not started"), (.ended, "ended"),
    ]
    let parts = states.compactMap { state, word -> String? in
      let count = shards.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(word)"
    }
    return "\(Count.text(document.count, "shard")): " + parts.joined(separator: ", ")
  }

  private static func counts(_ items: StatusDocument.Items) -> String {
    var parts = ["\(NumberText.text(items.done)) done", "\(NumberText.text(items.open)) open"]
    if items.failed > 0 { parts.append("\(NumberText.text(items.failed)) failed") }
    if items.ambiguous > 0 { parts.append("\(NumberText.text(items.ambiguous)) ambiguous") }
    if items.cancelled > 0 { parts.append("\(NumberText.text(items.cancelled)) canceled") }
    if items.doneBefore > 0 { parts.append("\(NumberText.text(items.doneBefore)) done in earlier rounds") }
    return parts.joined(separator: ", ")
  }

  private static func isNotable(_ part: ShardsDocument.Entry) -> Bool {
    part.state != .ended || part.exitCode != 0 || part.problem != nil
  }

  private static func line(_ part: ShardsDocument.Entry) -> String {
    var text = "\(part.part): "
    switch part.state {
    case .notStarted: text += "not started"
    case .running: text += "running" + (part.pid.map { " as process \($0)" } ?? "")
    case .runningElsewhere: text += "running on another machine, or interrupted there"
    case .interrupted: text += "interrupted"
    case .ended: text += "ended" + (part.exitCode.map { " with exit code \($0)" } ?? "")
    }
    if let items = part.items { text += "; " + counts(items) }
    if let problem = part.problem { text += "; \(DisplayPath.joinedLines(problem))" }
    return text
  }
}
