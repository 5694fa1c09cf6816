import FerryPlan

/// A run for people: what a terminal or a cron mail wants to show.
package enum ReportText {
  package static func text(_ record: RunRecord) -> String {
    let run = record.run
    var lines: [String] = []
    let round = run.roundClosed ? "round \(run.round)" : "round \(run.round), open"
    lines.append("\(run.manifest): run \(run.id), \(round), \(run.state) with exit code \(run.exitCode)")
    if let stop = run.stop.flatMap(name) { lines.append("  ended early: \(stop)") }
    if let fault = run.fault { lines.append("  fault: \(fault)") }
    for node in record.nodes where node.state != "not_needed" { lines.append("  " + line(node)) }
    let totals = record.totals
    lines.append(
      "  \(ByteText.text(totals.bytes.useful)) moved, \(ByteText.text(totals.bytes.resent)) sent again, "
        + "\(ByteText.text(totals.bytes.overhead)) overhead, \(totals.requests) requests")
    let unfinished = record.items.lazy.filter { $0.state != "done" }
    for item in unfinished.prefix(20) {
      lines.append("  \(item.node): \(item.path): \(item.state): \(item.reason.map(\.message) ?? "")")
    }
    let hidden = unfinished.dropFirst(20).count
    if hidden > 0 { lines.append("  … and \(hidden) more in the report") }
    if let until = run.deferredUntil { lines.append("  something may go on from \(until) on") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func name(_ stop: StopCause) -> String? {
    switch stop {
    case .interrupt: "SIGINT"
    case .terminate: "SIGTERM"
    case .maxDuration: "--max-duration"
    case .now: nil
    }
  }

  private static func line(_ node: RunRecord.NodeRecord) -> String {
    var text = "\(node.kind.rawValue) \(node.name): \(node.state)"
    if let counts = node.items {
      let parts = [
        (counts.done, "done"), (counts.unchanged, "unchanged"), (counts.failed, "failed"),
        (counts.ambiguous, "ambiguous"), (counts.cancelled, "cancelled"), (counts.waiting, "waiting"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      text += parts.isEmpty ? ", no items" : ", " + parts.joined(separator: ", ")
    }
    if let result = node.result { text += ", \(result.rawValue)" }
    if let notBefore = node.notBefore { text += ", not due before \(notBefore)" }
    if let reason = node.reason { text += " (\(reason.message))" }
    return text
  }
}
