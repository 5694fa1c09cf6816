import Foundation
import Testing

/// `max_bandwidth` of several processes. `FERRY_BANDWIDTH_SECONDS=20` measures for 20 seconds, with the tolerances of
/// an idle machine.
@Suite struct `A limit of the bandwidth in several processes` {
  private static let seconds =
    ProcessInfo.processInfo.environment["FERRY_BANDWIDTH_SECONDS"].flatMap(Double.init)

  /// A job that uploads large files.
  private static func manifest(_ name: String, _ port: String, limit: String) -> String {
    """
    version: 1
    name: \(name)
    max_bandwidth: \(limit)
    sessions: { s: { max_connections_per_host: 8 } }
    uploads:
      u:
        session: s
        files: { root: files }
        transfer: { request: { url: "http://127.0.0.1:\(port)/\(name)/${file.path}" } }
    """
  }

  private struct Measurement: Decodable {
    var seconds: Double
    var bytes: [String: Double]
  }

  /// Runs jobs with these numbers of uploads and limits, and returns the rate of each upload.
  private func rates(_ jobs: [(count: Int, limit: String)]) async throws -> [[Double]] {
    let script = Product.source("Tests/EndToEndTests/Servers/bandwidth-sink.py")
    let all = jobs.map(\.count).reduce(0, +)
    let server = try RunningCommand(
      "python3", ["-u", script, "\(all)", "1.5", "\(Self.seconds ?? 4)"])
    defer { server.signal(SIGKILL) }
    let port = try await server.line(after: "listening on ")
    let shared = try TemporaryFolder()
    var workspaces: [Workspace] = []
    var running: [RunningCommand] = []
    defer { for command in running { command.signal(SIGKILL) } }
    for (index, job) in jobs.enumerated() {
      let workspace = try Workspace(Self.manifest("job\(index)", port, limit: job.limit))
      for file in 0..<job.count {
        try workspace.write("", to: "\(file)")
        // Sparse files that are never sent completely.
        #expect(truncate(workspace.folder.path("files/\(file)"), 1 << 30) == 0)
      }
      workspaces.append(workspace)
      running.append(
        try workspace.start(["run", "job.yaml"], environment: ["FERRY_STATE": shared.path("state")]))
    }
    let line = try await server.line(after: "measured ")
    let measured = try JSONDecoder().decode(Measurement.self, from: Data(line.utf8))
    return jobs.indices.map { index in
      measured.bytes.filter { $0.key.hasPrefix("/job\(index)/") }.map { $0.value / measured.seconds }
    }
  }

  @Test(.timeLimit(.minutes(2))) func `is divided evenly among their requests`() async throws {
    let rates = try await rates([(5, "2MB"), (3, "2MB")])
    let all = rates.flatMap { $0 }
    let sum = all.reduce(0, +)
    print("bandwidth: \(Int(sum)) B/s in total, each \(all.map { Int($0) }.sorted())")
    #expect(rates.map(\.count) == [5, 3])
    // A machine under load may transfer less, and a short measurement is less exact.
    #expect(sum < 2_000_000 * (Self.seconds == nil ? 1.1 : 1.05), "\(rates)")
    #expect(sum > 2_000_000 * (Self.seconds == nil ? 0.7 : 0.95), "\(rates)")
    let deviation = Self.seconds == nil ? 0.4 : 0.2
    for rate in all { #expect(abs(rate - sum / 8) < sum / 8 * deviation, "\(rates)") }
  }

  @Test(.timeLimit(.minutes(2))) func `counts the bytes of each process against its own limit`() async throws
  {
    let rates = try await rates([(2, "2MB"), (2, "1MB")])
    let sums = rates.map { $0.reduce(0, +) }
    // Turns last equally long in both processes, so each process sends at about half of its limit.
    #expect(sums[0] < 1_000_000 * 1.15 && sums[1] < 500_000 * 1.15, "\(rates)")
    #expect(sums[0] > 1_000_000 * 0.6 && sums[1] > 500_000 * 0.6, "\(rates)")
  }

  @Test(.timeLimit(.minutes(2))) func `uses one file for each boot, and deletes old ones`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      """
      version: 1
      name: wire
      max_bandwidth: 2MB
      sessions: { s: {} }
      requests: { r: { session: s, request: { url: "\(receiver.url)/catalog.json" } } }
      """)
    #expect(try await job.run().command.status == 0)
    let names = { try FileManager.default.contentsOfDirectory(atPath: job.state) }
    let own = try #require(try names().first { $0.hasPrefix("bandwidth-") })
    let mode = try FileManager.default.attributesOfItem(atPath: job.state + "/" + own)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    for (name, date) in [("old", Date(timeIntervalSince1970: 1)), ("new", Date())] {
      try Data([1]).write(to: URL(filePath: job.state + "/bandwidth-" + name))
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: job.state + "/bandwidth-" + name)
    }
    // Invalid content of the file does not block requests.
    try Data(repeating: 0x7F, count: 100).write(to: URL(filePath: job.state + "/" + own))
    chmod(job.state + "/" + own, 0o600)
    #expect(try await job.run("--fresh").command.status == 0)
    #expect(try Set(names().filter { $0.hasPrefix("bandwidth-") }) == [own, "bandwidth-new"])
  }
}
