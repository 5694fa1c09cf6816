import FerryPlan

/// Formats the comparison of a plan with a run.
enum PlanComparisonText {
  /// The largest number of nodes that are listed.
  private static let limit = 20

  /// Lines for the text of a report: the sums, and each node that differs.
  static func lines(_ plan: PlanComparison) -> [String] {
    let sums = amounts(plan.files, plan.bytes, plan.requests, plan.seconds)
    var lines = [
      "  planned → actual, \(title(plan)): \(sums.isEmpty ? "no figures" : sums.joined(separator: ", "))"
    ]
    lines += plan.differences.map { "    \(DisplayPath.line($0.message))" }
    let nodes = plan.nodes.filter { !$0.differences.isEmpty }
    for node in nodes.prefix(limit) {
      let figures = amounts(node.files, node.bytes, node.requests, node.seconds)
      lines.append(
        "    \(title(node)): "
          + (figures + [words(node.differences)]).joined(separator: ", "))
    }
    if nodes.count > limit { lines.append("    … and \(nodes.count - limit) more nodes in the report") }
    if nodes.isEmpty, plan.differences.isEmpty { lines.append("    no differences") }
    return lines
  }

  /// A plan in JSON is not checked like a manifest, so its names may contain any character.
  private static func title(_ node: PlanComparison.NodeEntry) -> String {
    "\(node.kind.rawValue) \(DisplayPath.line(RunRecord.title(node.name, node.manifest)))"
  }

  /// The title of the plan or simulation that is compared with the run.
  static func title(_ plan: PlanComparison) -> String {
    switch plan.source {
    case .plan: "plan for \(DisplayPath.line(plan.plannedAt))"
    case .simulation:
      "simulation from \(DisplayPath.line(plan.plannedAt))"
        + (plan.policy.map { ", policy \($0.rawValue)" } ?? "")
    }
  }

  /// A row of a table.
  struct Row {
    var title: String
    /// One for each of `columns`.
    var cells: [String]
    /// The reasons why the run differs.
    var differences: String
  }

  static let columns = ["files", "bytes", "requests", "duration"]

  /// The sums, and then each node.
  static func rows(_ plan: PlanComparison) -> [Row] {
    let whole = Row(
      title: "all", cells: cells(plan.files, plan.bytes, plan.requests, plan.seconds),
      differences: words(plan.differences))
    return [whole]
      + plan.nodes.map { node in
        Row(
          title: title(node),
          cells: cells(node.files, node.bytes, node.requests, node.seconds),
          differences: words(node.differences))
      }
  }

  private static func words(_ differences: [PlanComparison.Difference]) -> String {
    differences.map { DisplayPath.line($0.message) }.joined(separator: "; ")
  }

  private static func cells(
    _ files: PlanComparison.Amount, _ bytes: PlanComparison.Amount, _ requests: PlanComparison.Amount,
    _ seconds: PlanComparison.Seconds
  ) -> [String] {
    let number = { (number: Int64) in NumberText.text(Int(number)) }
    return [
      pair(files, number), pair(bytes, ByteText.text), pair(requests, number),
      pair(seconds.planned, seconds.actual) {
        $0 > 0 && $0 < 1 ? "\(Int(($0 * 1000).rounded())) ms" : ElapsedText.text($0)
      },
    ].map { $0 ?? "" }
  }

  /// The amounts that are known, such as `8 → 7 files`.
  private static func amounts(
    _ files: PlanComparison.Amount, _ bytes: PlanComparison.Amount, _ requests: PlanComparison.Amount,
    _ seconds: PlanComparison.Seconds
  ) -> [String] {
    let figures = cells(files, bytes, requests, seconds)
    // Without a simulation, the plan has no durations, so there is nothing to compare the actual duration with.
    return zip(figures, [" files", "", " requests", ""]).enumerated().compactMap { column, figure in
      figure.0.isEmpty || column == 3 && seconds.planned == nil ? nil : figure.0 + figure.1
    }
  }

  private static func pair(_ amount: PlanComparison.Amount, _ format: (Int64) -> String) -> String? {
    // Most nodes have no files.
    amount.planned ?? 0 == 0 && amount.actual ?? 0 == 0 ? nil : pair(amount.planned, amount.actual, format)
  }

  /// Text such as `8 → 7`, with `?` for an unknown value; `nil` if both values are unknown.
  private static func pair<Value>(_ planned: Value?, _ actual: Value?, _ format: (Value) -> String) -> String?
  {
    guard planned != nil || actual != nil else { return nil }
    return "\(planned.map(format) ?? "?") → \(actual.map(format) ?? "?")"
  }
}
