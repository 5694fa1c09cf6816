import FerryManifest
import FerryPlan

/// The forecast of a plan: the outcome of simulated launches.
package struct Forecast: Codable, Sendable {
  package var startedAt: String
  /// The time at which the first round was completed, or at which the simulation ended.
  package var endedAt: String
  /// Whether the first round was completed.
  package var isThrough: Bool
  package var seconds: Double
  /// The number of completed rounds, and the time at which the simulation ended.
  package var rounds: Int
  package var simulatedUntil: String
  package var launches: Int
  package var resumes: Int
  package var requests: Int
  package var idsAllocated: Int
  /// Upload IDs that became invalid before they were used.
  package var idsExpired: Int
  package var nodes: [NodeEntry] = []
  package var budgets: [BudgetEntry] = []
  /// Launches, batches, fetches, resumes, changes of conditions and ends of single requests, in chronological
  /// order; at most 10,000.
  package var timeline: [Moment] = []

  package struct NodeEntry: Codable, Sendable {
    package var name: String
    package var kind: Node.Kind
    /// `succeeded`, `failed`, `ambiguous`, `skipped`, `cancelled`, `waiting` or `not_selected`.
    package var state: ReportState
    /// The reason why the node is waiting at the end of the simulation. No launch removed this reason: the
    /// node is starved.
    package var reason: RecordedFailure?
    package var items: ItemCounts?
    package var batches: [Batch]
    /// The attempts of a fetch, in chronological order; at most 10,000. Absent for other nodes.
    package var fetches: [FetchEntry]?
    /// All attempts of a fetch, including those that are not listed. Absent for other nodes, and in simulations that an
    /// older version of ferry wrote.
    package var fetchCounts: FetchCounts?
    package var endedAt: String?
    /// Upload IDs that became invalid before they were used.
    package var idsExpired: Int
    /// The work of all launches; absent if there were no requests.
    package var work: RunRecord.WorkRecord?
  }

  package struct FetchEntry: Codable, Sendable {
    package var at: String
    package var result: FetchResult
    /// The interval of the fetch after this attempt; absent if the fetch has no interval.
    package var intervalSeconds: Double?
  }

  /// The number of a fetch's attempts by result.
  package struct FetchCounts: Codable, Sendable {
    package var newData = 0
    package var noData = 0
    package var failed = 0
    /// The interval of the fetch after the last attempt; absent if the fetch has no interval.
    package var intervalSeconds: Double?

    mutating func add(_ attempt: FetchEntry) {
      switch attempt.result {
      case .newData: newData += 1
      case .noData: noData += 1
      case .failed: failed += 1
      }
      intervalSeconds = attempt.intervalSeconds
    }
  }

  package struct Batch: Codable, Sendable {
    package var items: Int
    package var handedOverAt: String
    /// The time at which the last item of the batch ended; absent if some of its items did not end.
    package var endedAt: String?
  }

  /// One window of a budget.
  package struct BudgetEntry: Codable, Sendable {
    /// The kind of network, or `any` for all networks together.
    package var network: Budget.Scope
    package var windowStart: String
    package var windowEnd: String
    package var usedBytes: Int64
    package var limitBytes: Int64
  }

  package struct Moment: Codable, Sendable {
    package var at: String
    package var text: String
    /// For a resume: the session, and the delay that follows.
    package var session: String?
    package var delaySeconds: Double?
  }
}
