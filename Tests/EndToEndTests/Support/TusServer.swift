import Foundation

/// A tus server that we did not write: tuspyserver (`Servers/tus-server.py`).
///
/// Ends with the last reference to it.
final class TusServer: Sendable {
  /// A Python that has tuspyserver and uvicorn.
  static let python = PythonModules.python(with: ["tuspyserver", "uvicorn"])

  /// An upload that is complete.
  struct Upload: Decodable {
    /// The file in which the server has stored it.
    var path: String
    var metadata: [String: String]
  }

  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.folder, self.process) = (url, folder, process)
  }

  deinit { process.signal(SIGKILL) }

  static func start() async throws -> TusServer {
    guard let python else { throw CommandFailure(description: "no Python has tuspyserver and uvicorn") }
    let folder = try TemporaryFolder()
    let script = Product.source("Tests/EndToEndTests/Servers/tus-server.py")
    let process = try RunningCommand(python, ["-u", script, folder.path("")])
    let port = try await process.line(after: "port ")
    return TusServer(url: "http://127.0.0.1:\(port)/files", folder: folder, process: process)
  }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  var complete: [Upload] {
    get throws {
      try folder.text("complete.jsonl").split(separator: "\n").map {
        try JSONDecoder().decode(Upload.self, from: Data($0.utf8))
      }
    }
  }

  /// The method and the status of each response, such as `PATCH 204`.
  var responses: [String] { folder.text("requests.log").split(separator: "\n").map(String.init) }
}
