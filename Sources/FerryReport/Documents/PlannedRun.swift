import FerryManifest
import FerryPlan
import FerrySimulation

/// What a plan or a simulation expects of a run, for a comparison with the run that followed.
package struct PlannedRun: Sendable {
  var source: PlanComparison.Source
  package var manifest: String
  var plannedAt: String
  /// `nil` for a simulation.
  var round: Int64?
  /// The policy that was simulated; `nil` for a plan.
  var policy: ResumeDelay.Policy?
  /// The duration of the round; `nil` for a plan.
  var seconds: Double?
  var nodes: [PlannedNode]

  struct PlannedNode: Sendable {
    var name: String
    var kind: Node.Kind
    var state: ReportState
    var expectation: Expectation
    /// The number of files to send and their total size; each is `nil` for a node without files, or if it is not known
    /// before the run.
    var files: Int64?
    var bytes: Int64?
    /// The requests if nothing fails.
    var requests: Int64?
    /// The time from the start of the first request to the end of the last one; `nil` for a plan.
    var seconds: Double?
    var spans: [RunTimeline.Span] = []
  }

  /// The expected work of a node.
  enum Expectation: Sendable {
    case work
    /// The run sends nothing for the node, which waits for this reason.
    case wait(RecordedFailure?)
    /// The run sends nothing for the node, which is done, not due, or not selected.
    case nothing
  }
}

// MARK: From a plan

extension PlannedRun {
  package init(_ plan: PlanDocument) {
    source = .plan
    manifest = plan.manifest
    plannedAt = plan.at
    round = plan.round
    let used = Set(plan.nodes.filter { $0.state == .run }.compactMap(\.token))
    nodes = plan.nodes.map { node in
      PlannedNode(
        name: node.name, kind: node.kind, state: node.state,
        expectation: Self.expectation(node, isUsed: used.contains(node.name)),
        files: node.items.map { Int64($0.toSend) }, bytes: Self.bytes(node),
        requests: Self.requests(node, isUsed: used.contains(node.name)))
    }
  }

  private static func expectation(_ node: PlanDocument.NodeEntry, isUsed: Bool) -> Expectation {
    switch node.state {
    case .run: node.items?.toSend == 0 ? .nothing : .work
    case .ask: isUsed ? .work : .nothing
    case .waiting: .wait(node.reason)
    case .succeeded, .failed, .ambiguous, .skipped, .notSelected, .notNeeded, .cancelled, .done, .queued,
      .allocated, .transferred, .new, .notDue, .never, .stored:
      .nothing
    }
  }

  /// The total size of the files; `nil` if the list of a download batch does not contain the size of each file.
  private static func bytes(_ node: PlanDocument.NodeEntry) -> Int64? {
    guard let items = node.items, items.unknownSizes == nil else { return nil }
    return items.bytesToSend
  }

  private static func requests(_ node: PlanDocument.NodeEntry, isUsed: Bool) -> Int64? {
    guard case .work = expectation(node, isUsed: isUsed) else { return 0 }
    guard node.kind.hasItems else { return 1 }
    guard let items = node.items else { return nil }
    let files = Int64(items.toSend)
    // An allocation and a commit are sent for each file; a probe and a release only after something went wrong.
    let others = node.steps.count { $0.step == .allocate || $0.step == .commit }
    return (items.parts ?? files) +| files *| Int64(others)
  }
}

// MARK: From a simulation

extension PlannedRun {
  /// - Parameter policy: the policy of the resume delay that the run had; by default, the first that was simulated.
  package init?(_ simulation: SimulationDocument, policy: ResumeDelay.Policy? = nil) {
    guard
      let entry = simulation.forecasts.first(where: { policy == nil || $0.policy == policy })
        ?? simulation.forecasts.first
    else { return nil }
    let forecast = entry.forecast
    source = .simulation
    manifest = simulation.manifest
    plannedAt = forecast.startedAt
    self.policy = entry.policy
    seconds = forecast.seconds
    nodes = forecast.nodes.map { node in
      PlannedNode(
        name: node.name, kind: node.kind, state: node.state, expectation: Self.expectation(node),
        files: node.kind.hasItems ? Int64(node.work?.itemsDone ?? 0) : nil,
        bytes: node.kind.hasItems ? node.work?.usefulBytes ?? 0 : nil,
        requests: Int64(node.work?.requests ?? 0), seconds: node.work?.durationSeconds,
        spans: node.spans(in: forecast))
    }
  }

  private static func expectation(_ node: Forecast.NodeEntry) -> Expectation {
    guard node.work == nil else { return .work }
    return node.state == .waiting ? .wait(node.reason) : .nothing
  }
}

extension Forecast.NodeEntry {
  /// The spans of an upload's batches, or of another node's requests, in seconds since the start of the simulation.
  func spans(in forecast: Forecast) -> [RunTimeline.Span] {
    let start = Instant(rfc3339: forecast.startedAt) ?? Instant(nanoseconds: 0)
    func offset(_ text: String) -> Double? {
      Instant(rfc3339: text).map { max(0, start.duration(to: $0).seconds) }
    }
    let until = offset(forecast.simulatedUntil) ?? forecast.seconds
    var spans = batches.compactMap { batch -> RunTimeline.Span? in
      guard let from = offset(batch.handedOverAt) else { return nil }
      return .init(.sending, from: from, to: max(from, batch.endedAt.flatMap(offset) ?? until))
    }
    for fetch in fetches ?? [] {
      guard let at = offset(fetch.at) else { continue }
      spans.append(.init(fetch.result == .failed ? .retrying : .requesting, from: at, to: at))
    }
    if spans.isEmpty, !kind.hasItems, let end = endedAt.flatMap(offset) {
      spans = [.init(.requesting, from: end, to: end)]
    }
    return spans
  }
}
