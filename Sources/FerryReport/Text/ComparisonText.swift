import FerryPlan

/// Formats the differences between two runs as text.
package enum ComparisonText {
  /// The largest number of failures that are listed.
  private static let limit = 20

  package static func text(_ comparison: ReportComparison) -> String {
    let (a, b) = (comparison.before, comparison.after)
    var lines = [
      "\(DisplayPath.line(a.manifests)): run \(a.run) and run \(b.run)",
      row("exit code", "\(a.exitCode)", "\(b.exitCode)"),
      row("duration", ElapsedText.text(a.seconds), ElapsedText.text(b.seconds)),
      row("items delivered", NumberText.text(a.itemsDone), NumberText.text(b.itemsDone)),
      row("requests", NumberText.text(a.requests), NumberText.text(b.requests)),
    ]
    lines += comparison.budgets.map { budget in
      let name = budget.network == "requests" ? "bytes" : "budget \(budget.network)"
      let growth = budget.percent.map { " (\(PercentText.signed($0)))" } ?? ""
      return row(name, ByteText.text(budget.bytesBefore), ByteText.text(budget.bytesAfter) + growth)
    }
    let times = [
      comparison.secondsPerRequestPercent.map { "\(PercentText.signed($0)) for each request" },
      comparison.secondsPerBytePercent.map { "\(PercentText.signed($0)) for each byte" },
    ].compactMap(\.self)
    if !times.isEmpty { lines.append("  time: " + times.joined(separator: ", ")) }
    lines += list("new failures", comparison.newFailures, comparison.newFailuresCount)
    lines += list("no longer failing", comparison.fixed, comparison.fixedCount)
    if comparison.stillFailingCount > 0 {
      lines.append("  failing in both runs: \(NumberText.text(comparison.stillFailingCount))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ name: String, _ before: String, _ after: String) -> String {
    "  \(name): \(before) → \(after)"
  }

  private static func list(_ title: String, _ failures: [ReportComparison.Failure], _ count: Int) -> [String]
  {
    guard count > 0 else { return [] }
    var lines = ["  \(title): \(NumberText.text(count))"]
    for failure in failures.prefix(limit) {
      let path = failure.path.map { "/" + DisplayPath.shown($0, base64: failure.pathBase64) } ?? ""
      let message = failure.message.map { ": \(DisplayPath.line($0))" } ?? ""
      lines.append("    \(RunRecord.title(failure.node, failure.manifest))\(path)\(message)")
    }
    if count > limit { lines.append("    … and \(NumberText.text(count - limit)) more") }
    return lines
  }
}
