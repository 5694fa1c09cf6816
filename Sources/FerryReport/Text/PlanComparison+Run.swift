import FerryManifest
import FerryPlan

extension PlanComparison {
  /// The largest number of spans of a simulated timeline.
  private static let mostSpans = 20_000
  /// Durations differ if one of them is longer by this factor, and by at least `leastSeconds`.
  private static let ratio = 1.2
  private static let leastSeconds = 0.5

  /// Compares a plan with a run. Only the nodes of the plan's manifest are compared.
  package init(_ planned: PlannedRun, _ record: RunRecord) {
    let manifests = record.run.manifests ?? []
    let title = manifests.count > 1 ? planned.manifest : nil
    let records = record.nodes.filter { $0.manifest == title }
    let spans = Dictionary(
      (record.timeline?.nodes ?? []).filter { $0.manifest == title }.map { ($0.name, $0.spans) },
      uniquingKeysWith: { first, _ in first })
    let actual = Dictionary(records.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let names = Set(planned.nodes.map(\.name))
    var nodes = planned.nodes.map {
      NodeEntry(title, $0, actual[$0.name], spans: spans[$0.name] ?? [])
    }
    // A simulation does not describe tokens.
    nodes += records.filter { !names.contains($0.name) && ($0.kind != .token || planned.source == .plan) }
      .map { NodeEntry(title, nil, $0, spans: []) }
    let round = manifests.first { $0.name == planned.manifest }?.round ?? record.run.round
    var differences: [Difference] = []
    if let was = planned.round, let round, was != round {
      differences.append(
        .init(.otherRound, "the plan belongs to round \(was), but the run belongs to round \(round)"))
    }
    var seconds = Seconds(planned: planned.seconds)
    if title == nil { seconds.actual = (record.seconds * 1000).rounded() / 1000 }
    var left = Self.mostSpans
    let lanes = planned.nodes.filter { !$0.spans.isEmpty }.map { node in
      let spans = node.spans.prefix(left)
      left -= spans.count
      return RunTimeline.NodeSpans(manifest: title, name: node.name, spans: Array(spans))
    }
    self.init(
      source: planned.source, plannedAt: planned.plannedAt, round: planned.round, policy: planned.policy,
      seconds: seconds, differences: differences, nodes: nodes,
      timeline: planned.source == .simulation ? lanes : nil)
  }

  /// The difference between two durations; `nil` if they are similar.
  fileprivate static func difference(_ planned: Double?, _ actual: Double?, waits: String) -> Difference? {
    guard let planned, let actual, abs(actual - planned) >= leastSeconds else { return nil }
    let times = "took \(ElapsedText.text(actual)) instead of \(ElapsedText.text(planned))"
    if actual > planned * ratio { return .init(.slower, times + (waits.isEmpty ? "" : "; \(waits)")) }
    return planned > actual * ratio ? .init(.faster, times) : nil
  }
}

extension PlanComparison.NodeEntry {
  fileprivate init(
    _ manifest: String?, _ planned: PlannedRun.PlannedNode?, _ actual: RunRecord.NodeRecord?,
    spans: [RunTimeline.Span]
  ) {
    let work = actual?.work
    let kind = planned?.kind ?? actual?.kind ?? .upload
    func done(_ value: Int64?) -> Int64? { actual == nil || !kind.hasItems ? nil : value ?? 0 }
    self.init(
      manifest: manifest, name: planned?.name ?? actual?.name ?? "",
      kind: kind,
      plannedState: planned?.state, actualState: actual?.state,
      files: .init(planned: planned?.files, actual: done(work.map { Int64($0.itemsDone) })),
      bytes: .init(planned: planned?.bytes, actual: done(work?.usefulBytes)),
      requests: .init(planned: planned?.requests, actual: actual.map { Int64($0.work?.requests ?? 0) }),
      seconds: .init(planned: planned?.seconds, actual: work?.durationSeconds), differences: [])
    guard let planned else {
      differences = [.init(.notInPlan, "the plan does not contain this node")]
      return
    }
    guard let actual else {
      differences = [.init(.notInRun, "the run does not contain this node")]
      return
    }
    differences = Self.expected(planned, actual) + Self.outcome(actual)
    differences += amounts(explained: !differences.isEmpty, attempts: actual.attempts.count)
    differences +=
      PlanComparison.difference(
        seconds.planned, seconds.actual, waits: Self.waits(in: spans)
      ).map { [$0] } ?? []
  }

