import FerryPlan

/// The outcome of a run in one sentence.
struct ReportVerdict {
  enum Level: String {
    case good
    /// Work remains, and a later run continues it.
    case waiting
    case bad
  }

  let level: Level
  /// The beginning of the sentence, without the counts.
  let lead: String
  /// The number of items in each state, such as `8 items delivered` and `2 failed`.
  let counts: [String]
  let sentence: String

  init(_ record: RunRecord) {
    let code = ExitCode(rawValue: record.run.exitCode) ?? .fault
    level =
      switch code {
      case .success: .good
      case .deferred, .cutOff, .temporary, .interrupted, .terminated, .sessionInUse: .waiting
      case .itemsFailed, .usage, .invalidManifest, .integrity, .authorization, .fault: .bad
      }
    let totals = record.totals
    var parts: [String] = []
    if totals.itemsDoneInRun > 0 { parts.append("\(Self.items(totals.itemsDoneInRun)) delivered") }
    let counts = totals.items
    let earlier = counts.done - totals.itemsDoneInRun
    for (count, words) in [
      (counts.failed, "failed"), (counts.ambiguous, "awaiting a decision"),
      (counts.cancelled, "canceled"),
      (counts.waiting, "remaining"), (counts.skipped ?? 0, "not started"),
      (earlier, "delivered earlier in this round"), (counts.unchanged, "unchanged"),
    ] where count > 0 {
      parts.append("\(parts.isEmpty ? Self.items(count) : NumberText.text(count)) \(words)")
    }
    lead = record.run.state == .interrupted ? "The run was killed" : Self.lead(code, record)
    self.counts = parts
    if totals.itemsDoneInRun > 0 {
      parts[0] += " (\(ByteText.text(totals.bytes.useful)) in \(ElapsedText.text(record.seconds)))"
    }
    sentence = parts.isEmpty ? "\(lead)." : "\(lead): \(parts.joined(separator: ", "))."
  }

  private static func items(_ count: Int) -> String {
    "\(NumberText.text(count)) \(count == 1 ? "item" : "items")"
  }

  private static func lead(_ code: ExitCode, _ record: RunRecord) -> String {
    switch code {
    case .success:
      // With --limit or --only, work may remain.
      record.totals.items.waiting > 0
        ? "Everything that was selected is done"
        : record.run.stop == nil ? "Everything is done" : "Everything is done, although the run was stopped"
    case .itemsFailed:
      record.totals.items.failed + record.totals.items.ambiguous + record.totals.items.cancelled > 0
        ? "Not everything was delivered" : "Something failed"
    // A run that cannot start has no report.
    case .usage: "A list could not be read"
    case .invalidManifest: "The manifest is invalid"
    case .integrity: "A file changed during the run"
    case .temporary: "Some work failed, and the next run retries it"
    case .sessionInUse: "Another process holds a session"
    case .authorization: "Authorization failed"
    case .deferred: "The remaining work is waiting"
    case .cutOff:
      // The execution window and the time limit of a shard also end a run, but they are not separate stop causes.
      record.run.stop == .maxDuration
        ? "The run reached its time limit, and the next run continues"
        : "The run ended before all work was done, and the next run continues"
    case .fault: "ferry failed"
    case .interrupted: "The run was stopped by SIGINT, and the next run continues"
    case .terminated: "The run was stopped by SIGTERM, and the next run continues"
    }
  }
}
