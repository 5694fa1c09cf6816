import Foundation
import Testing

/// Captured URLs with hosts for which ferry cannot determine the origin.
@Suite struct `A captured URL with an unusual host` {
  @Test func `that cannot be reached does not make files with other unusable URLs wait`() async throws {
    // libcurl interprets 0x7f.1 as 127.0.0.1, where no program listens on port 1.
    var responses: [String: ScriptedServer.Response] = [
      "/ids/a": .init(status: 200, headers: ["Location": "http://0x7f.1:1/x"])
    ]
    for name in ["b", "c", "d"] {
      responses["/ids/\(name)"] = .init(status: 200, headers: ["Location": "file:///etc/passwd"])
    }
    let server = try await ScriptedServer.start(responses)
    let job = try Workspace(
      """
      version: 1
      name: hosts
      sessions: { uploads: { kind: background, max_connections_per_host: 1 } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          allocate:
            request: { method: POST, url: "\(server.home)/ids/${file.name}" }
            capture: { at: { header: Location } }
          transfer: { request: { url: "${allocate.at}" } }
          retry: { limit: 0 }

      """)
    for name in ["a", "b", "c", "d"] { try job.write(name, to: name) }
    let (command, report) = try await job.run()
    #expect(report.totals.items.waiting == 1 && report.totals.items.failed == 3, "\(command.stdout)")
    #expect(command.status == 1)
  }
}
