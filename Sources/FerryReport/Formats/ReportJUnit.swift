import FerryPlan

/// A report as JUnit XML, as Jenkins and GitLab read it. The class name is the upload, and the name is the item.
struct ReportJUnit: ReportRenderer {
  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let cases = ReportCases(source)
    var counts = (tests: 0, failures: 0, errors: 0, skipped: 0)
    try cases.each { item in
      counts.tests += 1
      switch item.outcome {
      case .passed: break
      case .failed: counts.failures += 1
      case .ambiguous: counts.errors += 1
      case .cancelled, .skipped, .waiting: counts.skipped += 1
      }
    }
    let run = source.record.run
    if run.fault != nil {
      counts.tests += 1
      counts.errors += 1
    }
    let totals =
      "tests=\"\(counts.tests)\" failures=\"\(counts.failures)\" errors=\"\(counts.errors)\" "
      + "time=\"\(Self.time(source.record.seconds))\""
    let name = XMLText.escaped(source.record.names)
    try sink.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="ferry" \(totals)>
        <testsuite name="\(name)" \(totals) skipped="\(counts.skipped)" timestamp="\(source.record.startedAt.rfc3339.prefix(19))" id="\(XMLText.escaped(run.id))">

      """)
    try cases.each { try sink.write(Self.element($0)) }
    if let fault = run.fault {
      try sink.write(
        "    <testcase classname=\"ferry\" name=\"run\" time=\"0\">\n"
          + "      <error type=\"fault\" message=\"\(XMLText.escaped(DisplayPath.joinedLines(fault)))\"/>\n    </testcase>\n"
      )
    }
    try sink.write("  </testsuite>\n</testsuites>\n")
  }

  private static func element(_ item: ReportCase) -> String {
    let start =
      "    <testcase classname=\"\(XMLText.escaped(item.group))\" name=\"\(XMLText.escaped(item.name))\" "
      + "time=\"\(time(item.seconds))\""
    var parts = item.isFlaky ? item.attempts.map { attempt("flakyFailure", $0) } : []
    let message = item.message.map { " message=\"\(XMLText.escaped($0))\"" } ?? ""
    let code = XMLText.escaped(item.reason?.code.rawValue ?? item.state.rawValue)
    let details = XMLText.escaped(item.attempts.map(line).joined(separator: "\n"))
    switch item.outcome {
    case .passed: break
    case .failed: parts.append("<failure type=\"\(code)\"\(message)>\(details)</failure>")
    case .ambiguous: parts.append("<error type=\"\(code)\"\(message)>\(details)</error>")
    case .cancelled, .skipped, .waiting: parts.append("<skipped type=\"\(code)\"\(message)/>")
    }
    guard !parts.isEmpty else { return start + "/>\n" }
    return start + ">\n" + parts.map { "      \($0)\n" }.joined() + "    </testcase>\n"
  }

  private static func attempt(_ name: String, _ attempt: RunRecord.AttemptRecord) -> String {
    "<\(name) type=\"\(XMLText.escaped(attempt.code.rawValue))\" message=\"\(XMLText.escaped(line(attempt)))\"/>"
  }

  /// A failed attempt on one line.
  private static func line(_ attempt: RunRecord.AttemptRecord) -> String {
    DisplayPath.line("\(attempt.endedAt) \(attempt.step.rawValue): \(attempt.message)")
  }

  /// Seconds with three digits after the decimal point.
  private static func time(_ seconds: Double) -> String {
    let milliseconds = Int64(clamping: (max(0, seconds) * 1000).rounded())
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
