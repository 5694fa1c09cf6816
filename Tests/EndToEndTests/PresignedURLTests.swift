import Foundation
import Testing

/// How S3 reports that a presigned URL has expired.
@Suite struct `A presigned URL that has expired` {
  private func job(_ server: ScriptedServer, _ renewal: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: presigned
      sessions: { uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          allocate:
            request: { method: POST, url: "\(server.home)/urls" }
            capture: { key: { json: /key } }
            \(renewal)
          transfer: { request: { url: "\(server.home)/${allocate.key}" } }
          retry: { limit: 2, initial: 10ms }

      """)
    try job.write("a", to: "a.txt")
    return job
  }

  private func server(_ body: String) async throws -> ScriptedServer {
    try await ScriptedServer.start([
      "/urls": .init(status: 200, body: #"{"key":"k1"}"#),
      "/k1": .init(status: 403, headers: ["Content-Type": "application/xml"], body: body),
    ])
  }

  @Test(arguments: [
    ("<Code>AccessDenied</Code><Message>Request has expired</Message>", "", 3),
    ("<Code>ExpiredToken</Code><Message>The provided token has expired.</Message>", "", 3),
    ("<Code>AccessDenied</Code><Message>Access Denied</Message>", "", 1),
    ("<Code>SignatureDoesNotMatch</Code><Message>Request has expired</Message>", "", 1),
    ("<Code>AccessDenied</Code><Message>Access Denied</Message>", "renew_on: [403]", 3),
  ])
  func `is allocated again, within the retry limit`(_ error: String, renewal: String, count: Int) async throws
  {
    let server = try await server("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>\(error)</Error>")
    let (command, report) = try await job(server, renewal).run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(server.lines.count { $0 == "home POST /urls" } == count)
    #expect(server.lines.count { $0 == "home PUT /k1" } == count)
    #expect(report.item("a.txt")?.reason?.status == 403)
    #expect(report.totals.idsExpired == count - 1)
  }
}
