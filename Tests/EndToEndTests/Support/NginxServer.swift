import Foundation

/// nginx with its WebDAV module, on a free port of the loopback interface.
///
/// It is stopped when the last reference to it is released.
final class NginxServer: UploadServer {
  /// Whether an nginx with the module is installed.
  static let isPossible: Bool = {
    guard let program = RunningCommand.find("nginx") else { return false }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = ["-V"]
    process.standardError = output
    // An nginx that cannot be started does not have the module.
    guard (try? process.run()) != nil else { return false }
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self).contains("--with-http_dav_module")
  }()

  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(url: String, folder: TemporaryFolder, process: RunningCommand) {
    (self.url, self.folder, self.process) = (url, folder, process)
  }

  deinit { process.signal(SIGTERM) }

  static func start() async throws -> NginxServer {
    let folder = try TemporaryFolder()
    // If root starts nginx, nginx drops its privileges, so its user needs write access.
    for name in ["root", "body"] { chmod(try folder.makeFolder(name).path(percentEncoded: false), 0o777) }
    chmod(folder.url.path(percentEncoded: false), 0o755)
    let (process, port) = try await LoopbackPort.start(log: { folder.text("error.log") }) { port in
      try folder.write(Data(configuration(folder, port: port).utf8), to: "nginx.conf")
      return try RunningCommand(
        "nginx", ["-p", folder.path(""), "-c", folder.path("nginx.conf"), "-e", folder.path("error.log")])
    }
    return NginxServer(url: "http://127.0.0.1:\(port)", folder: folder, process: process)
  }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  func delivered() async throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("root"))
    guard !names.isEmpty else { return [] }
    return Array(try await TestFiles.digests(of: names, under: folder.path("root")).values)
  }

  private static func configuration(_ folder: TemporaryFolder, port: Int) -> String {
    let unused = ["proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path unused;" }
    return """
      worker_processes 1;
      daemon off;
      pid nginx.pid;
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path body;
        \(unused.joined(separator: " "))
        client_max_body_size 0;
        server {
          listen 127.0.0.1:\(port);
          root root;
          location / { dav_methods PUT; }
        }
      }

      """
  }
}
