import Foundation
import Testing

/// A token or a request names a server, and later another one, which may have issued the same upload ID for another
/// file.
@Suite struct `A server that a response names` {
  private static let id = ScriptedServer.Response(status: 201, body: #"{"id":"17"}"#)

  private static func server(_ more: [String: ScriptedServer.Response] = [:]) async throws -> ScriptedServer {
    var responses = more
    for name in ["home", "away"] {
      responses["/server/\(name)"] = .init(
        status: 200, body: #"{"token":"tok-123456","expires_in":600,"base":"{\#(name)}"}"#)
    }
    responses["/ids"] = id
    return try await .start(responses)
  }

  /// - Parameter base: the capture that names the server.
  private static func manifest(_ server: ScriptedServer, base: String, commit: String) -> String {
    """
    version: 1
    name: named
    vars: { where: { default: home } }
    sessions: { s: { kind: background } }
    tokens:
      login:
        session: s
        request: { url: "\(server.home)/server/${vars.where}" }
        capture:
          token: { json: /token, secret: true }
          base: { json: /base }
        apply: { header: Authorization, value: "Bearer ${token.token}" }
    requests:
      discover:
        session: s
        request: { method: GET, url: "\(server.home)/server/${vars.where}" }
        capture: { base: { json: /base } }
    uploads:
      up:
        session: s
        token: login
        needs: [discover]
        files: { root: files }
        retry: { limit: 0 }
        allocate: { request: { url: "${\(base)}/ids" }, capture: { id: { json: /id } } }
        transfer: { request: { url: "${\(base)}/ids/${allocate.id}" } }
        commit:
          request: { url: "${\(base)}/ids/${allocate.id}/commit/${file.name}" }
          \(commit)
        abandon: { request: { url: "${\(base)}/ids/${allocate.id}" } }

    """
  }

  private static let away = ["--var", "where=away"]

  @Test func `is not sent a commit that another server may have executed`() async throws {
    let server = try await Self.server(["/ids/17/commit/a": .init(status: 500)])
    let key = "idempotency_key: { header: Idempotency-Key }"
    let job = try Workspace(Self.manifest(server, base: "token.base", commit: key))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 5)
    let (command, report) = try await job.run(Self.away)
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let item = try #require(report.item("a"))
    #expect(item.state == "ambiguous" && item.ambiguity?.origin == server.home)
    let message = "its upload ID belongs to \(server.home), and its commit would go to \(server.away)"
    #expect(item.reason?.message.contains(message) == true, "\(command.stdout)")
    #expect(!server.lines.contains { $0.hasPrefix("away") }, "\(server.lines)")
    #expect(try await job.ferry("status").stdout.contains("its commit to \(server.home)"))
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  /// A user has decided that the commit was not executed, so the file starts over at the other server.
  @Test func `gets the file again, and not only its commit`() async throws {
    let server = try await Self.server(["/ids/17/commit/a": .init(status: 302)])
    let job = try Workspace(Self.manifest(server, base: "requests.discover.base", commit: ""))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("resolve", "a", "retry", "--manifest", "job.yaml").status == 0)
    // Both servers send the same responses, so the commit to the other server becomes ambiguous, too.
    for status in [5, 1] {
      // The first run has no retries left, so the next run starts over.
      let (command, _) = try await job.run(Self.away)
      #expect(command.status == status, "\(command.stdout)\(command.stderr)")
    }
    let away = server.lines.filter { $0.hasPrefix("away") }
    #expect(away == ["away POST /ids", "away PUT /ids/17", "away POST /ids/17/commit/a"], "\(server.lines)")
  }

  @Test func `is not asked to release another server's upload ID`() async throws {
    let server = try await Self.server([
      "/ids/17/commit/a": .init(status: 403), "/ids/17": .init(status: 200),
      "/ids/18": .init(status: 200),
    ])
    let manifest = Self.manifest(server, base: "requests.discover.base", commit: "")
    // Because its manifest has no `abandon`, the first run cannot release the ID.
    let listed = manifest.split(separator: "\n").filter { !$0.contains("abandon") }.joined(separator: "\n")
    let job = try Workspace(listed + "\n")
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 1)
    try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
    try job.write(manifest: manifest)
    #expect(try await job.run(Self.away).command.status == 0)
    #expect(!server.lines.contains { $0.contains("DELETE") }, "\(server.lines)")
    let orphans = try await job.ferry("orphans").stdout
    #expect(orphans.contains("id 17 at \(server.home)"), "\(orphans)")
    #expect(orphans.contains("went to a different server in the last run"), "\(orphans)")
    // The same ID on the other server, for another file, identifies another upload.
    try job.write("two", to: "b")
    #expect(try await job.run(Self.away).command.status == 0)
    #expect(try await job.ferry("orphans").stdout.contains("id 17 at \(server.home)"))
    #expect(!server.lines.contains { $0.contains("DELETE") }, "\(server.lines)")
  }

  /// The user who resolves the item must check the other server, too.
  @Test func `is shown if a commit was redirected there and is ambiguous`() async throws {
    let server = try await Self.server([
      "/ids/17/commit/a": .init(status: 307, headers: ["Location": "{away}/lost"]),
      "/lost": .init(status: 500),
    ])
    let text = Self.manifest(server, base: "requests.discover.base", commit: "")
    let job = try Workspace(text.replacing("    token: login\n", with: ""))
    try job.write("one", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let ambiguity = try #require(report.item("a")?.ambiguity)
    #expect(ambiguity.origin == server.home && ambiguity.redirectedTo == server.away)
    let line = "its commit to \(server.home) (redirected to \(server.away), id 17) may have been executed"
    #expect(command.stdout.contains(line), "\(command.stdout)")
    #expect(try await job.ferry("status").stdout.contains(line))
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is the one that releases its upload IDs`() async throws {
    let server = try await Self.server(["/ids/17/commit/a": .init(status: 403)])
    let job = try Workspace(Self.manifest(server, base: "requests.discover.base", commit: ""))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 1)
    #expect(server.lines.last == "home DELETE /ids/17", "\(server.lines)")
  }
}
