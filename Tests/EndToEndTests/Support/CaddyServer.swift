import Foundation

/// Debian's Caddy as a reverse proxy with TLS, on a free port of the loopback interface. `certificate` is the path of
/// its certificate.
///
/// It is stopped when the last reference to it is released.
final class CaddyServer: Sendable {
  /// Whether Caddy is installed, and ferry can be started so that it trusts Caddy's certificate.
  static var isPossible: Bool { RunningCommand.find("caddy") != nil && TLSServer.isPossible }

  let url: String
  let certificate: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, certificate: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.certificate, self.folder, self.process) = (url, certificate, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// - Parameters:
  ///   - server: the URL of the server to which requests are forwarded.
  ///   - protocols: `h1`, or `h1 h2`.
  ///   - issued: the server's certificate; `nil` for one that is signed with its own key.
  ///   - host: the host in the URL; Caddy finds the settings of a connection by its server name (SNI).
  ///   - tls: further lines of the directive `tls`.
  static func start(
    before server: String, protocols: String, certificate issued: TestAuthority.Issued? = nil,
    host: String = "127.0.0.1", tls: String = ""
  ) async throws -> CaddyServer {
    let folder = try TemporaryFolder()
    let key: String
    let certificate: String
    if let issued {
      (key, certificate) = (issued.key, issued.certificate)
    } else {
      (key, certificate) = try await TLSServer.makeCertificate(in: folder)
    }
    let (process, port) = try await LoopbackPort.start { port in
      let text = """
        {
          admin off
          auto_https off
          servers {
            protocols \(protocols)
          }
        }
        https://\(host):\(port) {
          bind 127.0.0.1
          tls \(certificate) \(key) {
          \(tls)
          }
          log {
            output file \(folder.path("access.log"))
          }
          reverse_proxy \(server)
        }

        """
      try folder.write(Data(text.utf8), to: "Caddyfile")
      // Caddy keeps its state in the home directory.
      return try RunningCommand(
        "caddy", ["run", "--adapter", "caddyfile", "--config", folder.path("Caddyfile")],
        environment: ["XDG_DATA_HOME": folder.path(""), "XDG_CONFIG_HOME": folder.path("")])
    }
    return CaddyServer(
      url: "https://\(host):\(port)", certificate: certificate, folder: folder, process: process)
  }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The HTTP versions of the requests that have arrived, such as `HTTP/2.0`.
  var versions: Set<String> {
    struct Entry: Decodable {
      struct Request: Decodable { var proto: String }
      var request: Request
    }
    let lines = folder.text("access.log").split(separator: "\n")
    return Set(lines.compactMap { try? JSONDecoder().decode(Entry.self, from: Data($0.utf8)).request.proto })
  }
}
