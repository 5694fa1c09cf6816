import FerryPlan

/// The summary that a run prints when it ends: at most ten lines with the traffic, the failures with their causes,
/// and the next step. `ReportText` has no such limit.
package struct RunSummary {
  /// The largest number of lines.
  package static let mostLines = 10
  /// The largest number of columns of a line. Commands and the path of the report are not shortened.
  private static let columns = 400

  /// Commands that the summary recommends.
  package struct Commands {
    package var status: String
    package var resume: String
    package var report: String

    package init(status: String, resume: String, report: String) {
      self.status = status
      self.resume = resume
      self.report = report
    }
  }

  let record: RunRecord
  let items: UnfinishedItems
  let commands: Commands
  private let report: String

  /// - Parameter report: the path of the stored report.
  package init(_ source: ReportSource, commands: Commands, report: String) throws {
    record = source.record
    items = try UnfinishedItems(source)
    self.commands = commands
    self.report = report
  }

  package var text: String {
    let (middle, hidesAmbiguities) = middle
    let next = next(hidesAmbiguities: hidesAmbiguities).map { "next: \($0)" }
    let tail = [next, "report: \(DisplayPath.line(report))"].compactMap(\.self)
    let lines = [headline] + ([traffic] + middle + tail).map { "  \($0)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private var headline: String {
    let verdict = ReportVerdict(record)
    let counts = verdict.counts.isEmpty ? "" : ": \(verdict.counts.joined(separator: ", "))"
    // The names come first, so the verdict does not begin with a capital letter.
    let lead = verdict.lead.prefix(1).lowercased() + verdict.lead.dropFirst()
    return Self.fitted("\(record.names): \(lead) (exit code \(record.run.exitCode))\(counts)")
  }

  /// The bytes sent and received, the duration and the rate.
  private var traffic: String {
    let (totals, seconds) = (record.totals, record.seconds)
    let bytes = totals.bytes
    guard totals.requests > 0 else { return "no requests, \(ElapsedText.text(seconds))" }
    var parts: [String] = []
    let all: Int64
    if let sent = bytes.sent, let received = bytes.received {
      parts = ["sent \(ByteText.text(sent))", "received \(ByteText.text(received))"]
      all = sent +| received
    } else {
      all = bytes.useful +| bytes.resent +| bytes.overhead
      parts = ["transferred \(ByteText.text(all))"]
    }
    parts.append("\(NumberText.text(totals.requests)) \(totals.requests == 1 ? "request" : "requests")")
    parts.append(ElapsedText.text(seconds))
    if seconds > 0 { parts.append("\(ByteText.text(Int64(clamping: Double(all) / seconds)))/s") }
    if bytes.resent > 0 { parts.append("\(ByteText.text(bytes.resent)) of files resent") }
    return parts.joined(separator: ", ")
  }

  /// The lines of the nodes and problems, and whether they omit a request that needs a decision.
  private var middle: (lines: [String], hidesAmbiguities: Bool) {
    // The headline, the traffic, the next step and the report have a line each.
    let space = Self.mostLines - 4
    let problems = problems
    let count = problems.reduce(0) { $0 + $1.lines.count }
    let notable = nodes { !$0.isFine }
    let everything = nodes { _ in true } + problems.flatMap(\.lines) + ends
    if everything.count <= space { return (everything, ambiguousCount > listed(problems)) }
    if notable.count + count <= space {
      return (notable + problems.flatMap(\.lines), ambiguousCount > listed(problems))
    }
    let all = problems + notable.map { Problem(lines: [$0]) }
    var shown: [Problem] = []
    for problem in all where shown.reduce(problem.lines.count, { $0 + $1.lines.count }) < space {
      shown.append(problem)
    }
    let rest = all.count - shown.count
    return (
      shown.flatMap(\.lines) + ["… and \(NumberText.text(rest)) more: \(DisplayPath.line(commands.report))"],
      ambiguousCount > listed(shown)
    )
  }

  private func nodes(where isShown: (RunRecord.NodeRecord) -> Bool) -> [String] {
    record.nodes.filter { $0.state != .notNeeded && $0.state != .notSelected && isShown($0) }
      .map { Self.fitted(NodeText.line($0)) }
  }

  /// The requests of `on_end` that did not fail.
  private var ends: [String] {
    (record.run.onEnd ?? []).filter { !$0.isFailure }.map { Self.fitted(NodeText.line($0)) }
  }

  /// The number of items and nodes that need a decision, including those of earlier runs. No decision can be recorded in
  /// an ephemeral session.
  private var ambiguousCount: Int {
    let all = items.ambiguous.map(\.ambiguity) + record.nodes.map(\.ambiguity)
    return record.totals.items.ambiguous
      + record.nodes.count { !$0.kind.hasItems && $0.state == .ambiguous }
      - all.count { $0?.resolve.isEmpty == true }
  }

  private func listed(_ problems: [Problem]) -> Int { problems.count(where: \.isAmbiguity) }

  private func next(hidesAmbiguities: Bool) -> String? {
    if hidesAmbiguities {
      return
        "to list ambiguous items with the commands that resolve them, run: \(DisplayPath.line(commands.status))"
    }
    let isOpen = (record.run.manifests ?? []).contains { !$0.roundClosed }
    let resume = isOpen ? "run: \(DisplayPath.line(commands.resume))" : "run the manifest again"
    switch ExitCode(rawValue: record.run.exitCode) ?? .fault {
    case .success: return record.totals.items.waiting > 0 ? "to continue, \(resume)" : nil
    case .itemsFailed:
      guard record.totals.items.failed > 0 || record.nodes.contains(where: { $0.state == .failed }) else {
        return isOpen ? "to continue, \(resume)" : nil
      }
      // Items that failed belong to the next round.
      return isOpen
        ? "to continue, \(resume); the next round retries what failed"
        : "correct the causes; the next run retries what failed"
    case .temporary where record.nodes.contains(where: \.waitsForShards):
      return "run the shards that are not ready; then \(resume)"
    case .temporary, .cutOff, .interrupted, .terminated, .sessionInUse: return "to continue, \(resume)"
    case .deferred:
      return record.run.deferredUntil.map { "the remaining work can continue at \($0); then \(resume)" }
        ?? "when the conditions have changed, \(resume)"
    case .authorization: return "check the credentials; then \(resume)"
    case .integrity: return "do not change files during a run; to send them again, \(resume)"
    case .fault: return "correct the fault; then \(resume)"
    case .usage: return "correct the list; then \(resume)"
    case .invalidManifest: return nil
    }
  }

  static func fitted(_ line: String) -> String { ProgressText.cut(line, columns: columns) }
}
