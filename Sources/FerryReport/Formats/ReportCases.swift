import FerryPlan

/// One result of a run, for formats of test reports.
struct ReportCase {
  enum Outcome: Equatable {
    case passed, failed, ambiguous, cancelled, skipped, waiting
  }

  /// The title of the upload, or the kind of the node.
  var group: String
  /// The name of the item or the node as it is shown.
  var name: String
  var outcome: Outcome
  var state: ReportState
  var reason: RecordedFailure?
  var attempts: [RunRecord.AttemptRecord] = []
  /// The time of the item's requests; 0 if it is unknown.
  var seconds = 0.0
  var startedAt: Instant?
  var endedAt: Instant?

  /// The reason on one line.
  var message: String? { reason.map { ReasonText.text($0) } }
  /// Whether the item or node succeeded after a failed attempt.
  var isFlaky: Bool { outcome == .passed && !attempts.isEmpty }
}

/// The results of a run: the items that the report lists, in their order; a line for the other items of each upload; and
/// the single requests.
struct ReportCases {
  private let source: ReportSource

  init(_ source: ReportSource) { self.source = source }

  func each(_ body: (ReportCase) throws -> Void) throws {
    var listed: [String: ItemCounts] = [:]
    try source.eachItem { item in
      listed[item.title, default: ItemCounts()].count(item.state)
      try body(ReportCase(item))
    }
    for node in source.record.nodes {
      guard node.state != .notNeeded, node.state != .notSelected else { continue }
      guard node.kind.hasItems else {
        try body(ReportCase(node))
        continue
      }
      let problems = node.problems ?? []
      for problem in problems {
        try body(
          ReportCase(
            group: node.title, name: DisplayPath.shown(problem.path, base64: problem.pathBase64),
            outcome: .failed, state: .failed, reason: .init(code: problem.code, message: problem.message)))
      }
      try addRest(of: node, listed: listed[node.title] ?? ItemCounts(), unlisted: problems.count, body)
    }
    for shard in source.record.run.shards ?? [] {
      guard let absence = shard.absence else { continue }
      try body(
        ReportCase(group: "shards", name: shard.part, outcome: .waiting, state: .waiting, reason: absence))
    }
  }

  /// One case for all items of a state that the report does not list.
  private func addRest(
    of node: RunRecord.NodeRecord, listed: ItemCounts, unlisted: Int, _ body: (ReportCase) throws -> Void
  ) throws {
    let counts = node.items ?? ItemCounts()
    let rests: [(ReportCase.Outcome, ReportState, Int)] = [
      (.passed, .done, counts.done - listed.done),
      (.failed, .failed, counts.failed - listed.failed - unlisted),
      (.ambiguous, .ambiguous, counts.ambiguous - listed.ambiguous),
      (.cancelled, .cancelled, counts.cancelled - listed.cancelled),
      (.waiting, .waiting, counts.waiting - listed.waiting),
      (.skipped, .skipped, counts.skipped ?? 0),
      (.passed, .done, counts.unchanged),
    ]
    var isEmpty = listed == ItemCounts() && unlisted == 0
    for (index, (outcome, state, count)) in rests.enumerated() where count > 0 {
      isEmpty = false
      let words = index == rests.count - 1 ? "unchanged" : state.description
      let other = listed == ItemCounts() ? "" : "other "
      try body(
        ReportCase(
          group: node.title, name: "\(count) \(other)\(count == 1 ? "item" : "items"): \(words)",
          outcome: outcome, state: state, reason: outcome == .passed ? nil : node.reason))
    }
    if isEmpty { try body(ReportCase(node)) }
  }
}

extension ReportCase {
  init(_ item: RunRecord.ItemRecord) {
    group = item.title
    name = item.shownPath
    (outcome, state) = (Outcome(item.state), item.state)
    reason = item.reason
    attempts = item.attempts
    startedAt = item.startedAt.flatMap { Instant(rfc3339: $0) }
    endedAt = item.endedAt.flatMap { Instant(rfc3339: $0) }
    seconds = item.durationSeconds ?? item.attempts.reduce(0) { $0 + $1.durationSeconds }
  }

  init(_ node: RunRecord.NodeRecord) {
    let kind =
      switch node.kind {
      case .token: "tokens"
      case .upload: "uploads"
      case .download: "downloads"
      case .fetch: "fetches"
      case .request: "requests"
      }
    group = RunRecord.title(kind, node.manifest)
    name = DisplayPath.line(node.name)
    (outcome, state) = (Outcome(node.state), node.state)
    if node.isExcusedFailure { outcome = .skipped }
    reason = node.reason
    attempts = node.attempts
    seconds = node.attempts.reduce(0) { $0 + $1.durationSeconds }
  }
}

extension ReportCase.Outcome {
  init(_ state: ReportState) {
    switch state {
    case .succeeded, .done, .notNeeded: self = .passed
    case .failed: self = .failed
    case .ambiguous: self = .ambiguous
    case .cancelled: self = .cancelled
    case .skipped, .notSelected, .never, .stored: self = .skipped
    case .waiting, .queued, .allocated, .transferred, .new, .run, .ask, .notDue: self = .waiting
    }
  }
}

extension ItemCounts {
  fileprivate mutating func count(_ state: ReportState) {
    switch state {
    case .done, .succeeded: done += 1
    case .failed: failed += 1
    case .ambiguous: ambiguous += 1
    case .cancelled: cancelled += 1
    case .waiting, .skipped, .notSelected, .notNeeded, .queued, .allocated, .transferred, .new, .run, .ask,
      .notDue, .never, .stored:
      waiting += 1
    }
  }
}
