import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A tus server of this project that rejects and records every request that tus 1.0.0 forbids
/// (`Servers/strict-tus-server.py`).
final class StrictTusServer: Sendable {
  let url: String
  private let process: RunningCommand

  struct Upload: Decodable {
    /// The `Upload-Length`.
    var size: Int
    var stored: Int
    /// The number of bytes that were received, including those that were not stored.
    var received: Int
    var metadata: [String: String]
    var deleted: Bool
    /// Whether the upload is a partial one.
    var partial: Bool
    /// The numbers, counted from 1, of the partial uploads that form the upload; empty for any other upload.
    var parts: [Int]
    var sha256: String
  }

  struct Log: Decodable {
    var uploads: [Upload]
    var creations: Int
    var patches: Int
    var heads: Int
    var deletes: Int
    /// The number of requests that concatenate partial uploads.
    var finals: Int
    /// The maximum number of PATCH requests whose bytes were received at the same time.
    var concurrent: Int
    var tokens: Int
    /// The other origin of the server, at which uploads with the option `elsewhere` are created.
    var other: String
    /// Requests that the protocol forbids.
    var violations: [String]
    /// The `Upload-Offset` of each PATCH.
    var offsets: [Int]
    /// The algorithm in the `Upload-Checksum` of each PATCH; empty if the field is absent.
    var checksums: [String]
  }

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameters:
  ///   - fault: the body of a Python function, indented by two spaces. The script describes the function and the
  ///     options.
  static func start(fault: String = "  return None", _ options: [String] = []) async throws
    -> StrictTusServer
  {
    let script = Product.source("Tests/EndToEndTests/Servers/strict-tus-server.py")
    return try await StrictTusServer(RunningCommand("python3", ["-u", script, fault] + options))
  }

  func log() async throws -> Log {
    guard let url = URL(string: url + "/log") else { throw CommandFailure(description: "the URL is invalid") }
    return try JSONDecoder().decode(Log.self, from: try await URLSession.shared.data(from: url).0)
  }
}

extension StrictTusServer: UploadServer {
  func delivered() async throws -> [String] {
    try await log().uploads.filter { $0.stored == $0.size && !$0.deleted }.map(\.sha256)
  }

  func forget(_ target: String) async throws { try await delete(target, header: "Tus-Resumable: 1.0.0") }

  func violations() async throws -> [String] { try await log().violations }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }
}
