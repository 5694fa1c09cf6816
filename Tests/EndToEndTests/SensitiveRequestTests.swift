import Foundation
import Testing

/// Servers that redirect ferry in order to obtain its secrets, or to make a failed delivery count as
/// successful.
@Suite struct `A server that leads elsewhere` {
  typealias Response = ScriptedServer.Response

  private static func text(_ server: ScriptedServer, session: String = "", _ nodes: String) -> String {
    """
    version: 1
    name: e2e
    secrets: { client_secret: { env: E2E_SECRET } }
    sessions:
      s: { timeout_for_request: 20s\(session) }

    """
      + nodes.replacing("HOME", with: server.home).replacing("AWAY", with: server.away).replacing(
        "RETRY", with: "retry: { limit: 2, initial: 10ms, max: 10ms }") + "\n"
  }

  private static let token = """
    tokens:
      login:
        session: s
        request: { method: POST, url: "HOME/token", form: { client_secret: "${secrets.client_secret}" } }
        capture: { access_token: { json: /access_token } }
        apply: { header: Authorization, value: "Bearer ${token.access_token}"ORIGINS }
    uploads:
      files:
        session: s
        token: login
        files: { root: files }
        allocate: { request: { url: "HOME/ids" }, capture: { u: { json: /u } } }
        transfer: { request: { url: "${allocate.u}" } }
    """

  private func job(
    _ server: ScriptedServer, session: String = "", _ nodes: String
  ) throws -> Workspace {
    let job = try Workspace(Self.text(server, session: session, nodes))
    try job.write("hello", to: "a.txt")
    return job
  }

