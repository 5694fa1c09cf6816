import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A strict server for resumable uploads on plain sockets. `Servers/resumable-server.py` describes its options.
final class ResumableServer: Sendable {
  struct Upload: Decodable {
    /// The number of stored bytes.
    var size: Int
    /// The number of bytes that were received.
    var received: Int
    var complete: Bool
    var gone: Bool
    var sha256: String
  }

  struct Creation: Decodable {
    var method: String
    /// The size of the body.
    var size: Int
    var headers: [String: String]
  }

  struct Log: Decodable {
    var uploads: [Upload]
    var creations: [Creation]
    /// Requests that violate the protocol.
    var violations: [String]
    /// The number of requests that send file content.
    var sent: Int
    var queries: Int
    var deletes: Int
    var tokens: Int
    /// The number of uploads that were treated as plain requests.
    var plain: Int
    /// The number of empty requests that fetch the response to a completed upload.
    var empty: Int
  }

  let url: String
  private let process: RunningCommand

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter options: a JSON object with the options.
  static func start(_ options: String = "{}") async throws -> ResumableServer {
    try await ResumableServer(
      RunningCommand(
        "python3", ["-u", Product.source("Tests/EndToEndTests/Servers/resumable-server.py"), options]))
  }

  func log() async throws -> Log {
    guard let url = URL(string: url + "/log") else { throw CommandFailure(description: "the URL is invalid") }
    return try JSONDecoder().decode(Log.self, from: try await URLSession.shared.data(from: url).0)
  }
}

extension ResumableServer: UploadServer {
  func delivered() async throws -> [String] { try await log().uploads.filter(\.complete).map(\.sha256) }
  func forget(_ target: String) async throws {
    try await delete(target, header: "Upload-Draft-Interop-Version: 6")
  }
  func violations() async throws -> [String] { try await log().violations }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }
}
