import Foundation

/// The requests and files that a receiver has received, from `GET /received`.
struct Received: Decodable, Sendable {
  struct Upload: Decodable, Sendable {
    var name: String
    var size: Int?
    var sha256: String?
    var commits: Int
    var contents: Int
    var allocations: Int
    var open: Int
  }

  struct File: Decodable, Sendable {
    var name: String
    var size: Int
    var sha256: String
    var puts: Int
  }

  struct Post: Decodable, Sendable {
    var name: String
    var size: Int
    var sha256: String
  }

  /// The body of a `POST /done`, as the manifests of the tests send it.
  struct Note: Decodable, Sendable {
    var run: String?
    var node: String?
    var failed: Int?
  }

  var uploads: [Upload]
  var files: [File]
  var inbox: [Post]
  var done: [Note]
  var requests: Int
  var tokens: Int

  static func decode(_ data: Data) throws -> Received { try JSONDecoder().decode(Received.self, from: data) }

  /// The uploads by their names.
  var byName: [String: Upload] { Dictionary(uniqueKeysWithValues: uploads.map { ($0.name, $0) }) }
  /// The number of PUT requests for each file, by the file's name.
  var puts: [String: Int] { Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.puts) }) }
  var commits: Int { uploads.reduce(0) { $0 + $1.commits } }
  var contents: Int { uploads.reduce(0) { $0 + $1.contents } }
  /// The number of upload IDs that are neither committed nor abandoned.
  var open: Int { uploads.reduce(0) { $0 + $1.open } }
}
