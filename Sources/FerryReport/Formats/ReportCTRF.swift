import FerryPlan

/// A report in the Common Test Report Format (https://ctrf.io), which many CI actions read.
struct ReportCTRF: ReportRenderer {
  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    let cases = ReportCases(source)
    var counts: [Status: Int] = [:]
    var (tests, flaky) = (0, 0)
    try cases.each { item in
      tests += 1
      if item.isFlaky { flaky += 1 }
      counts[Status(item.outcome), default: 0] += 1
    }
    var summary = JSONLine()
    summary.add("tests", Int64(tests))
    for status in Status.allCases { summary.add(name: status.rawValue, Int64(counts[status] ?? 0)) }
    summary.add("flaky", Int64(flaky))
    summary.add("start", record.startedAt.milliseconds)
    summary.add("stop", record.endedAt.milliseconds)
    summary.add("duration", Int64(clamping: record.seconds * 1000))
    var extra = JSONLine()
    extra.add("exit_code", Int64(record.run.exitCode))
    extra.add("fault", record.run.fault)
    summary.add("extra", extra)
    var head = JSONLine()
    head.add("reportFormat", "CTRF")
    head.add("specVersion", "1.0.0")
    head.add("runId", record.run.id)
    head.add("timestamp", record.run.endedAt)
    head.add("generatedBy", "ferry")
    var tool = JSONLine()
    tool.add("name", "ferry")
    try sink.write(head.bytes.dropLast() + Array(",\n\"results\":{\"tool\":".utf8) + tool.bytes)
    try sink.write(Array(",\n\"summary\":".utf8) + summary.bytes + Array(",\n\"tests\":[".utf8))
    var isFirst = true
    try cases.each { item in
      try sink.write(Array((isFirst ? "\n" : ",\n").utf8) + Self.line(item, of: record).bytes)
      isFirst = false
    }
    try sink.write("\n]}}\n")
  }

  private enum Status: String, CaseIterable {
    case passed, failed, skipped, pending, other

    init(_ outcome: ReportCase.Outcome) {
      switch outcome {
      case .passed: self = .passed
      case .failed: self = .failed
      case .ambiguous: self = .other
      case .cancelled, .skipped: self = .skipped
      case .waiting: self = .pending
      }
    }
  }

  private static func line(_ item: ReportCase, of record: RunRecord) -> JSONLine {
    var line = JSONLine()
    // The schema requires a name of at least one character.
    line.add("name", item.name.isEmpty ? "\"\"" : item.name)
    line.add("status", Status(item.outcome).rawValue)
    line.add("duration", Int64(clamping: item.seconds * 1000))
    line.add("start", item.startedAt?.milliseconds)
    line.add("stop", item.endedAt?.milliseconds)
    line.add("suite", strings: [record.names, item.group])
    line.add("message", item.message)
    line.add("rawStatus", item.state.rawValue)
    if !item.attempts.isEmpty {
      let isRetried = item.outcome == .passed
      line.add("retries", Int64(isRetried ? item.attempts.count : item.attempts.count - 1))
      line.add("flaky", isSet: item.isFlaky)
      line.add(
        "retryAttempts",
        item.attempts.enumerated().map { index, attempt in
          var line = JSONLine()
          line.add("attempt", Int64(index + 1))
          line.add("status", "failed")
          line.add("duration", Int64(clamping: attempt.durationSeconds * 1000))
          line.add("message", DisplayPath.line(attempt.message))
          return line
        })
    }
    if let reason = item.reason {
      var extra = JSONLine()
      extra.add("code", reason.code.rawValue)
      extra.add("http_status", reason.status.map(Int64.init))
      line.add("extra", extra)
    }
    return line
  }
}

extension Instant {
  /// Milliseconds since 1970.
  fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
