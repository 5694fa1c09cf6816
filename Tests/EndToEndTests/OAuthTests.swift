import Foundation
import Testing

/// `oauth2` of a token, against an issuer by Authlib.
@Suite(
  // Starting many servers at the same time takes long.
  .serialized, .enabled("authlib and flask are needed") { OAuthIssuer.python != nil })
struct `An OAuth 2 token` {
  /// A job that uploads files with a token of the issuer.
  private static func job(
    _ issuer: OAuthIssuer, _ settings: String, token: String = "", session: String = "",
    files: [String] = ["a"]
  ) throws -> Workspace {
    let job = try Workspace(text(issuer, settings, token: token, session: session))
    for name in files { try job.write("content of \(name)", to: name) }
    return job
  }

  private static func text(
    _ issuer: OAuthIssuer, _ settings: String, token: String = "", session: String = ""
  ) -> String {
    """
    version: 1
    name: oauth
    secrets: { client_secret: { env: CLIENT_SECRET }, refresh_token: { env: REFRESH_TOKEN } }
    sessions: { s: { \(session) } }
    tokens:
      login:
        session: s
        oauth2: { token_url: "\(issuer.url)/token", \(settings) }
        retry: { initial: 10ms }
        \(token)
    uploads:
      u:
        session: s
        token: login
        files: { root: files }
        transfer: { request: { method: PUT, url: "\(issuer.url)/files/${file.name}" } }
        retry: { limit: 0 }
    """
  }

  private static let credentials = "client_id: app, client_secret: \"${secrets.client_secret}\""
  private static let refreshing =
    "\(credentials), grant: refresh_token, refresh_token: \"${secrets.refresh_token}\""

  private static func environment(refreshToken: String = OAuthIssuer.firstRefreshToken) -> [String: String] {
    ["CLIENT_SECRET": OAuthIssuer.secret, "REFRESH_TOKEN": refreshToken]
  }

  private static func run(_ job: Workspace, _ environment: [String: String] = environment()) async throws
    -> (command: Command, report: RunReport)
  {
    let command = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", "-v", environment: environment)
    return (command, try job.report())
  }

  /// Checks that no secret occurs in any output or in the journals, except refresh tokens in `ferry.db`.
  private static func expectSecrecy(_ job: Workspace, _ issuer: OAuthIssuer, _ command: Command) throws {
    let report = try String(contentsOfFile: job.folder.path("report.json"), encoding: .utf8)
    let basic = Data("app:app%20secret%2F%2B%3A%25".utf8).base64EncodedString()
    let secrets =
      issuer.requests.compactMap(\.access) + issuer.requests.compactMap(\.refresh)
      + [OAuthIssuer.secret, OAuthIssuer.firstRefreshToken, basic]
    for secret in secrets {
      #expect(!(command.stdout + command.stderr + report).contains(secret))
      for (name, content) in try job.stateFiles() where !name.hasPrefix("ferry.db") {
        #expect(content.firstRange(of: Data(secret.utf8)) == nil, "\(name)")
      }
    }
  }

