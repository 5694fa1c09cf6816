import Foundation

/// Debian's tinyproxy, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class TinyproxyServer: Sendable {
  static let isPossible: Bool = {
    if RunningCommand.find("tinyproxy") != nil { return true }
    FileHandle.standardError.write(Data("\n!!!! SKIPPED: the tests of proxies need tinyproxy\n\n".utf8))
    return false
  }()

  let port: Int
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(port: Int, folder: TemporaryFolder, process: RunningCommand) {
    (self.port, self.folder, self.process) = (port, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  /// - Parameter login: the user and password that tinyproxy requires, separated by a space.
  static func start(login: String? = nil) async throws -> TinyproxyServer {
    let folder = try TemporaryFolder()
    let (process, port) = try await LoopbackPort.start(log: { folder.text("log") }) { port in
      let text = """
        Port \(port)
        Listen 127.0.0.1
        Allow 127.0.0.1
        LogFile "\(folder.path("log"))"
        LogLevel Connect
        \(login.map { "BasicAuth \($0)" } ?? "")

        """
      try folder.write(Data(text.utf8), to: "tinyproxy.conf")
      return try RunningCommand("tinyproxy", ["-d", "-c", folder.path("tinyproxy.conf")])
    }
    return TinyproxyServer(port: port, folder: folder, process: process)
  }

  /// The request lines that tinyproxy has received.
  var requests: [String] {
    folder.text("log").split(separator: "\n").compactMap { line in
      line.firstRange(of: "): ").map { String(line[$0.upperBound...]) }
    }.filter { $0.hasSuffix("HTTP/1.1") || $0.hasSuffix("HTTP/1.0") }
  }
}
