import Foundation

/// Debian's squid, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class SquidServer: Sendable {
  private static let passwordHelper = "/usr/lib/squid/basic_ncsa_auth"

  static let isPossible: Bool = {
    if RunningCommand.find("squid") != nil, FileManager.default.fileExists(atPath: passwordHelper) {
      return true
    }
    FileHandle.standardError.write(Data("\n!!!! SKIPPED: the tests of squid need squid\n\n".utf8))
    return false
  }()

  let port: Int
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(port: Int, folder: TemporaryFolder, process: RunningCommand) {
    (self.port, self.folder, self.process) = (port, folder, process)
  }

  // After SIGTERM, squid would wait until its connections have ended.
  deinit { process.signal(SIGKILL) }

  /// - Parameters:
  ///   - login: the user and password that squid requires.
  ///   - stores: whether squid stores responses, as it does by default.
  static func start(
    login: (user: String, password: String)? = nil, stores: Bool = false
  ) async throws -> SquidServer {
    let folder = try TemporaryFolder()
    // As root, squid runs as the user proxy, which must be able to write its files.
    chmod(folder.url.path(percentEncoded: false), 0o777)
    var rules = "http_access allow all"
    if let login {
      let hash = try await Command.run("openssl", ["passwd", "-apr1", login.password])
      let hashed = hash.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
      try folder.write(Data("\(login.user):\(hashed)\n".utf8), to: "passwords")
      chmod(folder.path("passwords"), 0o644)
      rules = """
        auth_param basic program \(passwordHelper) \(folder.path("passwords"))
        auth_param basic realm ferry
        auth_param basic children 1
        acl known proxy_auth REQUIRED
        http_access allow known
        http_access deny all
        """
    }
    let (process, port) = try await LoopbackPort.start(log: { folder.text("cache.log") }) { port in
      let text = """
        http_port 127.0.0.1:\(port)
        pid_filename none
        cache \(stores ? "allow" : "deny") all
        cache_mem 8 MB
        access_log stdio:\(folder.path("access.log"))
        cache_log \(folder.path("cache.log"))
        coredump_dir \(folder.path(""))
        shutdown_lifetime 0 seconds
        \(rules)

        """
      try folder.write(Data(text.utf8), to: "squid.conf")
      return try RunningCommand("squid", ["-N", "-f", folder.path("squid.conf")])
    }
    return SquidServer(port: port, folder: folder, process: process)
  }

  /// The requests that squid has received, as `TCP_MISS/201 PUT http://…`.
  var requests: [String] {
    folder.text("access.log").split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      return fields.count > 6 ? "\(fields[3]) \(fields[5]) \(fields[6])" : nil
    }
  }
}
