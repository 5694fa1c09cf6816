import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An API that issues presigned URLs of moto, signed by boto3, and confirms uploads
/// (`Servers/presign-server.py`).
final class PresignServer: Sendable {
  enum Hold: String {
    case none
    /// The first PUT is held after half of its body.
    case put
    /// The first confirmation is executed but gets no response.
    case confirm
  }

  struct Upload: Decodable {
    var name: String
    var sha256: String
  }

  struct Log: Decodable {
    /// The confirmed uploads.
    var uploads: [Upload]
    var issued: Int
    var puts: Int
    /// The number of confirmations that were executed.
    var confirmations: Int
    /// The number of confirmations of uploads that had been confirmed before.
    var repeated: Int
    /// The requests that the API or S3 has rejected.
    var refused: [String]
  }

  let url: String
  private let process: RunningCommand
  /// The server exits when its standard input is closed, even if this process is killed.
  private let input: Pipe

  private init(url: String, process: RunningCommand, input: Pipe) {
    (self.url, self.process, self.input) = (url, process, input)
  }

  deinit { process.signal(SIGKILL) }

  static func start(hold: Hold = .none) async throws -> PresignServer {
    guard let python = S3Server.python else { throw CommandFailure(description: "no Python has moto") }
    let input = Pipe()
    let process = try RunningCommand(
      python, [Product.source("Tests/EndToEndTests/Servers/presign-server.py"), "photos", hold.rawValue],
      input: input)
    let port = try await process.line(after: "port ", within: .seconds(60))
    return PresignServer(url: "http://127.0.0.1:\(port)", process: process, input: input)
  }

  func waitUntilHeld() async throws { _ = try await process.line(after: "held") }

  func log() async throws -> Log {
    guard let url = URL(string: url + "/log") else { throw CommandFailure(description: "the URL is invalid") }
    return try JSONDecoder().decode(Log.self, from: try await URLSession.shared.data(from: url).0)
  }
}
