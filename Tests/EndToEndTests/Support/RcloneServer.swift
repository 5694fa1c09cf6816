import Foundation

/// `rclone serve s3` for a folder, on a free port of the loopback interface. It checks every signature.
///
/// It is stopped when the last reference to it is released.
final class RcloneServer: S3UploadServer {
  /// An rclone that can serve S3 (1.65 or later), from scripts/setup or in PATH; `nil` if there is none. The one in
  /// Debian 12 is older.
  static let program: String? = [Product.source(".build/python/bin/rclone"), RunningCommand.find("rclone")]
    .compactMap(\.self).first { program in
      guard FileManager.default.isExecutableFile(atPath: program) else { return false }
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = ["serve", "s3", "--help"]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      // An rclone that cannot be started does not have the command.
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }

  /// The tests need boto3 to read the stored objects.
  static var isPossible: Bool { program != nil && S3Server.python != nil }

  let url: String
  let bucket = "photos"
  let credentials = [
    ["AKIA1111111111111111", "secret-of-the-first-key"],
    ["AKIA2222222222222222", "secret-of-the-second-key"],
  ]
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(_ folder: TemporaryFolder) async throws {
    guard let program = Self.program else { throw CommandFailure(description: "no rclone can serve S3") }
    _ = try folder.makeFolder("root/\(bucket)")
    let keys = credentials.flatMap { ["--auth-key", $0.joined(separator: ",")] }
    let process = try RunningCommand(
      "sh",
      ["-c", "exec \"$@\" 2>&1", "sh", program, "serve", "s3", "--addr", "127.0.0.1:0", folder.path("root")]
        + keys,
      environment: ["RCLONE_CONFIG": folder.path("rclone.conf"), "RCLONE_CACHE_DIR": folder.path("cache")])
    (self.folder, self.process) = (folder, process)
    url = try await Self.url(in: process)
  }

  deinit { process.signal(SIGKILL) }

  static func start() async throws -> RcloneServer { try await RcloneServer(TemporaryFolder()) }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The address that rclone has logged.
  private static func url(in process: RunningCommand) async throws -> String {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline, process.isRunning {
      if let match = process.stdout.firstMatch(of: /\[(http:\/\/127\.0\.0\.1:[0-9]+)\/\]/) {
        return String(match.1)
      }
      // The test polls, because the program writes its output to a file.
      try await Task.sleep(for: .milliseconds(10))
    }
    throw CommandFailure(description: "rclone did not start\n\(process.stdout)")
  }
}
