import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Emulations of upload services, which check every request against the documentation of the service
/// (`Servers/service-emulations.py`).
final class ServiceEmulations: Sendable {
  /// A Python that has aiohttp.
  static let python = PythonModules.python(with: ["aiohttp"])

  /// Whether the emulations can be started. If not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  static let isPossible: Bool = {
    guard python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of services need python3-aiohttp; run scripts/setup test\n\n".utf8))
    return false
  }()

  /// A request that is held until the server exits.
  struct Hold: Encodable {
    enum Moment: String, Encodable {
      /// Half of the body has been read.
      case body
      /// The request has not been read or executed.
      case before
      /// The request has been executed, but gets no response.
      case after
    }

    /// A regular expression for `METHOD PATH?QUERY`.
    var match: String
    /// The number of the match that is held, counted from 1.
    var number = 1
    var at: Moment
  }

  /// A file that a service has accepted.
  struct Stored: Decodable {
    /// The name or path of the file on the service.
    var name: String
    var sha256: String
    /// The number of bytes that were received for the file; only for YouTube.
    var received: Int?
    /// The metadata of the file's item; only for the Internet Archive.
    var metadata: [String: String]?
  }

  struct Log: Decodable {
    /// Requests that the documentation of the service does not allow.
    var violations: [String]
    var counts: [String: Int]
    /// The stored files, by service.
    var stored: [String: [Stored]]
  }

  let url: String
  private let process: RunningCommand

  private init(url: String, process: RunningCommand) { (self.url, self.process) = (url, process) }

  deinit { process.signal(SIGKILL) }

  static func start(holds: [Hold] = []) async throws -> ServiceEmulations {
    guard let python else { throw CommandFailure(description: "no Python has aiohttp") }
    let text = String(decoding: try JSONEncoder().encode(holds), as: UTF8.self)
    let process = try RunningCommand(
      python, [Product.source("Tests/EndToEndTests/Servers/service-emulations.py"), text])
    let port = try await process.line(after: "port ")
    return ServiceEmulations(url: "http://127.0.0.1:\(port)", process: process)
  }

  /// Waits until a request is held.
  func waitUntilHeld(_ hold: Hold) async throws {
    _ = try await process.line(after: "held \(hold.match) \(hold.number)")
  }

  func log() async throws -> Log {
    guard let url = URL(string: url + "/log") else { throw CommandFailure(description: "the URL is invalid") }
    return try JSONDecoder().decode(Log.self, from: try await URLSession.shared.data(from: url).0)
  }
}
