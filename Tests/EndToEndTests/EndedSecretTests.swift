import Foundation
import Testing

/// Secrets that come from responses. A server quotes them later, when the work to which they belong has
/// ended.
@Suite struct `A secret of work that has ended` {
  private func expectNone(
    of secrets: [String], in job: Workspace, _ command: Command, shown: String
  ) throws {
    let report = job.folder.text("report.json")
    for (name, text) in [("the output", command.stdout + command.stderr), ("the report", report)] {
      SecretForms.expectNone(of: secrets, in: Data(text.utf8), name)
    }
    #expect(command.stderr.contains(shown) || command.stdout.contains(shown), "\(command)")
    #expect(report.contains(shown), "\(report)")
  }

  @Test func `is masked in messages of on_end`() async throws {
    let server = try await ScriptedServer.start([
      "/token": .init(status: 200, body: #"{"access":"main-token-1"}"#),
      "/open": .init(status: 200, body: #"{"key":"key-of-request"}"#),
      "/allocate/a.txt": .init(status: 200, body: #"{"id":"1","key":"key-of-item"}"#),
      "/end": .init(
        status: 400, headers: ["Content-Type": "text/plain"],
        body: "sent before: main-token-1, key-of-request, key-of-item."),
    ])
    let job = try Workspace(
      """
      version: 1
      name: end
      vars: { home: "\(server.home)" }
      sessions: { quick: {}, uploads: { kind: background } }
      tokens:
        login:
          session: quick
          request: { method: POST, url: "${vars.home}/token" }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      requests:
        open:
          session: quick
          token: login
          request: { method: POST, url: "${vars.home}/open" }
          capture: { key: { json: /key, secret: true } }
      uploads:
        files:
          session: uploads
          token: login
          needs: [open]
          files: { root: files }
          allocate:
            request: { method: POST, url: "${vars.home}/allocate/${file.path}" }
            capture: { id: { json: /id }, key: { json: /key, secret: true } }
          transfer: { request: { url: "${vars.home}/content/${allocate.id}?key=${allocate.key}" } }
      on_end:
        notify: { session: quick, request: { method: POST, url: "${vars.home}/end" } }
      """)
    try job.write("a", to: "a.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command)")
    #expect(report.run.onEnd?.map(\.state) == ["failed"])
    try expectNone(
      of: ["main-token-1", "key-of-request", "key-of-item"], in: job, command,
      shown: "sent before: ***, ***, ***.")
  }

  @Test func `is masked in messages about other files, whether its file was delivered or is ambiguous`()
    async throws
  {
    let server = try await ScriptedServer.start([
      "/allocate/0.txt": .init(status: 200, body: #"{"id":"0","key":"key-&-of-0"}"#),
      "/allocate/1.txt": .init(status: 200, body: #"{"id":"1","key":"key-&-of-1"}"#),
      "/allocate/2.txt": .init(status: 200, body: #"{"id":"2","key":"key-&-of-2"}"#),
      "/commit/1.txt": .init(status: 500),
      "/commit/2.txt": .init(
        status: 409, headers: ["Content-Type": "text/html"],
        body: "in use: key-&-of-0, key-&-of-1, key-&amp;-of-1, key-&amp;-of-2."),
    ])
    let job = try Workspace(
      """
      version: 1
      name: ended
      vars: { home: "\(server.home)" }
      sessions: { uploads: { kind: background, max_connections_per_host: 1 } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          batch: { max_items: 1 }
          retry: { limit: 0 }
          allocate:
            request: { method: POST, url: "${vars.home}/allocate/${file.path}" }
            capture: { id: { json: /id }, key: { json: /key, secret: true } }
          transfer: { request: { url: "${vars.home}/content/${allocate.id}" } }
          commit:
            request: { method: POST, url: "${vars.home}/commit/${file.path}", headers: { X-Key: "${allocate.key}" } }
      """)
    for index in 0..<3 { try job.write("a", to: "\(index).txt") }
    let (command, report) = try await job.run()
    #expect(
      Dictionary(uniqueKeysWithValues: report.items.map { ($0.path, $0.state) })["1.txt"] == "ambiguous",
      "\(command)")
    try expectNone(
      of: ["key-&-of-0", "key-&-of-1", "key-&-of-2"], in: job, command, shown: "in use: ***, ***, ***, ***.")
  }
}
