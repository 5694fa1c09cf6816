import FerryPlan

/// The items of a report for the table of its page: one array for each item. An item's array ends with an object if the
/// item has details.
struct HTMLItems {
  private let record: RunRecord
  private let encoder = ReportJSON.encoder([.withoutEscapingSlashes])

  init(_ record: RunRecord) { self.record = record }

  private static let states: [ReportState] = [.done, .failed, .ambiguous, .cancelled, .waiting]

  func write(_ source: ReportSource, to sink: any ByteSink) throws {
    var uploads: [String: Int] = [:]
    var titles: [String] = []
    var count = 0
    let start = record.startedAt
    try sink.write("{\"rows\":[")
    try source.eachItem { item in
      count += 1
      guard count <= ReportHTML.mostItems else { return }
      let title = item.title
      let upload = uploads[title] ?? titles.count
      if upload == titles.count {
        titles.append(title)
        uploads[title] = upload
      }
      var row = Array((count == 1 ? "\n[\(upload)," : ",\n[\(upload),").utf8)
      JSONString.append(item.shownPath, to: &row)
      let begun = item.startedAt.flatMap { Instant(rfc3339: $0) }
      let offset = begun.map { max(0, start.duration(to: $0).seconds * 1000).rounded() } ?? -1
      let duration = item.durationSeconds.map { ($0 * 1000).rounded() } ?? -1
      let state = Self.states.firstIndex(of: item.state) ?? Self.states.count - 1
      row +=
        ",\(item.size),\(state),\(Int64(clamping: offset)),\(Int64(clamping: duration)),\(item.requests ?? -1)"
        .utf8
      if let details = details(of: item) { row += [UInt8(ascii: ",")] + details.bytes }
      row.append(UInt8(ascii: "]"))
      try sink.write(PrintableJSON.escaping(row))
    }
    var tail = JSONLine()
    tail.add("uploads", strings: titles)
    tail.add("states", strings: Self.states.map(\.rawValue))
    tail.add("scope", record.run.listedItems?.rawValue ?? "notable")
    tail.add("start", start.nanoseconds / 1_000_000)
    tail.add("omitted", Int64(max(0, count - ReportHTML.mostItems)))
    try sink.write(Array("],".utf8) + tail.bytes.dropFirst())
  }

  private func details(of item: RunRecord.ItemRecord) -> JSONLine? {
    guard item.reason != nil || !item.attempts.isEmpty || item.ambiguity != nil || item.sha256 != nil else {
      return nil
    }
    var line = JSONLine()
    line.add("reason", item.reason.map { ReasonText.text($0) })
    line.add("code", item.reason?.code.rawValue)
    line.add("url", item.reason?.detail?.url.map { DisplayPath.line($0) })
    line.add("body", item.reason?.detail?.body)
    line.add("sha256", item.sha256)
    if !item.attempts.isEmpty {
      line.add(
        "attempts",
        arrays: item.attempts.map { attempt in
          [
            .text(attempt.endedAt), .text(attempt.step.rawValue),
            .number((attempt.durationSeconds * 1000).rounded()),
            .text(DisplayPath.line(attempt.message)),
          ]
        })
    }
    if let ambiguity = item.ambiguity, !ambiguity.resolve.isEmpty {
      line.add("resolve", strings: ambiguity.resolve.map { DisplayPath.line($0) })
    }
    return line
  }
}
