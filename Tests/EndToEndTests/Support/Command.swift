import Foundation
import Synchronization

/// A program that has run to its end, and its result.
struct Command {
  /// The exit code. If a signal killed the program, 128 plus the signal's number, as in a shell.
  let status: Int32
  let stdout: String
  let stderr: String

  /// Runs a program with an empty standard input.
  ///
  /// - Parameters:
  ///   - path: the program, looked up in PATH if it has no slash.
  ///   - environment: variables that are set in addition to this process's environment.
  static func run(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:],
    in folder: URL? = nil
  ) async throws -> Command {
    let running = try RunningCommand(path, arguments, environment: environment, in: folder)
    return await running.end()
  }
}

/// A running program whose outputs are collected.
///
/// Each output goes to a separate file, because the program would block on a full pipe while the test waits.
final class RunningCommand: Sendable {
  private static let starting = Mutex(())
  private let process: Mutex<Process>
  private let outputs: TemporaryFolder
  private let ended: AsyncStream<Void>
  /// The process ID.
  let pid: Int32

  /// - Parameter input: the standard input; `nil` for an empty one.
  init(
    _ path: String, _ arguments: [String] = [], environment: [String: String] = [:],
    in folder: URL? = nil, input: Pipe? = nil
  ) throws {
    let process = Process()
    process.executableURL = try Self.program(path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.currentDirectoryURL = folder ?? Product.package
    outputs = try TemporaryFolder()
    let (stdout, stderr) = (try outputs.open("stdout"), try outputs.open("stderr"))
    process.standardOutput = stdout
    process.standardError = stderr
    process.standardInput = input ?? FileHandle.nullDevice
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.finish() }
    try Self.starting.withLock { _ in try Self.withAllSignals { try process.run() } }
    // The process object would keep the descriptors open after the program's end, and `run()` crashes if 1,024 or more
    // files are open.
    try stdout.close()
    try stderr.close()
    pid = process.processIdentifier
    ended = stream
    self.process = Mutex(process)
  }

  /// The program's standard output so far.
  var stdout: String { outputs.text("stdout") }
  /// The program's standard error so far.
  var stderr: String { outputs.text("stderr") }
  var isRunning: Bool { process.withLock { $0.isRunning } }

  /// Sends a signal to the program.
  func signal(_ number: Int32) { kill(pid, number) }

  /// Waits for the program to exit.
  func end() async -> Command {
    for await _ in ended {}
    let status = process.withLock { process in
      process.terminationReason == .uncaughtSignal
        ? 128 + process.terminationStatus : process.terminationStatus
    }
    return Command(status: status, stdout: stdout, stderr: stderr)
  }

  /// Waits for the program to exit. At the time limit, kills its process group, of which it is the leader.
  func end(within limit: Duration) async throws -> Command {
    let watch = Task { [self] in
      try await Task.sleep(for: limit)
      kill(-pid, SIGKILL)
      return true
    }
    let command = await end()
    watch.cancel()
    if case .success = await watch.result {
      throw CommandFailure(
        description: "it did not end within \(limit)\n\(command.stdout)\n\(command.stderr)")
    }
    return command
  }

  /// Waits until a line on standard output begins with `prefix`, and returns the rest of that line.
  func line(after prefix: String, within limit: Duration = .seconds(60)) async throws -> String {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      let lines = stdout.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      if let line = lines.first(where: { $0.hasPrefix(prefix) }) {
        return String(line.dropFirst(prefix.count))
      }
      guard isRunning else { break }
      // The test polls, because the program writes its output to a file.
      try await Task.sleep(for: .milliseconds(10))
    }
    throw CommandFailure(description: "no line '\(prefix)…' came\n\(stdout)\n\(stderr)")
  }

  /// Runs `body` with no signal blocked. The threads of Dispatch block most signals. A child would inherit this mask
  /// and would not receive SIGTERM.
  private static func withAllSignals(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
  }

  private static func program(_ path: String) throws -> URL {
    if path.contains("/") { return URL(filePath: path) }
    guard let found = find(path) else { throw CommandFailure(description: "there is no program \(path)") }
    return URL(filePath: found)
  }

  /// Searches for a program in PATH, and in the folder of Debian's servers, which is missing from some users' PATH.
  static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/sbin"]).map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

/// A program did not behave as a test requires.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String
}
