import Foundation

/// A proxy in front of a real server that plays faults (`Servers/fault-proxy.py`).
final class FaultProxy: Sendable {
  let url: String
  private let process: RunningCommand
  private let input: Pipe

  private init(_ process: RunningCommand, input: Pipe) async throws {
    (self.process, self.input) = (process, input)
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter faults: the elements of a JSON array; see the script.
  static func start(before server: String, faults: String = "") async throws -> FaultProxy {
    let port = server.split(separator: ":").last.map { String($0) } ?? ""
    let input = Pipe()
    let process = try RunningCommand(
      "python3", ["-u", Product.source("Tests/EndToEndTests/Servers/fault-proxy.py"), port, "[\(faults)]"],
      input: input)
    return try await FaultProxy(process, input: input)
  }

  struct Request {
    var line: String
    var bytes: Int
  }

  /// The requests whose bodies have arrived, in order.
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
}
