import FerryPlan

/// A report as Markdown (GitHub's), for the summary of a job or a comment.
struct ReportMarkdown: ReportRenderer {
  /// The command that lists ambiguous items of earlier runs.
  let status: String

  /// The largest number of rows of a table.
  private static let limit = 20

  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    let verdict = ReportVerdict(record)
    let items = try UnfinishedItems(source)
    let mark =
      switch verdict.level {
      case .good: "✅"
      case .waiting: "⏳"
      case .bad: "❌"
      }
    let totals = record.totals
    var lines = [
      "### \(mark) \(MarkdownText.escaped(record.names))", "", MarkdownText.escaped(verdict.sentence), "",
    ]
    if let fault = record.run.fault {
      lines += ["> " + MarkdownText.escaped(DisplayPath.joinedLines(fault)), ""]
    }
    lines += [
      "| transferred | resent | overhead | requests | duration | exit code |", "|---|---|---|---|---|---|",
      "| \(ByteText.text(totals.bytes.useful)) | \(ByteText.text(totals.bytes.resent)) | "
        + "\(ByteText.text(totals.bytes.overhead)) | \(NumberText.text(totals.requests)) | "
        + "\(ElapsedText.text(record.seconds)) | \(record.run.exitCode) |",
      "",
    ]
    let nodes = record.nodes.filter { $0.state != .notNeeded && $0.state != .notSelected }
    if !nodes.isEmpty {
      lines += ["| node | state | items | reason |", "|---|---|---|---|"]
      lines += nodes.prefix(Self.limit).map(Self.row)
      if nodes.count > Self.limit { lines += ["", "… and \(nodes.count - Self.limit) more nodes"] }
      lines.append("")
    }
    let groups = items.groups.all
    if !groups.isEmpty {
      lines += ["| items | upload | example | state | reason |", "|---:|---|---|---|---|"]
      lines += groups.prefix(Self.limit).map { group in
        let reason = group.example.reason.map { MarkdownText.escaped(ReasonText.text($0)) } ?? ""
        return
          "| \(NumberText.text(group.count)) | \(MarkdownText.code(group.example.title)) | "
          + "\(MarkdownText.code(group.example.shownPath)) | \(group.example.state) | \(reason) |"
      }
      let others = groups.dropFirst(Self.limit).reduce(items.groups.ungrouped) { $0 + $1.count }
      if others > 0 {
        lines += ["", "… and \(NumberText.text(others)) more items with other reasons in the report"]
      }
      lines.append("")
    }
    if let plan = record.plan { lines += Self.comparison(plan) }
    lines += ambiguities(items, record)
    lines += [
      "<sub>ferry run \(MarkdownText.code(record.run.id)), \(MarkdownText.escaped(record.run.startedAt)) "
        + "to \(MarkdownText.escaped(record.run.endedAt))</sub>",
      "",
    ]
    try sink.write(lines.joined(separator: "\n"))
  }

  private static func comparison(_ plan: PlanComparison) -> [String] {
    let rows = PlanComparisonText.rows(plan)
    var lines = [
      "| planned → actual | \(PlanComparisonText.columns.joined(separator: " | ")) | differences |",
      "|---|\(String(repeating: "---:|", count: PlanComparisonText.columns.count))---|",
    ]
    lines += rows.prefix(Self.limit).map { row in
      "| \(MarkdownText.escaped(row.title)) | \(row.cells.joined(separator: " | ")) | \(MarkdownText.escaped(row.differences)) |"
    }
    if rows.count > Self.limit { lines += ["", "… and \(rows.count - Self.limit) more nodes"] }
    return lines + [""]
  }

  private func ambiguities(_ items: UnfinishedItems, _ record: RunRecord) -> [String] {
    let total = items.ambiguousCounts.values.reduce(0, +)
    let earlier = record.totals.items.ambiguous - total
    var lines: [String] = []
    for item in items.ambiguous.prefix(Self.limit) {
      lines.append(
        "- \(MarkdownText.code(item.title)) \(MarkdownText.code(item.shownPath)) awaits a decision:"
      )
      for command in item.ambiguity?.resolve ?? [] {
        lines.append("  - \(MarkdownText.code(DisplayPath.line(command)))")
      }
    }
    let hidden = total - min(items.ambiguous.count, Self.limit)
    if hidden > 0 {
      lines.append(
        "- … and \(NumberText.text(hidden)) more ambiguous \(hidden == 1 ? "item" : "items") in the report")
    }
    if earlier > 0 {
      lines.append(
        "- \(NumberText.text(earlier)) ambiguous \(earlier == 1 ? "item" : "items") of earlier runs: \(MarkdownText.code(DisplayPath.line(status)))"
      )
    }
    return lines.isEmpty ? [] : lines + [""]
  }

  private static func row(_ node: RunRecord.NodeRecord) -> String {
    var counts: [String] = []
    if let items = node.items {
      counts = [
        (items.done, "done"), (items.unchanged, "unchanged"), (items.failed, "failed"),
        (items.ambiguous, "ambiguous"), (items.cancelled, "canceled"), (items.skipped ?? 0, "not started"),
        (items.waiting, "waiting"),
      ].filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }
    }
    let reason = node.reason.map { MarkdownText.escaped(ReasonText.text($0)) } ?? ""
    return
      "| \(node.kind.rawValue) \(MarkdownText.code(node.title)) | \(node.state.description.replacing("_", with: " ")) | "
      + "\(counts.joined(separator: ", ")) | \(reason) |"
  }
}
