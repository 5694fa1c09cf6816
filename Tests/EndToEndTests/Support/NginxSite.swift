import Foundation

/// nginx with one `server` block that a test writes, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class NginxSite: Sendable {
  let port: Int
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(port: Int, folder: TemporaryFolder, process: RunningCommand) {
    (self.port, self.folder, self.process) = (port, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// - Parameters:
  ///   - options: of the `listen` directive after the address.
  ///   - server: further directives of the `server` block. The document root `root` accepts PUT.
  ///   - files: further files, by name; `FOLDER` in the directives is their folder.
  static func start(
    listen options: String = "", files: [String: String] = [:], _ server: String
  ) async throws -> NginxSite {
    let folder = try TemporaryFolder()
    for (name, text) in files { try folder.write(Data(text.utf8), to: name) }
    let server = server.replacing("FOLDER", with: folder.url.path(percentEncoded: false))
    // As root, nginx gives up its privileges, so its user must be able to write there.
    for name in ["root", "body"] { chmod(try folder.makeFolder(name).path(percentEncoded: false), 0o777) }
    chmod(folder.url.path(percentEncoded: false), 0o755)
    let (process, port) = try await LoopbackPort.start(log: { folder.text("error.log") }) { port in
      try folder.write(
        Data(configuration("listen 127.0.0.1:\(port) \(options);\n    \(server)").utf8), to: "nginx.conf")
      return try RunningCommand(
        "nginx", ["-p", folder.path(""), "-c", folder.path("nginx.conf"), "-e", folder.path("error.log")])
    }
    return NginxSite(port: port, folder: folder, process: process)
  }

  /// The requests that the server has responded to: status, method, URI, version, user, subject of the client
  /// certificate, the connection with the number of its requests, and the bytes of the body that were sent.
  var requests: [[String]] {
    folder.text("access.log").split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
  }

  /// The bytes of the bodies of all responses that have ended, also of those that were interrupted.
  var bodyBytesSent: Int { requests.reduce(0) { $0 + (Int($1.last ?? "") ?? 0) } }

  /// The path of a file next to the configuration.
  func path(_ name: String) -> String { folder.path(name) }

  /// The content of a file in the document root.
  func file(_ name: String) -> String { folder.text("root/\(name)") }

  func write(_ text: String, to name: String) throws {
    try folder.write(Data(text.utf8), to: "root/\(name)")
    chmod(folder.path("root/\(name)"), 0o644)
  }

  private static func configuration(_ server: String) -> String {
    let unused = ["proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path unused;" }
    return """
      worker_processes 1;
      daemon off;
      pid nginx.pid;
      events { worker_connections 256; }
      http {
        log_format fields
          "$status|$request_method|$request_uri|$server_protocol|$remote_user|$ssl_client_s_dn|$connection|$connection_requests|$body_bytes_sent";
        access_log access.log fields;
        client_body_temp_path body;
        \(unused.joined(separator: " "))
        client_max_body_size 0;
        root root;
        server {
          \(server)
          location / { dav_methods PUT; }
        }
      }

      """
  }
}
