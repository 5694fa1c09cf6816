import FerryPlan
import FerrySimulation

/// A simulation as one HTML page: one section below another, for each policy of the resume delay.
package struct SimulationHTML {
  private let document: SimulationDocument
  private let plan: PlanDocument

  /// - Parameter plan: the plan that was simulated.
  package init(_ document: SimulationDocument, plan: PlanDocument) {
    self.document = document
    self.plan = plan
  }

  /// - Parameter zone: the time zone of the text for a browser without scripts.
  package func render(to sink: any ByteSink, in zone: CalendarZone) throws {
    let page = HTMLPage(
      title: document.manifest, kicker: "ferry plan --simulate", verdict: verdict, level: level, facts: facts,
      figures: figures, text: SimulationText.text(document, in: zone))
    try page.render(to: sink) { data in
      var body = JSONLine()
      body.add("causes", [] as [JSONLine])
      body.add("nodes", nodes)
      // All policies have the same time axis, so that they can be compared.
      let span = document.forecasts.map { end(of: $0.forecast) }.max() ?? 0
      body.add("sections", document.forecasts.map { section($0, span: span) })
      if document.forecasts.count > 1 { body.add("table", comparison) }
      try data.write(body.bytes)
    }
  }

  private var level: ReportVerdict.Level {
    if document.forecasts.contains(where: { entry in entry.forecast.nodes.contains { $0.state == .failed } })
    {
      return .bad
    }
    return document.forecasts.allSatisfy(\.forecast.isThrough) ? .good : .waiting
  }

  private var verdict: String {
    document.forecasts.map { entry in
      let forecast = entry.forecast
      let time = ElapsedText.text(forecast.seconds)
      let end =
        !forecast.isThrough
        ? "the round is not complete within \(time)"
        : forecast.rounds > 1
          ? "\(NumberText.text(forecast.rounds)) rounds are complete, the first after \(time)"
          : "the round is complete after \(time)"
      return document.forecasts.count == 1
        ? capitalized(end) + "." : "With the policy \(entry.policy.rawValue), \(end)."
    }.joined(separator: " ")
  }

  private func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  private var facts: [(String, String)] {
    let network = document.network
    var facts = [
      ("Manifest", DisplayPath.line(document.path)), ("Launch", document.launch.rawValue),
      (
        "Bandwidth",
        "\(ByteText.text(Int64(clamping: network.bytesPerSecond)))/s \(network.isPerConnection ? "per connection" : "in total")"
          + (network.isMeasured ? ", as measured" : "")
      ),
      ("Latency", ElapsedText.text(network.latencySeconds)), ("Loss", PercentText.text(network.lossPercent)),
      ("Network", document.conditions.network.rawValue), ("Power", document.conditions.power.rawValue),
      ("Seed", "\(document.seed)"),
    ]
    if let launches = document.launches { facts.append(("Launches", DisplayPath.line(launches))) }
    return facts
  }

  private var figures: [(String, String, String)] {
    guard let first = document.forecasts.first, document.forecasts.count == 1 else { return [] }
    let forecast = first.forecast
    let done = forecast.nodes.reduce(0) { $0 + ($1.work?.itemsDone ?? 0) }
    var figures = [
      ("Delivered", NumberText.text(done), "items"), ("Requests", NumberText.text(forecast.requests), ""),
      ("Launches", NumberText.text(forecast.launches), "\(NumberText.text(forecast.resumes)) resumes"),
      ("Rounds", NumberText.text(forecast.rounds), "complete"),
    ]
    if forecast.idsAllocated > 0 {
      figures.append(
        (
          "Upload IDs", NumberText.text(forecast.idsAllocated),
          "\(NumberText.text(forecast.idsExpired)) expired"
        ))
    }
    return figures
  }

  /// The policies, one in each row.
  private var comparison: JSONLine {
    let allocates = document.forecasts.contains { $0.forecast.idsAllocated > 0 }
    let columns =
      ["Policy", "Completed after", "Launches", "Resumes", "Requests"]
      + (allocates ? ["Upload IDs expired"] : [])
    return HTMLTable(
      title: "Policies of the resume delay", columns: columns, numbers: 2..<columns.count,
      rows: document.forecasts.map { entry in
        let forecast = entry.forecast
        let time = ElapsedText.text(forecast.seconds)
        return [
          entry.policy.rawValue, forecast.isThrough ? time : "not within \(time)",
          NumberText.text(forecast.launches), NumberText.text(forecast.resumes),
          NumberText.text(forecast.requests),
        ] + (allocates ? [NumberText.text(forecast.idsExpired)] : [])
      }
    ).line
  }

  private var nodes: [JSONLine] {
    let ends = Dictionary(
      (document.forecasts.first?.forecast.nodes ?? []).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let names = plan.nodes.map(\.name)
    return plan.nodes.map { node in
      let end = ends[node.name]
      var line = JSONLine()
      line.add("name", node.name)
      line.add("kind", node.kind.rawValue)
      line.add("state", (end?.state ?? (node.kind == .token ? .notNeeded : node.state)).rawValue)
      line.add("reason", (end?.reason ?? node.reason).map { ReasonText.text($0) })
      line.add("needs", numbers: node.needs.compactMap { names.firstIndex(of: $0) }.map(Double.init))
      line.add("token", Int64(node.token.flatMap { names.firstIndex(of: $0) } ?? -1))
      if let counts = end?.items { line.add("counts", counts.line) }
      return line
    }
  }

  private func start(of forecast: Forecast) -> Instant {
    Instant(rfc3339: forecast.startedAt) ?? Instant(nanoseconds: 0)
  }

  /// The end of the simulated time, in seconds after its start.
  private func end(of forecast: Forecast) -> Double {
    let end = Instant(rfc3339: forecast.simulatedUntil)
    return end.map { max(0, start(of: forecast).duration(to: $0).seconds) } ?? forecast.seconds
  }

  private func section(_ entry: SimulationDocument.Entry, span: Double) -> JSONLine {
    let forecast = entry.forecast
    let start = start(of: forecast)
    func offset(_ text: String) -> Double? {
      Instant(rfc3339: text).map { max(0, start.duration(to: $0).seconds) }
    }
    var section = JSONLine()
    if document.forecasts.count > 1 { section.add("title", "Policy \(entry.policy.rawValue)") }
    section.add("start", start.nanoseconds / 1_000_000)
    section.add("seconds", end(of: forecast))
    section.add("span", span)
    var legend = JSONLine()
    legend.add("sending", "a batch, from queued to completed")
    legend.add("requesting", "a fetch or request")
    legend.add("retrying", "a fetch that failed")
    section.add("legend", legend)
    section.add(
      "lanes",
      forecast.nodes.compactMap { node in
        let spans = node.spans(in: forecast)
        return spans.isEmpty ? nil : HTMLLane(name: node.name, spans: spans).line
      })
    section.add(
      "marks",
      arrays: forecast.timeline.filter { $0.delaySeconds != nil }.compactMap { moment in
        offset(moment.at).map { [.number($0), .text(moment.text)] }
      })
    section.add("delays", delays(forecast, offset))
    section.add(
      "budgets",
      forecast.budgets.map { budget in
        var line = JSONLine()
        line.add("network", budget.network.rawValue)
        line.add("from", budget.windowStart)
        line.add("to", budget.windowEnd)
        line.add("limit", budget.limitBytes)
        line.add("before", Int64(0))
        line.add("added", budget.usedBytes)
        return line
      })
    let shown = forecast.timeline.prefix(Self.mostEvents)
    section.add(
      "events",
      arrays: shown.map {
        [.text($0.at.prefix(19).replacing("T", with: " ") + " UTC"), .text(DisplayPath.line($0.text))]
      })
    if forecast.timeline.count > shown.count {
      section.add(
        "eventsNote",
        "the first \(NumberText.text(shown.count)) of \(NumberText.text(forecast.timeline.count))")
    }
    return section
  }

  private static let mostEvents = 1000

  private func delays(_ forecast: Forecast, _ offset: (String) -> Double?) -> [JSONLine] {
    var sessions: [String: [[JSONLine.Scalar]]] = [:]
    for moment in forecast.timeline {
      guard let session = moment.session, let period = moment.delaySeconds, let at = offset(moment.at) else {
        continue
      }
      sessions[session, default: []].append([.number(at), .number(period)])
    }
    return sessions.sorted { $0.key < $1.key }.map { session, points in
      var line = JSONLine()
      line.add("session", session)
      line.add("points", arrays: points)
      return line
    }
  }
}
