import FerryPlan

/// A report as one HTML page.
struct ReportHTML: ReportRenderer {
  /// The command that lists ambiguous items of earlier runs.
  let status: String

  /// The largest number of items in the table, so that a browser can hold it.
  static let mostItems = 250_000
  /// The largest number of causes.
  private static let mostCauses = 100

  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    let verdict = ReportVerdict(record)
    let unfinished = try UnfinishedItems(source)
    let page = HTMLPage(
      title: record.names, kicker: "ferry run \(record.run.id)", verdict: verdict.sentence,
      level: verdict.level,
      facts: Self.facts(record), figures: Self.figures(record),
      text: try ReportText.text(source, status: status))
    try page.render(to: sink) { data in
      var head = JSONLine()
      head.add("causes", causes(unfinished, record))
      head.add("nodes", Self.nodes(record))
      head.add("sections", [Self.section(record)])
      if let plan = record.plan { head.add("table", Self.comparison(plan)) }
      try data.write(head.bytes.dropLast() + Array(",\"items\":".utf8))
      try HTMLItems(record).write(source, to: data)
      try data.write("}")
    }
  }

  private static func facts(_ record: RunRecord) -> [(String, String)] {
    let run = record.run
    var facts = [
      ("Began", moment(run.startedAt)), ("Ended", moment(run.endedAt)), ("Exit code", "\(run.exitCode)"),
      ("Launch", run.launch.rawValue),
    ]
    let manifests = run.manifests ?? []
    if manifests.count == 1, let only = manifests.first {
      facts.append(("Manifest", DisplayPath.line(only.path)))
      facts.append(("Round", "\(only.round)\(only.roundClosed ? "" : ", open")"))
    } else {
      facts.append(("Manifests", "\(manifests.count)"))
    }
    if let conditions = run.conditions {
      facts.append(("Network", conditions.network.rawValue + (conditions.isExpensive ? ", metered" : "")))
      facts.append(("Power", conditions.power.rawValue))
    }
    if let until = run.deferredUntil { facts.append(("Can continue at", moment(until))) }
    if let fault = run.fault { facts.append(("Fault", DisplayPath.joinedLines(fault))) }
    return facts
  }

  private static func figures(_ record: RunRecord) -> [(String, String, String)] {
    let totals = record.totals
    let items = totals.items
    let all =
      items.done + items.failed + items.ambiguous + items.cancelled + items.waiting + (items.skipped ?? 0)
    let seconds = record.seconds
    let rate = seconds > 0 ? Int64(clamping: Double(totals.bytes.useful) / seconds) : 0
    var figures = [
      ("Delivered", NumberText.text(totals.itemsDoneInRun), "of \(NumberText.text(all)) items"),
      ("Transferred", ByteText.text(totals.bytes.useful), "at \(ByteText.text(rate))/s"),
      ("Duration", ElapsedText.text(seconds), "\(NumberText.text(totals.requests)) requests"),
    ]
    let bad = items.failed + items.ambiguous
    if bad > 0 {
      figures.append(
        (
          "Failed", NumberText.text(bad),
          items.ambiguous > 0 ? "\(NumberText.text(items.ambiguous)) of them ambiguous" : "items"
        ))
    }
    if items.waiting > 0 { figures.append(("Remaining", NumberText.text(items.waiting), "items")) }
    figures.append(
      ("Resent", ByteText.text(totals.bytes.resent), "\(ByteText.text(totals.bytes.overhead)) overhead"))
    if totals.resumes > 0 {
      figures.append(("Resumes", NumberText.text(totals.resumes), "in the background"))
    }
    if totals.idsAllocated > 0 {
      figures.append(
        ("Upload IDs", NumberText.text(totals.idsAllocated), "\(NumberText.text(totals.idsExpired)) expired"))
    }
    if items.unchanged > 0 {
      figures.append(("Unchanged", NumberText.text(items.unchanged), "delivered earlier"))
    }
    return figures
  }

  /// A time without its milliseconds.
  private static func moment(_ text: String) -> String {
    guard let time = Instant(rfc3339: text) else { return DisplayPath.line(text) }
    return time.rfc3339.prefix(19).replacing("T", with: " ") + " UTC"
  }

  private func causes(_ items: UnfinishedItems, _ record: RunRecord) -> [JSONLine] {
    var causes: [JSONLine] = []
    func add(
      _ count: Int, _ state: ReportState, _ message: String, example: String? = nil, query: String? = nil,
      commands: [String] = []
    ) {
      var line = JSONLine()
      line.add("count", Int64(count))
      line.add("state", state.rawValue)
      line.add("message", message)
      line.add("example", example)
      line.add("query", query)
      if !commands.isEmpty { line.add("commands", strings: commands.map { DisplayPath.line($0) }) }
      causes.append(line)
    }
    if let fault = record.run.fault { add(1, .failed, DisplayPath.joinedLines(fault)) }
    for node in record.nodes where node.hasOwnFailure {
      let reason = node.reason.map { ": " + ReasonText.text($0) } ?? ""
      add(
        1, node.state, "\(node.kind.rawValue) \(node.title)\(reason)", commands: node.ambiguity?.resolve ?? []
      )
    }
    for node in record.nodes {
      for group in node.problemGroups {
        add(
          group.count, .failed, "\(node.title): not listed: \(DisplayPath.line(group.message))",
          example: group.exampleName)
      }
    }
    for item in items.ambiguous.prefix(20) {
      let reason = item.reason.map { ReasonText.text($0) } ?? ""
      add(
        1, .ambiguous, "\(item.title): \(reason)", example: item.shownPath, query: item.shownPath,
        commands: item.ambiguity?.resolve ?? [])
    }
    let hidden = items.ambiguousCounts.values.reduce(0, +) - min(items.ambiguous.count, 20)
    if hidden > 0 { add(hidden, .ambiguous, "more items awaiting a decision") }
    for group in items.groups.all.prefix(Self.mostCauses) {
      let reason = group.example.reason.map { ReasonText.cause($0, of: group.example.shownPath) } ?? ""
      let message = reason.isEmpty ? group.example.title : "\(group.example.title): \(reason)"
      add(
        group.count, group.example.state, message, example: group.example.shownPath,
        query: group.count == 1
          ? group.example.shownPath : group.example.reason.map { DisplayPath.line($0.message) })
    }
    return causes
  }

  private static func nodes(_ record: RunRecord) -> [JSONLine] {
    let titles = record.nodes.map(\.title)
    return record.nodes.map { node in
      var line = JSONLine()
      line.add("name", node.title)
      line.add("kind", node.kind.rawValue)
      line.add("state", node.state.rawValue)
      line.add("reason", node.reason.map { ReasonText.text($0) })
      let needs = (node.needs ?? []).compactMap { titles.firstIndex(of: RunRecord.title($0, node.manifest)) }
      line.add("needs", numbers: needs.map(Double.init))
      let token = node.token.flatMap { titles.firstIndex(of: RunRecord.title($0, node.manifest)) }
      line.add("token", Int64(token ?? -1))
      if let counts = node.items { line.add("counts", counts.line) }
      return line
    }
  }

  private static func section(_ record: RunRecord) -> JSONLine {
    let seconds = record.timeline.map { max($0.durationSeconds, 0.001) } ?? record.seconds
    var section = JSONLine()
    section.add("start", record.startedAt.nanoseconds / 1_000_000)
    section.add("seconds", seconds)
    if let timeline = record.timeline {
      if let planned = record.plan?.timeline, let last = planned.flatMap(\.spans).map(\.to).max() {
        section.add("span", max(last, seconds))
      }
      section.add("lanes", lanes(timeline, planned: record.plan?.timeline ?? []).map(\.line))
      section.add(
        "marks",
        arrays: timeline.resumes.map {
          [
            .number($0.at),
            .text("resume of \($0.session), then a delay of \(ElapsedText.text($0.periodSeconds))"),
          ]
        })
      var samples = JSONLine()
      samples.add("interval", timeline.intervalSeconds)
      samples.add("bytes", numbers: timeline.bytes.map(Double.init))
      samples.add("requests", numbers: timeline.requests.map(Double.init))
      samples.add("done", numbers: timeline.itemsDone.map(Double.init))
      samples.add("flights", numbers: timeline.inFlight.map(Double.init))
      section.add("samples", samples)
      section.add("delays", delays(timeline.resumes))
    }
    section.add(
      "budgets",
      (record.run.budgets ?? []).map { budget in
        var line = JSONLine()
        line.add("network", budget.network.rawValue)
        line.add("from", budget.windowStart)
        line.add("to", budget.windowEnd)
        line.add("limit", budget.limitBytes)
        line.add("before", budget.usedBytesBefore)
        line.add("added", max(0, budget.usedBytesAfter -| budget.usedBytesBefore))
        return line
      })
    return section
  }

  /// The rows of the timeline: each node of a simulation above the same node of the run.
  private static func lanes(_ timeline: RunTimeline, planned: [RunTimeline.NodeSpans]) -> [HTMLLane] {
    func title(_ node: RunTimeline.NodeSpans) -> String { RunRecord.title(node.name, node.manifest) }
    let simulated = planned.map { HTMLLane(name: title($0), spans: $0.spans, isPlanned: true) }
    let byName = Dictionary(grouping: simulated, by: \.name)
    let ran = timeline.nodes.map { HTMLLane(name: title($0), spans: $0.spans) }
    let names = Set(ran.map(\.name))
    return ran.flatMap { (byName[$0.name] ?? []) + [$0] } + simulated.filter { !names.contains($0.name) }
  }

  private static func comparison(_ plan: PlanComparison) -> JSONLine {
    var rows = PlanComparisonText.rows(plan)
    rows[0].title = "All nodes"
    return HTMLTable(
      title: "Planned → actual", note: PlanComparisonText.title(plan),
      columns: ["Node"] + PlanComparisonText.columns.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        + ["Differences"],
      numbers: 1..<(PlanComparisonText.columns.count + 1),
      rows: rows.map { [$0.title] + $0.cells + [$0.differences] }
    ).line
  }

  private static func delays(_ resumes: [RunTimeline.Resume]) -> [JSONLine] {
    var sessions: [String: [RunTimeline.Resume]] = [:]
    for resume in resumes { sessions[resume.session, default: []].append(resume) }
    return sessions.sorted { $0.key < $1.key }.map { session, resumes in
      var line = JSONLine()
      line.add("session", session)
      line.add("points", arrays: resumes.map { [.number($0.at), .number($0.periodSeconds)] })
      return line
    }
  }
}