  private static let tokenAndIDs = [
    "/token": Response(status: 200, body: #"{"access_token":"tok-123456"}"#),
    "/ids": Response(status: 200, body: #"{"u":"{away}/up"}"#),
  ]

  // MARK: Secrets

  @Test(arguments: [307, 308]) func `does not get a token request's body`(status: Int) async throws {
    let server = try await ScriptedServer.start([
      "/token": Response(status: status, headers: ["Location": "{away}/steal"])
    ])
    let job = try job(server, Self.token.replacing("ORIGINS", with: ""))
    let (command, report) = try await job.run()
    #expect(command.status == 7, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home POST /token"])
    let reason = try #require(report.nodes.first { $0.name == "login" }?.reason)
    #expect(reason.message.contains("secrets.client_secret in the body"), "\(reason.message)")
  }

  @Test(arguments: ["refuse", "strip", "follow"])
  func `gets the header of a secret capture only if the manifest allows it`(rule: String) async throws {
    let server = try await ScriptedServer.start([
      "/ids": Response(status: 200, body: #"{"key":"captured-secret"}"#),
      "/put": Response(status: 307, headers: ["Location": "{away}/steal"]),
    ])
    let job = try job(
      server, session: ", redirects: { across_origins: \(rule) }",
      """
      uploads:
        files:
          session: s
          files: { root: files }
          allocate: { request: { url: "HOME/ids" }, capture: { key: { json: /key, secret: true } } }
          transfer: { request: { url: "HOME/put", headers: { X-Key: "${allocate.key}" } } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == (rule == "refuse" ? 1 : 0), "\(command.stdout)\(command.stderr)")
    let away = server.requests.filter { $0.server == "away" }
    #expect(
      away.map(\.headers["x-key"]) == (rule == "refuse" ? [] : [rule == "strip" ? nil : "captured-secret"]))
    if rule == "refuse" {
      #expect(report.totals.items.failed == 1)
      #expect(command.stdout.contains("allocate.key in the header X-Key"), "\(command.stdout)")
    }
    #expect(!(command.stdout + command.stderr).contains("captured-secret"))
  }

  @Test func `gets neither the token nor the session's secrets through a URL that it names`() async throws {
    let server = try await ScriptedServer.start(Self.tokenAndIDs)
    let headers = #", headers: { X-Secret: "${secrets.client_secret}" }"#
    let job = try job(server, session: headers, Self.token.replacing("ORIGINS", with: ""))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home POST /token", "home POST /ids", "away PUT /up"])
    let (home, away) = (server.requests[1], server.requests[2])
    #expect(home.headers["authorization"] == "Bearer tok-123456" && home.headers["x-secret"] != nil)
    #expect(away.headers["authorization"] == nil && away.headers["x-secret"] == nil)
  }

  @Test func `gets the token if the manifest lists its origin`() async throws {
    let server = try await ScriptedServer.start(Self.tokenAndIDs)
    let job = try job(server, Self.token.replacing("ORIGINS", with: #", origins: ["AWAY"]"#))
    #expect(try await job.run().command.status == 0)
    #expect(server.requests.last?.headers["authorization"] == "Bearer tok-123456")
  }

  @Test(arguments: [401, 403]) func `is distinguished from a server that rejects the token`(status: Int)
    async throws
  {
    let server = try await ScriptedServer.start(
      Self.tokenAndIDs.merging(["/up": Response(status: status)]) { $1 })
    let job = try job(server, Self.token.replacing("ORIGINS", with: ""))
    let (command, _) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines.count { $0 == "home POST /token" } == 1)
    #expect(command.stdout.contains("token.access_token"), "\(command.stdout)")
    #expect(command.stdout.contains(#"origins: ["\#(server.away)"]"#), "\(command.stdout)")
  }

  @Test func `does not get a body with a secret through a URL that it names`() async throws {
    let server = try await ScriptedServer.start(Self.tokenAndIDs)
    let job = try job(
      server,
      """
      requests:
        where: { session: s, request: { url: "HOME/ids" }, capture: { u: { json: /u } } }
        tell:
          session: s
          request: { method: POST, url: "${requests.where.u}", form: { s: "${secrets.client_secret}" } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home GET /ids"])
    #expect(report.nodes.first { $0.name == "tell" }?.reason?.code == "redirect")
  }

  @Test func `does not cause the URL's password to be recorded through a relative Location`() async throws {
    let server = try await ScriptedServer.start([
      "/ids": Response(status: 201, headers: ["Location": "/up/7"]), "/up/7": Response(status: 403),
    ])
    let home = server.home.replacing("http://", with: "http://bob:hunter2@")
    let job = try job(
      server,
      """
      uploads:
        files:
          session: s
          files: { root: files }
          allocate: { request: { url: "\(home)/ids" }, capture: { u: { header: Location } } }
          transfer: { request: { url: "${allocate.u}" } }
      """)
    let (command, _) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    // ferry sends the password, because the manifest's own URL contains it.
    #expect(server.lines == ["home POST /ids", "home PUT /up/7"])
    #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Basic Ym9iOmh1bnRlcjI=" })
    let plan = try await job.ferry("plan", "job.yaml", "--format", "json")
    let texts = [
      try await job.ferry("orphans").stdout, try await job.ferry("journal", "export").stdout, command.stdout,
      plan.stdout,
    ]
    #expect(texts[0].contains("\(server.home)/up/7"), "\(texts[0])")
    for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
    for (name, data) in try job.stateFiles() {
      #expect(data.range(of: Data("hunter2".utf8)) == nil, "\(name)")
    }
  }

  @Test func `has its captures that hold a secret treated as secret`() async throws {
    let server = try await ScriptedServer.start([
      "/token": Response(status: 200, body: #"{"access_token":"tok-123456"}"#),
      "/ids": Response(status: 200, body: #"{"u":"{home}/up?t=tok-123456"}"#),
      "/up?t=tok-123456": Response(status: 403),
    ])
    let job = try job(server, Self.token.replacing("ORIGINS", with: ""))
    let (command, _) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(server.lines.last == "home PUT /up?t=tok-123456")
    for text in [try await job.ferry("orphans").stdout, try await job.ferry("journal", "export").stdout] {
      #expect(!text.contains("tok-123456"), "\(text)")
    }
  }

  // MARK: Deliveries

  @Test(arguments: [301, 302, 303]) func `to a login page causes no file to count as delivered`(status: Int)
    async throws
  {
    let server = try await ScriptedServer.start([
      "/up": Response(status: status, headers: ["Location": "/login"])
    ])
    let job = try job(
      server,
      """
      uploads:
        files: { session: s, files: { root: files }, transfer: { protocol: post, request: { url: "HOME/up" } } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.ambiguous == 1 && report.totals.items.done == 0)
    #expect(server.lines == ["home POST /up"])
    #expect(command.stdout.contains("expect: { status: [\(status)] }"), "\(command.stdout)")
  }

  /// Wherever the redirect leads, the response from there must not count.
  @Test(arguments: [301, 302, 303], ["/503", "/404", "/403", "http://127.0.0.1:1/", "http://no.invalid/"])
  func `has a commit sent once`(status: Int, target: String) async throws {
    try await expectOneCommit(Response(status: status, headers: ["Location": target]))
  }

  @Test(arguments: [307, 308], ["http://127.0.0.1:1/", "http://no.invalid/", "ftp://127.0.0.1/", ""])
  func `to an unreachable server has a commit sent once`(status: Int, target: String) async throws {
    try await expectOneCommit(Response(status: status, headers: ["Location": target]))
  }

  @Test(arguments: [300, 304, 305, 306, 399, 600, 799, 999])
  func `with an undefined status has a commit sent once`(status: Int) async throws {
    try await expectOneCommit(Response(status: status, body: ""))
  }

  private func expectOneCommit(_ response: Response) async throws {
    let server = try await ScriptedServer.start([
      "/ids": Response(status: 200, body: #"{"id":7}"#), "/ids/7/commit": response,
      "/503": Response(status: 503), "/404": Response(status: 404), "/403": Response(status: 403),
    ])
    let job = try job(
      server,
      """
      uploads:
        files:
          session: s
          files: { root: files }
          RETRY
          allocate: { request: { url: "HOME/ids" }, capture: { id: { json: /id } } }
          transfer: { request: { url: "HOME/ids/${allocate.id}" } }
          commit: { request: { url: "HOME/ids/${allocate.id}/commit" } }
          abandon: { request: { url: "HOME/ids/${allocate.id}" } }
      """)
    for _ in 0..<2 {
      let (command, _) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    }
    #expect(server.lines == ["home POST /ids", "home PUT /ids/7", "home POST /ids/7/commit"])
    #expect(try await job.status().session("e2e.s")?.node("files")?.items?["ambiguous"] == 1)
  }

  @Test func `to another server by 307 has that server's response used`() async throws {
    let server = try await ScriptedServer.start([
      "/up": Response(status: 307, headers: ["Location": "{away}/there"])
    ])
    let job = try job(
      server,
      """
      uploads:
        files: { session: s, files: { root: files }, transfer: { protocol: post, request: { url: "HOME/up" } } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(server.lines == ["home POST /up", "away POST /there"])
    #expect(server.requests.last?.body == "hello")
  }
}
