import Foundation

/// A proxy that injects faults in front of a real server (`Servers/fault-proxy.py`).
final class FaultProxy: Sendable {
  let url: String
  private let process: RunningCommand
  private let input: Pipe

  private init(_ process: RunningCommand, input: Pipe) async throws {
    (self.process, self.input) = (process, input)
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameters:
  ///   - faults: the elements of a JSON array, which the script describes.
  ///   - options: a JSON object, which the script describes.
  static func start(
    before server: String, faults: String = "", options: String = "{}"
  ) async throws -> FaultProxy {
    let port = server.split(separator: ":").last.map { String($0) } ?? ""
    let input = Pipe()
    let process = try RunningCommand(
      "python3",
      ["-u", Product.source("Tests/EndToEndTests/Servers/fault-proxy.py"), port, "[\(faults)]", options],
      input: input)
    return try await FaultProxy(process, input: input)
  }

  struct Request {
    var line: String
    var bytes: Int
  }

  /// The requests whose bodies have arrived, completely or until they were aborted, in order.
  var requests: [Request] {
    process.stdout.split(separator: "\n").compactMap { text in
      let words = text.split(separator: " ")
      guard words.count >= 3, let bytes = words.last.flatMap({ Int($0) }) else { return nil }
      return Request(line: words.dropLast().joined(separator: " "), bytes: bytes)
    }
  }

  func count(_ pattern: String) -> Int {
    requests.count { $0.line.range(of: pattern, options: .regularExpression) != nil }
  }

  /// The largest number of matching requests that waited for their responses at the same time.
  func mostConcurrent(_ pattern: String) -> Int {
    var (now, most) = (0, 0)
    for line in process.stdout.split(separator: "\n")
    where line.range(of: pattern, options: .regularExpression) != nil {
      now += line.hasPrefix("response ") ? -1 : 1
      most = max(most, now)
    }
    return most
  }

  /// The number of body bytes that have arrived in matching requests.
  func bytes(_ pattern: String) -> Int {
    requests.filter { $0.line.range(of: pattern, options: .regularExpression) != nil }
      .reduce(0) { $0 + $1.bytes }
  }

  /// The number of matching requests to which the server has responded with a status of 2xx.
  func successes(_ pattern: String) -> Int {
    process.stdout.split(separator: "\n").count { text in
      let words = text.split(separator: " ", maxSplits: 2)
      guard words.count == 3, words[0] == "response", words[1].hasPrefix("2") else { return false }
      return words[2].range(of: pattern, options: .regularExpression) != nil
    }
  }

  /// Waits until requests have been held this number of times, and returns the target of the held request.
  func waitUntilHeld(_ count: Int = 1, by run: RunningCommand) async throws -> String {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline, run.isRunning {
      // The last line can be incomplete.
      let lines = process.stdout.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let held = lines.filter { $0.hasPrefix("held ") }
      if held.count >= count, let target = held[count - 1].split(separator: " ").last {
        return String(target)
      }
      // The test polls, because the proxy writes its output to a file.
      try await Task.sleep(for: .milliseconds(5))
    }
    throw CommandFailure(
      description: "no request was held\n\(process.stdout)\(process.stderr)\n\(run.stdout)\(run.stderr)")
  }

  /// Lets the held request proceed.
  func release() throws { try input.fileHandleForWriting.write(contentsOf: Data("go\n".utf8)) }

  /// The output of the proxy, for messages.
  var log: String { process.stdout + process.stderr }
}
