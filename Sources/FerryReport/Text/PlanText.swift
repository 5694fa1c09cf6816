import FerryPlan

/// Formats a plan as text.
package enum PlanText {
  /// Formats a plan as text.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ plan: PlanDocument, in zone: CalendarZone = .utc) -> String {
    var lines = [
      "\(plan.manifest): \(plan.continuesRound ? "resumes round \(plan.round)" : "opens round \(plan.round)")",
      "", "conditions", "  \(conditions(plan.conditions)); \(plan.launch.rawValue) launch",
    ]
    let budgets = ReasonText.lines(plan.budgets, in: zone)
    if !budgets.isEmpty { lines += ["", "budgets"] + budgets.map { "  \($0)" } }
    lines += ["", "sessions"]
    for session in plan.sessions {
      lines.append(
        "  \(session.name): \(session.kind.rawValue), \(Count.text(session.maxConnectionsPerHost, "connection")) per host, "
          + "journal \(session.identifier)")
    }
    lines += ["", "nodes, in start order"]
    for (index, node) in plan.nodes.enumerated() {
      lines.append(
        "\(padded(index + 1)) \(node.kind.rawValue) \(node.name)  [\(node.session)]  \(state(node, zone))")
      if let items = node.items { lines.append("      \(line(items))") }
      if node.listedAtRunTime == true {
        lines.append(
          "      files known at run time: a fetch that the \(node.kind.rawValue) needs writes their list")
      }
      if let token = node.token { lines.append("      token \(token)") }
      if !node.needs.isEmpty { lines.append("      needs \(node.needs.joined(separator: ", "))") }
      for step in node.steps {
        let session = step.session == node.session ? "" : "  [\(step.session)]"
        let once = step.repeatability == .once ? "  (never resent)" : ""
        let form = step.protocol.map { "  (\($0.rawValue))" } ?? ""
        lines.append(
          "      \(step.step.rawValue): \(step.method) \(DisplayPath.line(step.url))\(session)\(form)\(once)")
      }
      if let after = node.after { lines.append("      after: \(DisplayPath.line(after))") }
      for problem in node.problems { lines.append("      not listed: \(DisplayPath.line(problem))") }
      if let omitted = node.problemsOmitted { lines.append("      not listed: \(omitted) more") }
    }
    if let onEnd = plan.onEnd {
      lines += ["", "when the run ends, regardless of its exit code"] + onEnd.flatMap(self.lines)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ request: PlanDocument.OnEndEntry) -> [String] {
    let when: String =
      switch request.when {
      case .always: ""
      case .succeeded: "  if the exit code is 0"
      case .failed: "  if the run failed"
      }
    let grace = "within \(StatusText.seconds(request.graceSeconds))"
    var lines = [
      "  \(request.name)  [\(request.session)]  \(grace)\(request.required ? ", required" : "")\(when)"
    ]
    if let token = request.token { lines.append("      token \(token)") }
    lines.append("      request: \(request.method) \(DisplayPath.line(request.url))")
    return lines
  }

  private static func conditions(_ conditions: DeviceConditions) -> String {
    let network = conditions.network == .none ? "no network" : "\(conditions.network.rawValue) network"
    let expense = conditions.isExpensive ? ", metered" : ""
    return "\(network)\(expense), \(conditions.power.rawValue) power"
  }

  private static func state(_ node: PlanDocument.NodeEntry, _ zone: CalendarZone) -> String {
    switch node.state {
    case .run: node.items.map { $0.toSend == 0 ? "nothing to send" : "send" } ?? "run"
    case .ask: "fetched when needed"
    case .done: "done in this round"
    case .notDue:
      "not due before \(ReasonText.moment(node.notBefore ?? "", in: zone))"
        + (node.reason.map { "; \(ReasonText.text($0))" } ?? "")
    case .never: "never (interval: never)"
    case .stored: "not sent, the stored file is used (cache_policy)"
    case .notSelected: "not selected"
    case .waiting: node.reason.map { ReasonText.text($0, in: zone) } ?? "waiting"
    case .failed: node.reason.map { "failed: \(ReasonText.text($0, in: zone))" } ?? node.state.rawValue
    case .ambiguous, .skipped, .cancelled:
      node.reason.map { "\(node.state): \(ReasonText.text($0, in: zone))" } ?? node.state.description
    case .succeeded, .notNeeded, .queued, .allocated, .transferred, .new: node.state.rawValue
    }
  }

  private static func line(_ items: PlanDocument.Items) -> String {
    var parts = [items.amount]
    if let count = items.parts { parts.append("in \(Count.text(Int(clamping: count), "part"))") }
    if items.batches > 1 { parts.append("in \(items.batches) batches") }
    if items.begun > 0 { parts.append("\(items.begun) already begun") }
    if items.doneInRound > 0 { parts.append("\(items.doneInRound) done in this round") }
    if items.unchanged > 0 { parts.append("\(items.unchanged) unchanged") }
    if items.failedInRound > 0 { parts.append("\(items.failedInRound) failed in this round") }
    if items.ambiguous > 0 { parts.append("\(items.ambiguous) ambiguous") }
    if let orphans = items.orphans { parts.append("\(Count.text(orphans, "upload ID")) to release") }
    if let owed = items.owedAfter { parts.append("\(owed) delivered, to be moved or deleted") }
    return parts.joined(separator: ", ")
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: " ", count: max(0, 3 - digits.count)) + digits + "."
  }
}

extension PlanDocument.Items {
  /// The number of items to send or download, and their total size, as far as the sizes are known.
  var amount: String {
    let (items, bytes) = (Count.text(toSend, "item"), ByteText.text(bytesToSend))
    guard let unknownSizes else { return "\(items), \(bytes)" }
    return unknownSizes == toSend
      ? "\(items) of unknown size" : "\(items), \(bytes) and \(unknownSizes) of unknown size"
  }
}