  /// The difference if the node did unexpected work, or did not do the expected work.
  private static func expected(
    _ planned: PlannedRun.PlannedNode, _ actual: RunRecord.NodeRecord
  ) -> [PlanComparison.Difference] {
    switch planned.expectation {
    case .work:
      guard actual.work == nil, actual.state != .notNeeded else { return [] }
      let reason = actual.reason.map { ReasonText.text($0) } ?? "\(actual.state)"
      return [.init(.notRun, "the run sent no requests for it: \(reason)")]
    case .wait(let reason):
      guard actual.work != nil else { return [] }
      let words = reason.map { ": \(ReasonText.text($0))" } ?? ""
      return [.init(.notExpected, "the plan expected it to wait\(words)")]
    case .nothing:
      guard actual.work != nil else { return [] }
      return [.init(.notExpected, "the plan expected nothing to do")]
    }
  }

  /// One difference for each outcome of the node's work, except success.
  private static func outcome(_ actual: RunRecord.NodeRecord) -> [PlanComparison.Difference] {
    guard let items = actual.items else {
      let reason = actual.reason.map { ReasonText.text($0) } ?? "\(actual.state)"
      switch actual.state {
      case .failed: return [.init(.failed, reason)]
      case .ambiguous: return [.init(.ambiguous, reason)]
      case .cancelled: return [.init(.cancelled, reason)]
      default: return []
      }
    }
    var differences: [PlanComparison.Difference] = []
    if items.failed > 0 { differences.append(.init(.failed, "\(Count.text(items.failed, "file")) failed")) }
    if items.ambiguous > 0 {
      differences.append(
        .init(.ambiguous, "\(Count.text(items.ambiguous, "file")) awaiting a decision"))
    }
    if items.cancelled > 0 {
      differences.append(
        .init(
          .cancelled,
          "\(Count.text(items.cancelled, "file")) \(items.cancelled == 1 ? "was" : "were") canceled"))
    }
    if items.waiting > 0 {
      let reason = actual.reason.map { ": \(ReasonText.text($0))" } ?? ""
      differences.append(
        .init(
          .remaining,
          "\(Count.text(items.waiting, "file")) \(items.waiting == 1 ? "remains" : "remain")\(reason)"))
    }
    return differences
  }

  /// The differences between the planned and the actual numbers.
  ///
  /// - Parameters:
  ///   - explained: whether other differences already explain why fewer files were sent.
  ///   - attempts: the failed attempts of a node with a single request.
  private func amounts(explained: Bool, attempts: Int) -> [PlanComparison.Difference] {
    var differences: [PlanComparison.Difference] = []
    if let growth = files.growth {
      if growth > 0 {
        differences.append(
          .init(
            .moreFiles,
            "\(Count.text(growth.distance, "more file")): added, changed or submitted after the plan was made"
          ))
      } else if growth < 0, !explained {
        differences.append(
          .init(
            .fewerFiles,
            "\(Count.text(growth.distance, "fewer file")): removed, or delivered before the run"))
      } else if growth == 0, kind.direction == .sent, let bytes = bytes.growth, bytes != 0 {
        // A document whose size differs from the size in its list is a failure.
        differences.append(
          .init(
            .otherSizes,
            "the files had \(ByteText.text(Int64(bytes.distance))) \(bytes > 0 ? "more" : "less")"))
      }
    }
    if let growth = requests.growth {
      if growth > 0, files.growth ?? 0 <= 0 {
        let failed = attempts > 0 ? " (\(Count.text(attempts, "failed attempt")))" : ""
        differences.append(.init(.moreRequests, "\(Count.text(growth.distance, "more request"))\(failed)"))
      } else if growth < 0, !explained, files.growth ?? 0 >= 0 {
        differences.append(.init(.fewerRequests, "\(Count.text(growth.distance, "fewer request"))"))
      }
    }
    return differences
  }

  /// The reason for which the node waited longest, such as `waited 12 s for the budget`.
  private static func waits(in spans: [RunTimeline.Span]) -> String {
    var waits: [NodeActivity: Double] = [:]
    for span in spans where span.activity.wait != nil {
      waits[span.activity, default: 0] += span.to - span.from
    }
    guard let longest = waits.max(by: { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }),
      longest.value >= 0.05, let words = longest.key.wait
    else { return "" }
    return "waited \(ElapsedText.text(longest.value)) \(words)"
  }
}

extension NodeActivity {
  /// What a node waits for; `nil` if it has a request in progress.
  fileprivate var wait: String? {
    switch self {
    case .allocating, .sending, .committing, .requesting: nil
    case .retrying: "to retry"
    case .token: "for a token"
    case .budget: "for the budget"
    case .delay: "for the resume delay"
    case .conditions: "for network or power"
    case .queued: "for a connection"
    }
  }
}

extension Int64 {
  /// The magnitude. It is clamped, because numbers in another program's plan may be extreme.
  fileprivate var distance: Int { Int(clamping: magnitude) }
}