  @Test(arguments: [
    ("client_id: app, client_secret: \"${secrets.client_secret}\"", true),
    ("client_id: form, client_secret: \"${secrets.client_secret}\", client_auth: body", false),
  ])
  func `is issued to a client that authenticates itself with Basic or in the body`(
    _ settings: String, _ isBasic: Bool
  ) async throws {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, settings + ", scope: read write", files: ["a", "b"])
    let (command, report) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.puts.map(\.status) == [201, 201])
    #expect(issuer.puts.map(\.place) == ["header", "header"])
    let tokens = issuer.tokens
    #expect(tokens.map(\.status) == [200] && tokens[0].basic == isBasic)
    #expect(tokens[0].accept == "application/json")
    var form = ["grant_type": "client_credentials", "scope": "read write"]
    if !isBasic { form.merge(["client_id": "form", "client_secret": OAuthIssuer.secret]) { $1 } }
    #expect(tokens[0].form == form)
    #expect(report.totals.tokensFetched == 1)
    try Self.expectSecrecy(job, issuer, command)
  }

  @Test func `is replaced when expires_in has passed, with the refresh token that the server issued last`()
    async throws
  {
    let issuer = try await OAuthIssuer.start("expires=2", "delay=50")
    let job = try Self.job(
      issuer, Self.refreshing, session: "max_connections_per_host: 1", files: (1...60).map { "f\($0)" })
    // The uploads take longer than the lifetime of a token.
    let (command, report) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.tokens.count > 1)
    #expect(issuer.puts.count == 60 && issuer.puts.allSatisfy { $0.status == 201 })
    #expect(report.totals.tokensFetched == issuer.tokens.count)
    try Self.expectChain(issuer.tokens)
  }

  /// Each request has the refresh token of the response before it.
  private static func expectChain(_ tokens: [OAuthIssuer.Request]) throws {
    var refreshToken = OAuthIssuer.firstRefreshToken
    for token in tokens {
      #expect(token.status == 200 && token.form?["refresh_token"] == refreshToken)
      refreshToken = try #require(token.refresh)
    }
  }

  @Test func `is refreshed in each run of examples/oauth2.yaml`() async throws {
    let issuer = try await OAuthIssuer.start()
    let example = try ExampleRun(
      "oauth2", files: ["a": 10, "b c": 20], root: "API_FILES",
      environment: Self.environment().merging(["API_URL": issuer.url, "ISSUER_URL": issuer.url]) { $1 })
    for _ in 1...2 {
      let (command, _) = try await example.run()
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
      try Data("new".utf8).write(to: URL(filePath: example.folder.path("files/new")))
    }
    #expect(issuer.puts.map(\.status) == [201, 201, 201])
    try Self.expectChain(issuer.tokens)
  }

  @Test func `is refreshed by the next run with the refresh token in the journal`() async throws {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, Self.refreshing)
    for number in 1...3 {
      try job.write("content \(number)", to: "file\(number)")
      let (command, _) = try await Self.run(job)
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
      try Self.expectSecrecy(job, issuer, command)
    }
    #expect(issuer.tokens.count == 3)
    try Self.expectChain(issuer.tokens)
    // The journal is not readable by others.
    let mode = try FileManager.default.attributesOfItem(atPath: job.state + "/ferry.db")[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test func `leaves a refresh token that is listed without its value, and that ferry reset keeps`()
    async throws
  {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, Self.refreshing)
    try job.write("1", to: "file1")
    #expect(try await Self.run(job).command.status == 0)
    for sessions in [[], ["oauth.s"]] {
      let export = try await job.start(["journal", "export"] + sessions).end()
      let records = export.stdout.split(separator: "\n").filter { $0.contains("\"refresh_token\"") }
      let record = try #require(records.first)
      #expect(records.count == 1)
      #expect(record.contains("\"manifest\":\"oauth\",\"token\":\"login\""), "\(record)")
      #expect(record.contains("\"issued_at\"") && record.contains("\"chain\""))
      for secret in issuer.requests.compactMap(\.refresh) { #expect(!export.stdout.contains(secret)) }
    }
    #expect(try await job.ferry("journal", "check").status == 0)
    #expect(try await job.ferry("reset", "oauth.s").status == 0)
    try job.write("2", to: "file2")
    #expect(try await Self.run(job).command.status == 0)
    try Self.expectChain(issuer.tokens)
  }

  @Test func `is used only after its refresh token is on disk`() async throws {
    let folder = try TemporaryFolder()
    let issuer = try await OAuthIssuer.start("journal=\(folder.path("state"))/ferry.db")
    let job = try Self.job(issuer, Self.refreshing)
    let command = try await job.ferry(
      "run", "job.yaml", environment: Self.environment().merging(["FERRY_STATE": folder.path("state")]) { $1 }
    )
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let issued = try #require(issuer.tokens.first?.refresh)
    #expect(issuer.puts.map(\.journal) == [[issued]])
  }

  @Test func `survives a kill after its first use`() async throws {
    let issuer = try await OAuthIssuer.start("hold_put=1")
    let job = try Self.job(issuer, Self.refreshing)
    let killed = try job.start(["run", "job.yaml"], environment: Self.environment())
    try await issuer.wait(for: 1, \.puts)
    killed.signal(SIGKILL)
    _ = await killed.end()
    let (command, _) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    try Self.expectChain(issuer.tokens)
  }

  /// The server has replaced the refresh token, and its response is lost.
  @Test func `whose response is lost needs a new refresh token, and the message says so`() async throws {
    let issuer = try await OAuthIssuer.start("hold=1")
    let job = try Self.job(issuer, Self.refreshing)
    let killed = try job.start(["run", "job.yaml"], environment: Self.environment())
    try await issuer.wait(for: 1, \.tokens)
    killed.signal(SIGKILL)
    _ = await killed.end()
    let (refused, report) = try await Self.run(job)
    #expect(refused.status != 0)
    #expect(issuer.tokens.map(\.status) == [200, 400])
    let reason = try #require(report.node("login")?.reason)
    #expect(reason.message.contains("the server reports invalid_grant"), "\(reason)")
    #expect(reason.message.contains("obtain a new one from the server, and store it"), "\(reason)")
    try Self.expectSecrecy(job, issuer, refused)

    // A new refresh token in the manifest begins a new chain.
    let new = try #require(issuer.tokens.first?.refresh)
    let (command, _) = try await Self.run(job, Self.environment(refreshToken: new))
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.tokens.last?.form?["refresh_token"] == new)
  }

  @Test func `is not used if its refresh token cannot be written to the journal`() async throws {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, Self.refreshing)
    #expect(try await Self.run(job).command.status == 0)
    let script = """
      import sqlite3, sys
      with sqlite3.connect(sys.argv[1]) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON refresh_token BEGIN SELECT RAISE(ABORT, 'disk full'); END")
      """
    let altered = try await Command.run("python3", ["-c", script, job.state + "/ferry.db"])
    #expect(altered.status == 0, "\(altered.stderr)")
    try job.write("more", to: "b")
    let (command, _) = try await Self.run(job)
    #expect(command.status == 70, "\(command.stdout)\(command.stderr)")
    // The summary names the file.
    #expect(command.stdout.contains("ferry.db"), "\(command.stdout)")
    #expect(issuer.tokens.count == 2 && issuer.puts.count == 1)
  }

  @Test func `is requested again while the server is temporarily unavailable`() async throws {
    let issuer = try await OAuthIssuer.start("unavailable=2")
    let job = try Self.job(issuer, Self.credentials)
    let (command, report) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.tokens.map(\.status) == [400, 400, 200])
    #expect(report.totals.tokensFetched == 1)
  }

  @Test func `is not requested again after an error that is final`() async throws {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, "client_id: app, client_secret: \"${secrets.client_secret}x\"")
    let (command, report) = try await Self.run(job)
    #expect(command.status != 0)
    #expect(issuer.tokens.map(\.status) == [401])
    let reason = try #require(report.node("login")?.reason)
    #expect(reason.message.contains("invalid_client"), "\(reason)")
    #expect(reason.message.contains("check 'client_id', 'client_secret' and 'client_auth'"), "\(reason)")
  }

  @Test func `without expires_in is used until the server rejects it`() async throws {
    let issuer = try await OAuthIssuer.start("expires=none")
    let job = try Self.job(issuer, Self.credentials)
    let (command, _) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.tokens.count == 1)
  }

  @Test func `of another type than Bearer is not sent as one`() async throws {
    let issuer = try await OAuthIssuer.start("type=mac")
    let job = try Self.job(issuer, Self.credentials)
    let (command, report) = try await Self.run(job)
    #expect(command.status != 0)
    #expect(issuer.puts.isEmpty)
    #expect(
      report.node("login")?.reason?.message.contains("'token_type' is not Bearer") == true,
      "\(String(describing: report.node("login")?.reason))")
  }

  @Test(arguments: [("query: access_token", "query"), ("cookie: session", "cookie")])
  func `can be sent in the query or in a cookie, and is masked`(_ apply: String, _ place: String)
    async throws
  {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, Self.credentials, token: "apply: { \(apply) }", files: ["a", "b"])
    let (command, _) = try await Self.run(job)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(issuer.puts.map(\.place) == [place, place])
    try Self.expectSecrecy(job, issuer, command)
  }

  @Test func `of a request at the end of the run keeps its refresh token`() async throws {
    let issuer = try await OAuthIssuer.start()
    let job = try Self.job(issuer, Self.refreshing)
    try job.write(
      manifest: Self.text(issuer, Self.refreshing) + """

        on_end:
          note: { session: s, token: login, request: { method: PUT, url: "\(issuer.url)/files/end" } }
        """)
    for _ in 1...2 {
      let (command, _) = try await Self.run(job)
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    }
    #expect(issuer.puts.filter { $0.path == "/files/end" }.map(\.status) == [201, 201])
    try Self.expectChain(issuer.tokens)
  }
}
