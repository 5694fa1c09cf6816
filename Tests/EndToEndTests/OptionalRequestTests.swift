import Foundation
import Testing

/// A notification to which the server responds with 500.
@Suite struct `A notification that fails` {
  private func job(_ server: ScriptedServer, _ keys: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: tell
      sessions: { quick: {}, uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          transfer: { request: { url: "\(server.home)/put/${file.path}" } }
      requests:
        tell:
          session: quick
          needs: [files]
          \(keys)
          request: { method: POST, url: "\(server.home)/tell" }
          retry: { limit: 2, initial: 10ms }

      """)
    try job.write("a", to: "a.txt")
    return job
  }

  @Test func `makes the run ambiguous, unless it is optional`() async throws {
    let server = try await ScriptedServer.start(["/tell": .init(status: 500)])
    let plain = try await job(server, "when: succeeded").run()
    #expect(plain.command.status == 1)
    let (command, report) = try await job(server, "optional: true").run()
    #expect(command.status == 0)
    #expect(report.run.roundClosed && report.run.exitCode == 0)
    #expect(report.node("tell")?.state == "ambiguous" && report.node("tell")?.optional == true)
    #expect(
      command.stderr.contains(
        "warning: optional request tell: ambiguous: request may have been executed"),
      "\(command.stderr)")
    #expect(command.stdout.contains("\n  request tell: ambiguous, optional ("), "\(command.stdout)")
  }

  @Test func `is sent again with one key if it has an idempotency key, or is repeatable`() async throws {
    for keys in ["idempotency_key: { header: Idempotency-Key }", "repeatable: true"] {
      let server = try await ScriptedServer.start(["/tell": .init(status: 500)])
      let job = try job(server, keys)
      #expect(try await job.run().command.status == 5)
      #expect(try await job.run().command.status == 5)
      let sent = server.requests.filter { $0.path == "/tell" }
      #expect(sent.count == 6)
      let values = Set(sent.map { $0.headers["idempotency-key"] })
      #expect(
        values.count == 1 && (values.first??.count == 36) == keys.hasPrefix("idempotency_key"), "\(values)")
    }
  }
}
