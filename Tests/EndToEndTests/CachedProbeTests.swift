import Foundation
import Testing

/// A probe that a cache may answer.
@Suite("A cache between ferry and the server")
struct CachedProbeTests {
  private static func manifest(_ server: ScriptedServer, session: String, probe: String = "") -> String {
    """
    version: 1
    name: cached
    sessions: { s: { \(session) } }
    uploads:
      u:
        session: s
        files: { root: files }
        retry: { limit: 4, initial: 100ms }
        transfer: { request: { method: PUT, url: "\(server.home)/files/${file.name}" } }
        commit:
          request: { method: POST, url: "\(server.home)/commit/${file.name}" }
          probe:
            request: { url: "\(server.home)/state/${file.name}"\(probe) }
            expect: { json: { /state: committed } }
    """
  }

  private static func state(_ state: String, _ headers: [String: String] = [:]) -> ScriptedServer.Response {
    .init(status: 200, headers: headers, body: #"{ "state": "\#(state)" }"#)
  }

  private func commits(_ server: ScriptedServer) -> Int {
    server.lines.count { $0.contains("POST /commit/") }
  }

  /// The server does not execute the first commit, executes the second one, and states both truthfully.
  @Test(.enabled("squid is needed") { SquidServer.isPossible })
  func `is not asked whether a commit was executed`() async throws {
    let old = ["Last-Modified": "Tue, 01 Jan 2019 00:00:00 GMT"]
    var pending = Self.state("pending", old)
    pending.next = [Self.state("committed", old)]
    let server = try await ScriptedServer.start(["/commit/a": .init(status: 502), "/state/a": pending])
    let squid = try await SquidServer.start(stores: true)
    let job = try Workspace(
      Self.manifest(server, session: "proxy: { url: \"http://127.0.0.1:\(squid.port)\" }"))
    try job.write("a", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.state == "done")
    #expect(commits(server) == 2, "\(server.lines)\n\(squid.requests)")
    #expect(squid.requests.count { $0.contains("GET http") } == 2)
  }

  /// Varnish does so by default.
  @Test(arguments: ["committed", "pending"])
  func `that responds nonetheless shows nothing about a later commit`(_ stored: String) async throws {
    var response = Self.state(stored, ["Age": "90"])
    response.next = [Self.state("committed")]
    let server = try await ScriptedServer.start(["/commit/a": .init(status: 502), "/state/a": response])
    let job = try Workspace(Self.manifest(server, session: ""))
    try job.write("a", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(commits(server) == 1, "\(server.lines)")
    #expect(report.items.first?.attempts.last?.step == "probe")
  }

  @Test func `is asked for the server's state unless the manifest says otherwise`() async throws {
    let server = try await ScriptedServer.start([
      "/commit/a": .init(status: 502), "/state/a": Self.state("committed"),
    ])
    for (session, probe, expected) in [
      ("", "", "no-cache"), ("headers: { cache-control: max-age=5 }", "", "max-age=5"),
      ("", ", headers: { Cache-Control: max-stale }", "max-stale"),
    ] {
      let job = try Workspace(
        Self.manifest(server, session: session, probe: probe) + """

          fetches:
            f: { session: s, request: { url: "\(server.home)/document" }, save_to: document }
          """)
      try job.write("a", to: "a")
      #expect(try await job.run().command.status == 0)
      #expect(server.requests.last { $0.path == "/state/a" }?.headers["cache-control"] == expected)
      // A stored document is as good as any other.
      let document = server.requests.last { $0.path == "/document" }
      #expect(document?.headers["cache-control"] == (session.isEmpty ? nil : expected))
    }
  }
}
