import FerryPlan

/// The summary of a run, for a terminal or for mail from cron.
package struct ReportText: ReportRenderer {
  private let status: String

  /// - Parameter status: the command that lists ambiguous items of earlier runs.
  package init(status: String) { self.status = status }

  package func render(_ source: ReportSource, to sink: any ByteSink) throws {
    try sink.write(Self.text(source, status: status))
  }

  /// - Parameter status: the command that lists ambiguous items of earlier runs.
  package static func text(_ source: ReportSource, status: String) throws -> String {
    let record = source.record
    let items = try UnfinishedItems(source)
    let run = record.run
    var lines: [String] = []
    if let manifest = run.manifest, let number = run.round {
      let round = round(number, isClosed: run.roundClosed ?? false)
      lines.append("\(manifest): run \(run.id), \(round), \(run.state) with exit code \(run.exitCode)")
    } else {
      let manifests = run.manifests ?? []
      let names = manifests.map(\.name).joined(separator: ", ")
      lines.append("\(names): run \(run.id), \(run.state) with exit code \(run.exitCode)")
      for manifest in manifests {
        lines.append("  \(manifest.name): \(round(manifest.round, isClosed: manifest.roundClosed))")
      }
    }
    if let stop = run.stop.flatMap(name) { lines.append("  stopped early: \(stop)") }
    if let fault = run.fault { lines.append("  fault: \(DisplayPath.lines(fault, indent: "  "))") }
    for node in record.nodes where node.state != .notNeeded {
      lines.append("  " + NodeText.line(node))
      if let ambiguous = node.items?.ambiguous, ambiguous > items.ambiguousCounts[node.title] ?? 0 {
        lines.append(
          "    to list ambiguous items of earlier runs with the commands that resolve them, run: "
            + DisplayPath.line(status))
      }
      lines += node.ambiguity.map { AmbiguityText.lines($0, of: node.name).map { "    \($0)" } } ?? []
    }
    lines += cancellations(record).map {
      "  \(Count.text($0.items, "item")) \($0.items == 1 ? "was" : "were") \(DisplayPath.line($0.message))"
    }
    let totals = record.totals
    lines.append(
      "  \(ByteText.text(totals.bytes.useful)) transferred, \(ByteText.text(totals.bytes.resent)) resent, "
        + "\(ByteText.text(totals.bytes.overhead)) overhead, "
        + (totals.bytes.unattributed.map { $0 == 0 ? "" : "\(ByteText.text($0)) unattributed, " } ?? "")
        + Count.text(totals.requests, "request"))
    if let plan = record.plan { lines += PlanComparisonText.lines(plan) }
    lines += failures(items)
    for node in record.nodes {
      let unlisted = node.problems ?? []
      for problem in unlisted.prefix(20) {
        let name = DisplayPath.shown(problem.path, base64: problem.pathBase64)
        lines.append(
          "  \(title(node.name, node.manifest)): \(name): not listed: \(DisplayPath.line(problem.message))")
      }
      if unlisted.count > 20 { lines.append("  … and \(unlisted.count - 20) more in the report") }
      if let omitted = node.problemsOmitted {
        lines.append("  … and \(omitted) more that are not in the report")
      }
      let problems = node.after?.problems ?? []
      for problem in problems.prefix(20) {
        let name = DisplayPath.shown(problem.path, base64: problem.pathBase64)
        lines.append(
          "  \(title(node.name, node.manifest)): \(name): delivered, but not moved or deleted: \(DisplayPath.line(problem.message))"
        )
      }
      let hidden = problems.dropFirst(20).count
      if hidden > 0 { lines.append("  … and \(hidden) more in the report") }
    }
    for failure in ((run.onEvents ?? []) + (run.onExpiry ?? [])).compactMap(\.failure) {
      lines.append("  \(DisplayPath.line(failure))")
    }
    for request in run.onEnd ?? [] { lines.append("  " + NodeText.line(request)) }
    if let until = run.deferredUntil { lines.append("  the remaining work can continue at \(until)") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The maximum number of lines for each kind of entry. Further entries are only in the report.
  private static let lineLimit = 20

  /// The items that did not end as done, by cause. Each ambiguous item is listed separately, because it needs a
  /// decision.
  private static func failures(_ items: UnfinishedItems) -> [String] {
    var lines: [String] = []
    for item in items.ambiguous.prefix(lineLimit) {
      let name = DisplayPath.shown(item.path, base64: item.pathBase64)
      let reason = item.reason.map { ReasonText.text($0) } ?? ""
      lines.append("  \(title(item.node, item.manifest)): \(name): \(item.state): \(reason)")
      lines += item.ambiguity.map { AmbiguityText.lines($0, of: name).map { "    \($0)" } } ?? []
    }
    let hidden = items.ambiguousCounts.values.reduce(0, +) - min(items.ambiguous.count, lineLimit)
    if hidden > 0 { lines.append("  … and \(Count.text(hidden, "more ambiguous item")) in the report") }
    let groups = items.groups.all
    for group in groups.prefix(lineLimit) {
      lines.append("  " + group.line(title: title(group.example.node, group.example.manifest)))
    }
    let others = groups.dropFirst(lineLimit).reduce(items.groups.ungrouped) { $0 + $1.count }
    if others > 0 {
      lines.append(
        "  … and \(others == 1 ? "1 more item" : "\(others) more items") with other reasons in the report")
    }
    return lines
  }

  /// The number of items, and of nodes with a single request, that `ferry cancel` ended, by reason: first those
  /// without `--reason`, then the others in descending order of their number. In reports of earlier versions,
  /// `cancelled` also counts the items of an upload that was skipped.
  static func cancellations(_ record: RunRecord) -> [(message: String, items: Int)] {
    var counts: [String: Int] = [:]
    for node in record.nodes where node.state != .skipped {
      var rest = node.items?.cancelled ?? (node.state == .cancelled ? 1 : 0)
      for cancellation in node.cancellations ?? [] {
        counts[cancellation.message, default: 0] += cancellation.items
        rest -= cancellation.items
      }
      let reason = node.reason.flatMap { $0.isCancellation ? $0 : nil } ?? .cancelled
      if rest > 0 { counts[reason.message, default: 0] += rest }
    }
    let plain = RecordedFailure.cancelled.message
    return counts.sorted { a, b in
      if (a.key == plain) != (b.key == plain) { return a.key == plain }
      return (b.value, a.key) < (a.value, b.key)
    }.map { ($0.key, $0.value) }
  }

  private static func round(_ number: Int64, isClosed: Bool) -> String {
    isClosed ? "round \(number)" : "round \(number), open"
  }

  private static func title(_ node: String, _ manifest: String?) -> String {
    RunRecord.title(node, manifest)
  }

  private static func name(_ stop: StopCause) -> String? {
    switch stop {
    case .interrupt: "SIGINT"
    case .terminate: "SIGTERM"
    case .maxDuration: "--max-duration"
    case .now: nil
    }
  }
}
