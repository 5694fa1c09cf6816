import FerryPlan
import FerrySimulation

/// Formats a simulation as text.
package enum SimulationText {
  /// The number of lines shown from the start and the end of a timeline.
  private static let (head, tail) = (40, 10)

  /// Formats a simulation document as text.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ document: SimulationDocument, in zone: CalendarZone) -> String {
    let network = document.network
    let share = network.isPerConnection ? "per connection" : "in total"
    let origin = network.isMeasured ? ", as measured" : ""
    var lines = [
      "\(document.manifest): simulation of \(launches(document))",
      "  network: \(ByteText.text(Int64(clamping: network.bytesPerSecond)))/s \(share)\(origin), "
        + "latency \(seconds(network.latencySeconds)), \(decimal(network.lossPercent))% loss; seed \(document.seed)",
    ]
    if let onEnd = document.onEnd {
      lines.append("  after each launch, not simulated: on_end \(onEnd.joined(separator: ", "))")
    }
    if let names = document.listedAtRunTime {
      lines.append(
        "  not simulated: files that are known only at run time, of \(names.joined(separator: ", "))")
    }
    if let unknown = document.unknownSizes {
      lines.append(
        "  assumed: \(count(unknown, "item", "items")) of unknown size \(unknown == 1 ? "has" : "have") "
          + "\(ByteText.text(network.fetchSizeBytes))\(unknown == 1 ? "" : " each") (--fetch-size)")
    }
    if document.forecasts.count > 1 { lines += [""] + comparison(document, zone) }
    for entry in document.forecasts {
      lines += [""] + forecast(entry, zone, isOne: document.forecasts.count == 1)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func launches(_ document: SimulationDocument) -> String {
    let kind = document.launch.rawValue
    let later = document.continues ? ", and of one more whenever a fetch is due" : ""
    return document.launches.map { "\(kind) launches at \($0)" } ?? "one \(kind) launch that waits\(later)"
  }

  private static func comparison(_ document: SimulationDocument, _ zone: CalendarZone) -> [String] {
    let rows =
      [["policy", "completed after", "launches", "resumes", "requests", "IDs expired"]]
      + document.forecasts.map { entry in
        let forecast = entry.forecast
        return [
          entry.policy.rawValue,
          forecast.isThrough ? seconds(forecast.seconds) : "not within \(seconds(forecast.seconds))",
          "\(forecast.launches)", "\(forecast.resumes)", "\(forecast.requests)", "\(forecast.idsExpired)",
        ]
      }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "  " + (padded.dropLast() + [row.last ?? ""]).joined(separator: "  ")
    }
  }

  private static func forecast(_ entry: SimulationDocument.Entry, _ zone: CalendarZone, isOne: Bool)
    -> [String]
  {
    let forecast = entry.forecast
    var lines = ["resume delay policy \(entry.policy.rawValue)"]
    if isOne {
      let moments = forecast.timeline
      for moment in moments.prefix(head) { lines.append("  \(shown(moment.at, zone))  \(moment.text)") }
      let hidden = moments.count - head - tail
      if hidden > 0 { lines.append("  … \(hidden) more in the output of --format json") }
      for moment in moments.dropFirst(head).suffix(tail) {
        lines.append("  \(shown(moment.at, zone))  \(moment.text)")
      }
    }
    let hasOneRound = forecast.rounds < 2
    let end =
      !forecast.isThrough
      ? "the round is still open"
      : hasOneRound ? "the round is complete" : "\(forecast.rounds) rounds are complete, the first"
    lines.append(
      "  \(shown(hasOneRound ? forecast.endedAt : forecast.simulatedUntil, zone))  \(end) after "
        + "\(seconds(forecast.seconds)): "
        + "\(count(forecast.launches, "launch", "launches")), \(count(forecast.resumes, "resume", "resumes")), "
        + count(forecast.requests, "request", "requests"))
    if forecast.idsAllocated > 0 {
      lines.append(
        "  upload IDs: \(forecast.idsAllocated) allocated, \(forecast.idsExpired) expired before use")
    }
    for node in forecast.nodes { lines.append("  " + line(node, zone)) }
    for budget in forecast.budgets.prefix(head) {
      lines.append(
        "  budget \(budget.network.rawValue) from \(shown(budget.windowStart, zone)): "
          + "\(ByteText.text(budget.usedBytes)) of \(ByteText.text(budget.limitBytes))")
    }
    if forecast.budgets.count > head {
      lines.append("  … \(forecast.budgets.count - head) more windows in the output of --format json")
    }
    return lines
  }

  private static func line(_ node: Forecast.NodeEntry, _ zone: CalendarZone) -> String {
    var text = "\(node.kind.rawValue) \(node.name): \(node.state)"
    if let items = node.items {
      text += ", \(items.done) done"
      if items.failed > 0 { text += ", \(items.failed) failed" }
      if items.waiting > 0 { text += ", \(items.waiting) waiting" }
      text += ", " + count(node.batches.count, "batch", "batches")
    }
    if let counts = node.fetchCounts {
      for (number, result) in [
        (counts.newData, FetchResult.newData), (counts.noData, .noData), (counts.failed, .failed),
      ] where number > 0 {
        text += ", \(number) \(result.rawValue)"
      }
      if let interval = counts.intervalSeconds { text += ", the interval is \(seconds(interval))" }
    }
    if let endedAt = node.endedAt { text += ", last at \(shown(endedAt, zone))" }
    if let reason = node.reason { text += " (\(ReasonText.text(reason, in: zone)))" }
    return text
  }

  private static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  private static func shown(_ moment: String, _ zone: CalendarZone) -> String {
    guard let instant = Instant(rfc3339: moment) else { return moment }
    return String(instant.rfc3339(in: zone).prefix(19)).replacing("T", with: " ")
  }

  /// A string such as `90.5 s`, `2.5 h` or `3.1 days`.
  private static func seconds(_ seconds: Double) -> String {
    let (value, unit) =
      seconds < 120
      ? (seconds, "s")
      : seconds < 7200
        ? (seconds / 60, "min") : seconds < 172_800 ? (seconds / 3600, "h") : (seconds / 86_400, "days")
    return "\(decimal(value)) \(unit)"
  }

  /// Formats a number that is not negative with at most two decimal places.
  private static func decimal(_ value: Double) -> String {
    let scaled = Int64(clamping: (value * 100).rounded())
    let fraction = scaled % 100
    let digits =
      fraction == 0
      ? "" : fraction % 10 == 0 ? ".\(fraction / 10)" : fraction < 10 ? ".0\(fraction)" : ".\(fraction)"
    return "\(scaled / 100)\(digits)"
  }
}
