import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `ferry-receiver` process for one test. It exits when the last reference to it is released.
final class ReceiverProcess: Sendable {
  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(folder: TemporaryFolder, process: RunningCommand) async throws {
    self.folder = folder
    self.process = process
    url = try await process.line(after: "listening on ")
  }

  deinit {
    process.signal(SIGTERM)
  }

  /// - Parameters:
  ///   - options: options of the command line, such as `--require-token`.
  ///   - faults: faults in the syntax of the command line, such as `commit:every=7,status=500`.
  ///   - isRecording: whether ``recorded`` contains the bytes that clients send.
  static func start(
    _ options: [String] = [], faults: [String] = [], isRecording: Bool = false
  ) async throws -> ReceiverProcess {
    let folder = try TemporaryFolder()
    let process = try RunningCommand(
      Product.path("ferry-receiver"),
      ["--dir", folder.path("received"), "--verbose"]
        + (isRecording ? ["--record", folder.path("record")] : [])
        + options + faults.flatMap { ["--fault", $0] })
    return try await ReceiverProcess(folder: folder, process: process)
  }

  var port: String { String(url.split(separator: ":").last ?? "") }

  /// The requests to which the receiver has responded, as `METHOD PATH STATUS`, in order, without requests from the
  /// test itself.
  var log: [String] {
    process.stderr.split(separator: "\n").map(String.init)
      .filter { !$0.contains(" /received ") && !$0.contains(" /faults ") }
  }

  /// How often the receiver has responded to a GET for each file.
  var gets: [String: Int] {
    let prefix = "GET /files/"
    let names = log.filter { $0.hasPrefix(prefix) && $0.hasSuffix(" 200") }
      .map { String($0.dropFirst(prefix.count).dropLast(4)) }
    return Dictionary(grouping: names) { $0 }.mapValues(\.count)
  }

  func received() async throws -> Received {
    try Received.decode(try await send("GET", "/received"))
  }

  /// Waits until the receiver's listing meets a condition.
  func received(
    within limit: Duration = .seconds(60), until isThere: (Received) -> Bool
  ) async throws -> Received {
    let deadline = ContinuousClock.now + limit
    while true {
      let received = try await received()
      if isThere(received) { return received }
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(description: "the receiver did not get what was waited for: \(received)")
      }
      // The test polls, because the receiver offers no event to wait for.
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Stores a file, which `/files/NAME` then returns.
  func put(_ text: String, to name: String) async throws {
    _ = try await send("PUT", "/files/\(name)", body: text)
  }

  /// All bytes that clients have sent, if the receiver was started to record them.
  var recorded: Data { (try? Data(contentsOf: folder.url.appending(path: "record"))) ?? Data() }

  /// - Parameter fault: a fault as JSON, such as `{"route": "content", "delay": 0.1}`.
  func add(fault: String) async throws { _ = try await send("POST", "/faults", body: fault) }

  /// - Parameter spec: a fault in the syntax of the command line.
  func add(spec: String) async throws {
    let parts = spec.split(separator: ":", maxSplits: 1)
    let settings = parts[1].split(separator: ",").map { setting in
      let sides = setting.split(separator: "=", maxSplits: 1)
      let value = Double(sides[1]) == nil ? "\"\(sides[1])\"" : "\(sides[1])"
      return "\"\(sides[0])\": \(value)"
    }
    try await add(fault: "{\"route\": \"\(parts[0])\", \(settings.joined(separator: ", "))}")
  }

  func clearFaults() async throws { _ = try await send("DELETE", "/faults") }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  private func send(_ method: String, _ path: String, body: String? = nil) async throws -> Data {
    guard let url = URL(string: url + path) else { throw CommandFailure(description: "\(path) is no path") }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    let (data, answer) = try await URLSession.shared.data(for: request)
    guard let answer = answer as? HTTPURLResponse, (200..<300).contains(answer.statusCode) else {
      throw CommandFailure(description: "\(method) \(path): \(String(decoding: data, as: UTF8.self))")
    }
    return data
  }
}
