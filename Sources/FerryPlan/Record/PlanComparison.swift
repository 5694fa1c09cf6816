import FerryManifest

/// The comparison of what a plan or a simulation expected with what a run did. Its keys are part of the public
/// interface.
package struct PlanComparison: Hashable, Codable, Sendable {
  package var source: Source
  /// The time for which the plan was made.
  package var plannedAt: String
  /// The round of the plan; absent for a simulation.
  package var round: Int64?
  /// The policy that was simulated.
  package var policy: ResumeDelay.Policy?
  package var files: Amount
  package var bytes: Amount
  package var requests: Amount
  package var seconds: Seconds
  /// Differences that concern the whole run.
  package var differences: [Difference]
  /// The nodes in the plan's order, followed by the nodes that the plan does not contain.
  package var nodes: [NodeEntry]
  /// The activities of the nodes in a simulation, in seconds since its start; absent for a plan.
  package var timeline: [RunTimeline.NodeSpans]?

  package enum Source: String, Codable, Sendable, CaseIterable { case plan, simulation }

  package struct NodeEntry: Hashable, Codable, Sendable {
    /// Present if the run has several manifests.
    package var manifest: String?
    package var name: String
    package var kind: Node.Kind
    /// The expected state, and the state after the run; absent if the plan or the run does not contain the node.
    package var plannedState: ReportState?
    package var actualState: ReportState?
    package var files: Amount
    package var bytes: Amount
    package var requests: Amount
    package var seconds: Seconds
    /// The reasons why the run differs from the plan, the most important first.
    package var differences: [Difference]

    package init(
      manifest: String?, name: String, kind: Node.Kind, plannedState: ReportState?,
      actualState: ReportState?, files: Amount, bytes: Amount, requests: Amount, seconds: Seconds,
      differences: [Difference]
    ) {
      self.manifest = manifest
      self.name = name
      self.kind = kind
      self.plannedState = plannedState
      self.actualState = actualState
      self.files = files
      self.bytes = bytes
      self.requests = requests
      self.seconds = seconds
      self.differences = differences
    }
  }

  /// A number; each side is absent if it is unknown.
  package struct Amount: Hashable, Codable, Sendable {
    package var planned: Int64?
    package var actual: Int64?

    package init(planned: Int64? = nil, actual: Int64? = nil) {
      self.planned = planned
      self.actual = actual
    }

    /// The growth from the plan to the run; `nil` if one of the sides is unknown.
    package var growth: Int64? {
      guard let planned, let actual else { return nil }
      return actual -| planned
    }
  }

  /// A duration in seconds; each side is absent if it is unknown.
  package struct Seconds: Hashable, Codable, Sendable {
    package var planned: Double?
    package var actual: Double?

    package init(planned: Double? = nil, actual: Double? = nil) {
      self.planned = planned
      self.actual = actual
    }
  }

  package struct Difference: Hashable, Codable, Sendable {
    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }
  }

  /// The raw values are a stable public interface.
  package enum Code: String, Codable, Sendable, CaseIterable {
    /// The run belongs to a different round than the plan.
    case otherRound = "other_round"
    /// The plan, or the run, does not contain the node.
    case notInPlan = "not_in_plan"
    case notInRun = "not_in_run"
    /// The plan expected work and the run did none, or vice versa.
    case notRun = "not_run"
    case notExpected = "not_expected"
    /// Work that did not succeed.
    case failed
    case ambiguous
    case cancelled
    case remaining
    /// The number or the sizes of the files differ from the plan.
    case moreFiles = "more_files"
    case fewerFiles = "fewer_files"
    case otherSizes = "other_sizes"
    /// The number of requests differs from the plan.
    case moreRequests = "more_requests"
    case fewerRequests = "fewer_requests"
    /// The duration differs from the simulation.
    case slower
    case faster
  }

  package init(
    source: Source, plannedAt: String, round: Int64?, policy: ResumeDelay.Policy?, seconds: Seconds,
    differences: [Difference], nodes: [NodeEntry], timeline: [RunTimeline.NodeSpans]?
  ) {
    self.source = source
    self.plannedAt = plannedAt
    self.round = round
    self.policy = policy
    self.seconds = seconds
    self.differences = differences
    self.nodes = nodes
    self.timeline = timeline
    files = Self.sum(nodes.map(\.files))
    bytes = Self.sum(nodes.map(\.bytes))
    requests = Self.sum(nodes.map(\.requests))
  }

  /// The sums over the nodes. A sum is unknown if one of the nodes has only the amount of the other side.
  private static func sum(_ amounts: [Amount]) -> Amount {
    let counted = amounts.filter { $0.planned != nil || $0.actual != nil }
    func total(_ side: (Amount) -> Int64?) -> Int64? {
      let known = counted.compactMap(side)
      return known.isEmpty || known.count < counted.count ? nil : known.reduce(0, +|)
    }
    return Amount(planned: total(\.planned), actual: total(\.actual))
  }
}
