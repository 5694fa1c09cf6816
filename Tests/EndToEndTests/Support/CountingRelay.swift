import Foundation

/// A TCP relay that counts the bytes of its connections to a server (`Servers/counting-relay.py`).
final class CountingRelay: Sendable {
  let port: String
  private let process: RunningCommand
  private let input: Pipe

  private init(_ process: RunningCommand, input: Pipe) async throws {
    (self.process, self.input) = (process, input)
    port = try await process.line(after: "port ")
  }

  deinit { process.signal(SIGKILL) }

  static func start(before port: String) async throws -> CountingRelay {
    let input = Pipe()
    let process = try RunningCommand(
      "python3", ["-u", Product.source("Tests/EndToEndTests/Servers/counting-relay.py"), port], input: input)
    return try await CountingRelay(process, input: input)
  }

  /// Stops the relay, and returns what its clients sent and received.
  func counts() async throws -> (sent: Int, received: Int) {
    try input.fileHandleForWriting.close()
    let words = try await process.line(after: "sent ").split(separator: " ")
    guard words.count == 3, let sent = Int(words[0]), let received = Int(words[2]) else {
      throw CommandFailure(description: "the relay printed no counts: \(words)")
    }
    return (sent, received)
  }
}
