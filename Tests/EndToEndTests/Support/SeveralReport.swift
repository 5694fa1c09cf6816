import Foundation

/// A report about several manifests, read without ferry's code.
struct SeveralReport: Decodable {
  struct Manifest: Decodable, Equatable {
    var name: String
    var path: String
    var sha256: String
    var round: Int
    var roundClosed: Bool
  }

  struct Run: Decodable {
    var id: String
    var manifest: String?
    var path: String?
    var round: Int?
    var roundClosed: Bool?
    var manifests: [Manifest]
    var exitCode: Int32
  }

  struct Node: Decodable {
    var manifest: String?
    var name: String
    var session: String
    var state: String
  }

  struct Item: Decodable {
    var manifest: String?
    var node: String
    var path: String
    var state: String
  }

  struct Totals: Decodable {
    var itemsDoneInRun: Int
    var tokensFetched: Int
  }

  var run: Run
  var totals: Totals
  var nodes: [Node]
  var items: [Item]

  /// Decodes a report that follows its schema.
  static func decode(_ data: Data) throws -> SeveralReport {
    try ReportValidator.check(data)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(SeveralReport.self, from: data)
  }

  /// The state of each node, by `MANIFEST/NODE`.
  var states: [String: String] {
    Dictionary(uniqueKeysWithValues: nodes.map { ("\($0.manifest ?? "")/\($0.name)", $0.state) })
  }
}
