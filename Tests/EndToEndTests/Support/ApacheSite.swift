import Foundation

/// Apache with mod_dav, on a free port of the loopback interface. A test supplies the directives for its only folder.
///
/// It is stopped when the last reference to it is released.
final class ApacheSite: Sendable {
  static let isPossible: Bool = {
    let missing = ["apache2", "openssl", "nginx"].filter { RunningCommand.find($0) == nil }
    guard !missing.isEmpty else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of authentication need \(missing.joined(separator: ", "))\n\n".utf8))
    return false
  }()

  let port: Int
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(port: Int, folder: TemporaryFolder, process: RunningCommand) {
    (self.port, self.folder, self.process) = (port, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// - Parameters:
  ///   - modules: in addition to those of mod_dav.
  ///   - files: further files, by name.
  ///   - directives: of the folder; `FOLDER` is the path of the files.
  static func start(
    modules: [String] = [], files: [String: String] = [:], environment: [String: String] = [:],
    _ directives: String
  ) async throws -> ApacheSite {
    let folder = try TemporaryFolder()
    for name in ["data", "locks"] {
      // As root, Apache gives up its privileges, so its user must be able to write there.
      chmod(try folder.makeFolder(name).path(percentEncoded: false), 0o777)
    }
    chmod(folder.url.path(percentEncoded: false), 0o755)
    for (name, text) in files { try folder.write(Data(text.utf8), to: name) }
    let (process, port) = try await LoopbackPort.start(log: { folder.text("error.log") }) { port in
      let text = configuration(folder, port: port, modules, directives)
      try folder.write(Data(text.utf8), to: "httpd.conf")
      return try RunningCommand(
        "apache2", ["-f", folder.path("httpd.conf"), "-D", "FOREGROUND", "-k", "start"],
        environment: environment)
    }
    return ApacheSite(port: port, folder: folder, process: process)
  }

  /// The requests that the server has responded to: status, method, URL, user, and the size of the body.
  var requests: [[String]] {
    folder.text("access.log").split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }

  /// The server's log, for messages.
  var log: String { folder.text("error.log") }

  func file(_ name: String) -> Data? { FileManager.default.contents(atPath: folder.path("data/\(name)")) }

  private static func configuration(
    _ folder: TemporaryFolder, port: Int, _ modules: [String], _ directives: String
  ) -> String {
    let here = folder.url.path(percentEncoded: false)
    let all =
      ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "dav", "dav_fs"] + modules
    return """
      ServerRoot "\(here)"
      ServerName localhost
      Listen 127.0.0.1:\(port)
      PidFile "\(here)/httpd.pid"
      DefaultRuntimeDir "\(here)"
      \(all.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
      User www-data
      Group www-data
      ErrorLog "\(here)/error.log"
      LogFormat "%>s %m %U %u %{Content-Length}i" requests
      CustomLog "\(here)/access.log" requests
      DocumentRoot "\(here)/data"
      DavLockDB "\(here)/locks/db"
      <Directory "\(here)/data">
        Dav On
        \(directives.replacing("FOLDER", with: here))
        Require valid-user
      </Directory>

      """
  }
}
