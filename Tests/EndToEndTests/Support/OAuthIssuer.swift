import Foundation

/// An OAuth 2.0 server by Authlib that rotates refresh tokens (`Servers/oauth-issuer.py`).
final class OAuthIssuer: Sendable {
  static let secret = "app secret/+:%"
  static let firstRefreshToken = "first/+&refresh"

  /// The Python with the modules that the server needs; `nil` if there is none.
  static let python = PythonModules.python(with: ["authlib", "flask"])

  let url: String
  private let process: RunningCommand

  struct Request: Decodable {
    var path: String
    var status: Int
    /// The fields of a request for a token.
    var form: [String: String]?
    /// Whether a request for a token has client credentials in HTTP Basic.
    var basic: Bool?
    var accept: String?
    /// The refresh token that the server issued.
    var refresh: String?
    /// The access token that the server issued or received.
    var access: String?
    /// The part of a PUT that carried the token.
    var place: String?
    /// The refresh tokens in `ferry.db` when the server received a PUT.
    var journal: [String]?
  }

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port ", within: .seconds(120)))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter options: described in the script.
  static func start(_ options: String...) async throws -> OAuthIssuer {
    guard let python else { throw CommandFailure(description: "authlib and flask are needed") }
    let script = Product.source("Tests/EndToEndTests/Servers/oauth-issuer.py")
    return try await OAuthIssuer(RunningCommand(python, ["-u", script] + options))
  }

  var requests: [Request] {
    process.stdout.split(whereSeparator: \.isNewline).compactMap {
      // The first line contains the port and is not a request.
      try? JSONDecoder().decode(Request.self, from: Data($0.utf8))
    }
  }

  var tokens: [Request] { requests.filter { $0.path == "/token" } }
  var puts: [Request] { requests.filter { $0.path.hasPrefix("/files/") } }

  /// Waits until the server has received this many requests of a kind.
  func wait(for count: Int, _ kind: KeyPath<OAuthIssuer, [Request]>) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while self[keyPath: kind].count < count {
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(description: "\(process.stdout)\(process.stderr)")
      }
      // The test polls, because the program writes its output to a file.
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
