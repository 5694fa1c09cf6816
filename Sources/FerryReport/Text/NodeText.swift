import FerryPlan

/// The outcome of a node, or of a request of `on_end`, on one line.
enum NodeText {
  static func line(_ node: RunRecord.NodeRecord) -> String {
    var text = "\(node.kind.rawValue) \(node.title): \(node.state)"
    if node.isExcusedFailure { text += ", optional" }
    if let counts = node.items {
      let parts = [
        (counts.done, "done"), (counts.unchanged, "unchanged"), (counts.failed, "failed"),
        (counts.ambiguous, "ambiguous"), (counts.cancelled, "canceled"), (counts.skipped ?? 0, "not started"),
        (counts.waiting, "waiting"),
      ].filter { $0.0 > 0 }.map { "\(NumberText.text($0.0)) \($0.1)" }
      text += parts.isEmpty ? ", no items" : ", " + parts.joined(separator: ", ")
    }
    if let result = node.result, result.rawValue != node.state.rawValue { text += ", \(result.rawValue)" }
    if let notBefore = node.notBefore { text += ", not due before \(notBefore)" }
    if let after = node.after {
      if after.deleted > 0 { text += ", \(after.deleted) deleted" }
      if after.moved > 0 { text += ", \(after.moved) moved" }
      if let remaining = after.remaining { text += ", \(remaining) to be moved or deleted by the next run" }
    }
    if let reason = node.reason { text += " (\(ReasonText.text(reason)))" }
    if let single = node.singleConnection {
      let downloads = single.downloads == 1 ? "1 download" : "\(single.downloads) downloads"
      text += "; \(downloads) over one connection: \(DisplayPath.line(single.reason))"
    }
    if let orphans = node.orphans { text += orphans.words }
    return text
  }

  static func line(_ request: RunRecord.OnEndRecord) -> String {
    let reason = request.reason.map { " (\(ReasonText.text($0)))" } ?? ""
    return "on_end \(RunRecord.title(request.name, request.manifest)): \(request.state)\(reason)"
  }
}

extension RunRecord.OrphanRecord {
  /// A string such as `; upload IDs: 3 dropped, 2 released, 1 not released: DELETE returned 500`.
  fileprivate var words: String {
    let parts = [(dropped, "dropped"), (released, "released"), (failed, "not released")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "; upload IDs: " + parts.joined(separator: ", ")
      + (reason.map { ": \(DisplayPath.line($0.message))" } ?? "")
  }
}
