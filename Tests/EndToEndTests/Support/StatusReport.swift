/// The output of `ferry status --format json`, read without ferry's own code.
struct StatusReport: Decodable {
  struct Session: Decodable {
    struct Holder: Decodable { var pid: Int32? }
    struct InterruptedRun: Decodable {
      var run: String
      var pid: Int32
      var startedAt: String
      var resume: String
    }
    struct Delay: Decodable {
      var periodSeconds: Double
      var endsAt: String
    }
    struct Window: Decodable {
      var endsAt: String
      var remainingSeconds: Double
    }
    struct Note: Decodable {
      var kind: String
      var manifest: String?
      var node: String?
      var files: Int
      var paths: [String]
      var reason: String?
    }
    struct Node: Decodable {
      var manifest: String
      var name: String
      var kind: String
      var round: Int
      var state: String?
      var items: [String: Int]?
      var reason: RunReport.Reason?
      var cancellations: [RunReport.Cancellation]?
    }
    struct Removal: Decodable {
      var code: String
      var message: String
      var items: Int
      var removedAt: String
    }

    var removed: Removal?
    var identifier: String
    var holder: Holder?
    var interruptedRun: InterruptedRun?
    var window: Window?
    var nodes: [Node]
    var delay: Delay?
    var eventsPending: Bool
    var notes: [Note]
    var problem: String?
  }

  struct Manifest: Decodable {
    var name: String
    var path: String?
    var round: Int?
    var roundOpenedAt: String?
    var roundClosedAt: String?
    var budgets: [BudgetReport]?
    var problem: String?
  }

  var version: Int
  var sessions: [Session]
  var manifests: [Manifest]

  func session(_ identifier: String) -> Session? { sessions.first { $0.identifier == identifier } }
}

/// A budget in the output of `ferry plan` and `ferry status`.
struct BudgetReport: Decodable {
  struct Window: Decodable {
    var per: String
    var timeZone: String
    var from: String
    var until: String
  }

  var network: String
  var usedBytes: Int
  var limitBytes: Int
  var window: Window
}

extension StatusReport.Session {
  func node(_ name: String) -> Node? { nodes.first { $0.name == name } }
}

extension Workspace {
  /// - Parameter arguments: the arguments after `ferry status`.
  func status(_ arguments: String...) async throws -> StatusReport {
    try await start(["status", "--format", "json"] + arguments).end().json(StatusReport.self)
  }
}
