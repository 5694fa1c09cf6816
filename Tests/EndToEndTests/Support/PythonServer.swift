import Foundation

/// A server that one test, or a few, define as a script in Python.
final class PythonServer: Sendable {
  let port: String
  private let process: RunningCommand

  /// - Parameter script: listens at 127.0.0.1, and prints `port` and the port number first.
  init(_ script: String, _ arguments: [String] = []) async throws {
    process = try RunningCommand("python3", ["-u", "-c", script] + arguments)
    port = try await process.line(after: "port ")
  }

  deinit {
    process.signal(SIGKILL)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// What the script has printed.
  var stdout: String { process.stdout }

  /// Waits until the script has printed a line that begins with the text, and returns the rest of the line.
  func line(after text: String) async throws -> String { try await process.line(after: text) }
}
