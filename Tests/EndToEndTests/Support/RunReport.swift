import Foundation

/// A report that `ferry run` has written, read without ferry's code.
struct RunReport: Decodable {
  struct Run: Decodable {
    var id: String
    var manifest: String
    var path: String
    var sha256: String
    var launch: String
    var round: Int
    var roundClosed: Bool
    var startedAt: String
    var endedAt: String
    var exitCode: Int32
    var state: String
    var stop: String?
    var deferredUntil: String?
    var budgets: [Budget]?
    var edits: [Edit]?
    var onEvents: [EventCommand]?
    var onExpiry: [EventCommand]?
    var onEnd: [OnEnd]?
  }

  struct OnEnd: Decodable {
    var name: String
    var state: String
    var required: Bool
    var reason: Reason?
    var attempts: [Attempt]
  }

  struct EventCommand: Decodable {
    var session: String?
    var command: String
    var startedAt: String?
    var exitStatus: Int32?
    var signal: Int32?
    var isRunning: Bool?
    var problem: String?
  }

  struct Edit: Decodable {
    var code: String
    var upload: String
    var items: Int
    var message: String
  }

  struct Budget: Decodable {
    var network: String
    var limitBytes: Int
    var usedBytesBefore: Int
    var usedBytesAfter: Int
  }

  struct Counts: Decodable {
    var done: Int
    var failed: Int
    var ambiguous: Int
    var waiting: Int?
    var unchanged: Int?
  }

  struct Totals: Decodable {
    struct Bytes: Decodable {
      var useful: Int
      var resent: Int
      var overhead: Int
      var unattributed: Int?
      var sent: Int?
      var received: Int?
    }

    var items: Counts
    var itemsDoneInRun: Int
    var bytes: Bytes
    var requests: Int
    var resumes: Int
    var tokensFetched: Int
    var tokenRefreshes: Int
    var idsAllocated: Int
    var idsExpired: Int
    var idsOrphaned: Int
    var idsReleased: Int
  }

  struct Reason: Decodable {
    var code: String
    var status: Int?
    var message: String
    var method: String?
    var url: String?
    var proxy: String?
    var reasonPhrase: String?
    var body: String?
  }

  struct Node: Decodable {
    var name: String
    var direction: String?
    var state: String
    var reason: Reason?
    var cancellations: [Cancellation]?
    var problems: [FileProblem]?
    var problemsOmitted: Int?
    var result: String?
    var optional: Bool?
    var ambiguity: Ambiguity?
    var notBefore: String?
    var intervalSeconds: Double?
    var after: After?
    var orphans: Orphans?
    var singleConnection: SingleConnection?
  }

  struct SingleConnection: Decodable {
    var downloads: Int
    var reason: String
  }

  struct Cancellation: Decodable, Equatable {
    var code: String
    var message: String
    var items: Int
  }

  struct Orphans: Decodable {
    var dropped: Int
    var released: Int
    var failed: Int
    var reason: Reason?
  }

  struct FileProblem: Decodable {
    var path: String
    var code: String
    var message: String
  }

  struct After: Decodable {
    struct Problem: Decodable {
      var path: String
      var pathBase64: String?
      var code: String
      var message: String
      var isOwed: Bool
    }

    var deleted: Int
    var moved: Int
    var problems: [Problem]
  }

  struct Item: Decodable {
    var node: String
    var path: String
    var pathBase64: String?
    var size: Int
    var state: String
    var reason: Reason?
    var attempts: [Attempt]
    var ambiguity: Ambiguity?
  }

  struct Ambiguity: Decodable {
    var step: String
    var at: String?
    var origin: String?
    var redirectedTo: String?
    var captures: [String: String]?
    var resolve: [String]
  }

  struct Attempt: Decodable {
    var step: String
    var code: String
    var status: Int?
  }

  var version: Int
  var run: Run
  var totals: Totals
  var nodes: [Node]
  var items: [Item]

  /// Decodes a report that follows its schema.
  static func decode(_ data: Data) throws -> RunReport {
    try ReportValidator.check(data)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(RunReport.self, from: data)
  }

  func node(_ name: String) -> Node? { nodes.first { $0.name == name } }
  func item(_ path: String) -> Item? { items.first { $0.path == path } }
}
