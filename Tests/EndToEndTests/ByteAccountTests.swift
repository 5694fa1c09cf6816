import Foundation
import Testing

/// Compares the bytes in a report with those that a relay between ferry and the server has counted.
@Suite struct `The bytes of a run` {
  private func port(_ url: String) -> String { url.split(separator: ":").last.map(String.init) ?? "" }

  private func add(_ bytes: RunReport.Totals.Bytes) -> Int? {
    bytes.unattributed.map { bytes.useful + bytes.resent + bytes.overhead + $0 }
  }

  private typealias Trial = (command: Command, report: RunReport, counts: (sent: Int, received: Int))

  /// Repeats the run until TCP retransmits nothing. The kernel counts retransmissions, which occur on a busy machine,
  /// but a relay does not see them.
  private func undisturbed(_ run: () async throws -> Trial) async throws -> Trial {
    for _ in 1..<5 {
      let trial = try await run()
      if trial.report.totals.bytes.sent ?? 0 <= trial.counts.sent { return trial }
    }
    return try await run()
  }

  @Test func `are exactly those of its connections, and belong to its requests over plain HTTP`() async throws
  {
    let (command, report, counts) = try await undisturbed {
      let receiver = try await ReceiverProcess.start(
        faults: ["file:match=flaky,status=503,times=2", "file:match=refused,status=403"])
      let relay = try await CountingRelay.start(before: port(receiver.url))
      let job = try Workspace(JobText.text(server: "http://127.0.0.1:\(relay.port)", JobText.puts))
      for index in 0..<40 { try job.write(String(repeating: "x", count: index * 997), to: "file-\(index)") }
      for name in ["flaky", "refused"] { try job.write(String(repeating: "y", count: 5000), to: name) }
      let (command, report) = try await job.run()
      return (command, report, try await relay.counts())
    }
    #expect(command.status == 1, "\(command.stdout)")
    let bytes = report.totals.bytes
    #expect(bytes.sent == counts.sent && bytes.received == counts.received, "\(bytes) \(counts)")
    #expect(bytes.unattributed == 0)
    #expect(bytes.useful == (0..<40).reduce(5000) { $0 + $1 * 997 })
    #expect(bytes.resent == 15_000)
    #expect(add(bytes) == counts.sent + counts.received)
  }

  @Test(.enabled("openssl, nginx and caddy are needed") { TestAuthority.isPossible })
  func `that are not attributed to a request are those of TLS`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(listen: "ssl", try await authority.issue("server").directives)
    let (command, report, counts) = try await undisturbed {
      let relay = try await CountingRelay.start(before: "\(site.port)")
      let job = try Workspace(
        """
        version: 1
        name: tls
        sessions: { s: { tls: { ca_file: \(authority.file) }, max_connections_per_host: 1 } }
        uploads:
          u:
            session: s
            files: { root: files }
            transfer: { request: { url: "https://127.0.0.1:\(relay.port)/${file.name}" } }
        """)
      for index in 0..<10 { try job.write(String(repeating: "x", count: 20_000), to: "\(index)") }
      let (command, report) = try await job.run()
      return (command, report, try await relay.counts())
    }
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let bytes = report.totals.bytes
    // When the report is written, the connection is still open. When it is closed, TLS sends an alert of 24 bytes
    // (TLS 1.3, RFC 8446, section 6.1) or 31 bytes (TLS 1.2) in a record.
    let sent = try #require(bytes.sent)
    #expect((24...31).contains(counts.sent - sent), "\(bytes) \(counts)")
    #expect((0...31).contains(counts.received - (bytes.received ?? 0)), "\(bytes) \(counts)")
    #expect(bytes.useful == 200_000 && add(bytes) == sent + (bytes.received ?? 0))
    // The unattributed bytes include a handshake, and at least 22 bytes of framing in the record of each
    // request and each response.
    #expect((bytes.unattributed ?? 0) > 20 * 22 + 500, "\(bytes)")
    #expect(command.stdout.contains(" sent 2"), "\(command.stdout)")
  }
}
