import Foundation

/// A terminal in which a command runs: a window of tmux, whose size can be changed.
final class TmuxTerminal: Sendable {
  /// Whether tmux is installed. If not, a message is printed once. In CI, scripts/setup fails earlier.
  static let isPossible: Bool = {
    if RunningCommand.find("tmux") != nil { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: no terminal is captured: tmux is not there; run scripts/setup test\n\n".utf8))
    return false
  }()

  private let socket: TemporaryFolder

  private init(_ socket: TemporaryFolder) { self.socket = socket }

  deinit {
    let process = Process()
    process.executableURL = RunningCommand.find("tmux").map { URL(filePath: $0) }
    process.arguments = ["-S", socket.path("s"), "kill-server"]
    process.standardError = FileHandle.nullDevice
    // If this program cannot be started, the server exits when the command in its window exits.
    try? process.run()
  }

  /// Starts a shell command in a window.
  static func start(
    _ command: String, columns: Int, rows: Int = 24, environment: [String: String], in folder: URL
  ) async throws -> TmuxTerminal {
    let terminal = TmuxTerminal(try TemporaryFolder())
    try terminal.socket.write(Data("set -g status off\n".utf8), to: "conf")
    // The server inherits the environment of the client that starts it. It must not inherit the descriptor by which
    // Foundation waits for the client, because it stays in the background.
    let started = try await Command.run(
      "python3",
      [
        "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))", "tmux", "-u", "-S",
        terminal.socket.path("s"), "-f", terminal.socket.path("conf"), "new-session", "-d", "-x",
        "\(columns)", "-y", "\(rows)", "\(command); echo exited with $?; exec sleep 300",
      ], environment: environment.merging(["LC_ALL": "C.UTF-8", "TMUX": ""]) { $1 }, in: folder)
    guard started.status == 0 else { throw CommandFailure(description: "tmux: \(started.stderr)") }
    return terminal
  }

  func resize(columns: Int, rows: Int = 24) async throws {
    _ = try await tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// The lines on the screen, without empty ones.
  func screen() async throws -> [String] {
    try await tmux("capture-pane", "-p").split(separator: "\n").map(String.init)
  }

  /// Waits until the screen satisfies a condition, and returns it.
  func screen(within limit: Duration = .seconds(60), where isRight: ([String]) -> Bool) async throws
    -> [String]
  {
    let deadline = ContinuousClock.now + limit
    var lines: [String] = []
    while ContinuousClock.now < deadline {
      lines = try await screen()
      if isRight(lines) { return lines }
      // The test polls, because a terminal does not report changes of its contents.
      try await Task.sleep(for: .milliseconds(50))
    }
    throw CommandFailure(description: "the screen does not become right:\n\(lines.joined(separator: "\n"))")
  }

  private func tmux(_ arguments: String...) async throws -> String {
    let command = try await Command.run("tmux", ["-u", "-S", socket.path("s")] + arguments)
    guard command.status == 0 else { throw CommandFailure(description: "tmux: \(command.stderr)") }
    return command.stdout
  }
}
