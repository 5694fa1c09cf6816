import FerryPlan

/// The results of an upload's `after` actions in a run.
struct PostDeliveryMetrics: Sendable {
  var deleted = 0
  var moved = 0
  /// The number of files that were not processed because the run was stopped.
  var remaining = 0
  var problems: [(path: [UInt8], state: AfterState, problem: RecordedFailure)] = []

  mutating func count(_ result: AfterResult, of path: [UInt8]) {
    if let problem = result.problem { problems.append((path, result.state, problem)) }
    switch result.state {
    case .deleted: deleted += 1
    case .moved: moved += 1
    case .owed, .changed, .gone, .kept: break
    }
  }

  var isWorthTelling: Bool { deleted > 0 || moved > 0 || owes || !problems.isEmpty }

  /// Whether the next run has to retry any action.
  var owes: Bool { remaining > 0 || hasOwedProblem }

  /// Whether an action failed, and the next run has to retry it.
  var hasOwedProblem: Bool { problems.contains { $0.state == .owed } }
}

extension RunRecord.AfterRecord {
  init(_ metrics: PostDeliveryMetrics) {
    self.init(
      deleted: metrics.deleted, moved: metrics.moved, remaining: metrics.remaining,
      problems: metrics.problems.sorted { $0.path.lexicographicallyPrecedes($1.path) }.map { file in
        RunRecord.AfterProblem(
          path: file.path, code: file.problem.code, message: file.problem.message,
          isOwed: file.state == .owed)
      })
  }
}
