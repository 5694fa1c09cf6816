import Foundation

/// Debian's Apache with mod_dav, which requires a user and a password, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class ApacheServer: Sendable {
  /// The required programs that are missing.
  static let missingPrograms = ["apache2", "openssl"].filter { RunningCommand.find($0) == nil }
  /// A password whose characters change when they are encoded.
  static let login = "müller:100 % geheim#+"

  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.folder, self.process) = (url, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// Starts the server with an empty collection. Apache cannot choose a port itself, and another program may take a
  /// port that was free, so a failed start is repeated with another port.
  static func start() async throws -> ApacheServer {
    let folder = try TemporaryFolder()
    for name in ["data", "locks"] {
      // As root, Apache gives up its privileges, so its user must be able to write there.
      chmod(try folder.makeFolder(name).path(percentEncoded: false), 0o777)
    }
    chmod(folder.url.path(percentEncoded: false), 0o755)
    try folder.write(Data(try await passwords().utf8), to: "passwords")
    var last = ""
    for _ in 0..<5 {
      let port = try freePort()
      try folder.write(Data(configuration(folder, port: port).utf8), to: "httpd.conf")
      let process = try RunningCommand(
        "apache2", ["-f", folder.path("httpd.conf"), "-D", "FOREGROUND", "-k", "start"])
      if try await listens(on: port, process) {
        return ApacheServer(url: "http://127.0.0.1:\(port)", folder: folder, process: process)
      }
      let end = await process.end()
      last = end.stderr + folder.text("error.log")
    }
    throw CommandFailure(description: "apache2 did not start\n\(last)")
  }

  /// Stops the server and waits until it has exited.
  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The requests that the server has responded to, as `STATUS METHOD URL HTTP/1.1`, in order.
  var requests: [String] { folder.text("access.log").split(separator: "\n").map(String.init) }

  /// The content of each file of a collection, by its name; empty if there is no such collection.
  func files(in collection: String) throws -> [String: Data] {
    Dictionary(
      uniqueKeysWithValues: try names(in: collection).map {
        ($0, try Data(contentsOf: URL(filePath: folder.path("data/\(collection)/\($0)"))))
      })
  }

  /// The names of a collection's files; empty if there is no such collection.
  func names(in collection: String) throws -> [String] {
    let path = folder.path("data/\(collection)")
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != ".DAV" }
  }

  /// The user and the password's hash, as Apache reads them.
  private static func passwords() async throws -> String {
    let parts = login.split(separator: ":", maxSplits: 1).map(String.init)
    let hash = try await Command.run("openssl", ["passwd", "-apr1", parts[1]])
    guard hash.status == 0 else { throw CommandFailure(description: hash.stderr) }
    return "\(parts[0]):\(hash.stdout)"
  }

  /// The modules that Debian does not link into the program; User and Group have no effect without root.
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

  /// A port that no program uses at the moment.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard status == 0 else { throw CommandFailure(description: "no free port: errno \(errno)") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits until the server accepts connections. Returns `false` if it exits instead.
  private static func listens(on port: Int, _ process: RunningCommand) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline, process.isRunning {
      if connects(to: port) { return true }
      // There is no event to wait for: the server's readiness has no other sign.
      try await Task.sleep(for: .milliseconds(10))
    }
    process.signal(SIGKILL)
    return false
  }

  private static func connects(to port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
