import FerryPlan

/// The problems of the run, in descending order of importance.
extension RunSummary {
  /// Lines that are shown together, or not at all.
  struct Problem {
    var lines: [String]
    /// Whether the lines show a request that needs a decision, and the commands that record the decision.
    var isAmbiguity = false
  }

  var problems: [Problem] {
    var problems: [Problem] = []
    func add(_ line: String) { problems.append(Problem(lines: [Self.fitted(line)])) }
    if let fault = record.run.fault { add("fault: \(DisplayPath.joinedLines(fault))") }
    for node in record.nodes {
      guard let ambiguity = node.ambiguity else { continue }
      problems.append(
        Problem(lines: AmbiguityText.lines(ambiguity, of: node.name), isAmbiguity: !ambiguity.resolve.isEmpty)
      )
    }
    for item in items.ambiguous {
      guard let ambiguity = item.ambiguity else { continue }
      let lines = AmbiguityText.lines(ambiguity, of: item.shownPath)
      let reason = item.reason.map { ": \(ReasonText.text($0))" } ?? ""
      problems.append(
        Problem(
          lines: ["\(item.title): \(lines[0])\(reason)"] + lines.dropFirst(),
          isAmbiguity: !ambiguity.resolve.isEmpty))
    }
    for group in items.groups.all where group.example.reason?.isCancellation != true {
      add(group.line(title: group.example.title))
    }
    for cancellation in ReportText.cancellations(record) {
      add(
        "\(Count.text(cancellation.items, "item")) \(cancellation.items == 1 ? "was" : "were") "
          + DisplayPath.line(cancellation.message))
    }
    for node in record.nodes {
      for group in node.problemGroups {
        add(Self.line(node, group.count, group.exampleName, "not listed: \(DisplayPath.line(group.message))"))
      }
      for group in node.afterProblemGroups {
        let message = "delivered, but not moved or deleted: \(DisplayPath.line(group.message))"
        add(Self.line(node, group.count, group.exampleName, message))
      }
    }
    for failure in ((record.run.onEvents ?? []) + (record.run.onExpiry ?? [])).compactMap(\.failure) {
      add(DisplayPath.line(failure))
    }
    for request in record.run.onEnd ?? [] where request.isFailure { add(NodeText.line(request)) }
    return problems
  }

  private static func line(_ node: RunRecord.NodeRecord, _ count: Int, _ name: String, _ message: String)
    -> String
  {
    count == 1
      ? "\(node.title): \(name): \(message)"
      : "\(node.title): \(NumberText.text(count)) × \(message) (first: \(name))"
  }
}

extension RunRecord.NodeRecord {
  /// Whether nothing about the node needs attention.
  var isFine: Bool {
    switch state {
    case .succeeded: reason == nil && (orphans?.failed ?? 0) == 0
    case .done, .notNeeded, .notSelected, .notDue, .never, .stored: true
    // The failed items of an upload are shown by cause.
    case .failed, .ambiguous, .cancelled: kind.hasItems && reason == nil
    case .waiting, .skipped, .queued, .allocated, .transferred, .new, .run, .ask: false
    }
  }
}
