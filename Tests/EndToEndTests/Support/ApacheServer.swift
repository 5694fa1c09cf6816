import Foundation

/// Debian's Apache with mod_dav, which requires a user and a password, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class ApacheServer: Sendable {
  /// The required programs that are missing.
  static let missingPrograms = ["apache2", "openssl"].filter { RunningCommand.find($0) == nil }
  /// A user name and a password with characters that change when they are encoded.
  static let user = "müller"
  static let password = "100 % geheim#+"
  static let login = "\(user):\(password)"

  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.folder, self.process) = (url, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// Starts the server, which has an empty collection.
  static func start() async throws -> ApacheServer {
    let folder = try TemporaryFolder()
    for name in ["data", "locks"] {
      // If root starts Apache, Apache drops its privileges, so its user needs write access.
      chmod(try folder.makeFolder(name).path(percentEncoded: false), 0o777)
    }
    chmod(folder.url.path(percentEncoded: false), 0o755)
    try folder.write(Data(try await passwords().utf8), to: "passwords")
    let (process, port) = try await LoopbackPort.start(log: { folder.text("error.log") }) { port in
      try folder.write(Data(configuration(folder, port: port).utf8), to: "httpd.conf")
      return try RunningCommand(
        "apache2", ["-f", folder.path("httpd.conf"), "-D", "FOREGROUND", "-k", "start"])
    }
    return ApacheServer(url: "http://127.0.0.1:\(port)", folder: folder, process: process)
  }

  /// Stops the server and waits until it has exited.
  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The requests to which the server has responded, as `STATUS METHOD URL HTTP/1.1`, in order.
  var requests: [String] { folder.text("access.log").split(separator: "\n").map(String.init) }

  /// The content of each file in a collection, by name; empty if the collection does not exist.
  func files(in collection: String) throws -> [String: Data] {
    Dictionary(
      uniqueKeysWithValues: try names(in: collection).map {
        ($0, try Data(contentsOf: URL(filePath: folder.path("data/\(collection)/\($0)"))))
      })
  }

  /// The names of the files in a collection; empty if the collection does not exist.
  func names(in collection: String) throws -> [String] {
    let path = folder.path("data/\(collection)")
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != ".DAV" }
  }

  /// The user and the hash of the password, in the format of Apache's password file.
  private static func passwords() async throws -> String {
    let parts = login.split(separator: ":", maxSplits: 1).map(String.init)
    let hash = try await Command.run("openssl", ["passwd", "-apr1", parts[1]])
    guard hash.status == 0 else { throw CommandFailure(description: hash.stderr) }
    return "\(parts[0]):\(hash.stdout)"
  }

  /// The configuration, with the modules that are separate files on Debian. User and Group have an effect only for
  /// root.
  private static func configuration(_ folder: TemporaryFolder, port: Int) -> String {
    let here = folder.url.path(percentEncoded: false)
    let modules = [
      "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "dav", "dav_fs",
    ]
    return """
      ServerRoot "\(here)"
      ServerName 127.0.0.1
      Listen 127.0.0.1:\(port)
      PidFile "\(here)/httpd.pid"
      DefaultRuntimeDir "\(here)"
      \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
      User www-data
      Group www-data
      ErrorLog "\(here)/error.log"
      LogFormat "%>s %r" requests
      CustomLog "\(here)/access.log" requests
      DocumentRoot "\(here)/data"
      DavLockDB "\(here)/locks/db"
      <Directory "\(here)/data">
        Dav On
        AuthType Basic
        AuthName ferry
        AuthUserFile "\(here)/passwords"
        Require valid-user
      </Directory>

      """
  }
}

extension ApacheServer: UploadServer {
  func delivered() async throws -> [String] {
    // mod_dav_fs uses such a name for a file that it is still receiving.
    let names = try names(in: "").filter { !$0.hasPrefix(".davfs.tmp") }
    guard !names.isEmpty else { return [] }
    return Array(try await TestFiles.digests(of: names, under: folder.path("data")).values)
  }
}
