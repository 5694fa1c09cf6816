import Foundation
import Testing

/// Token endpoints that send tokens which no request can carry, or tokens in failures.
@Suite struct `A hostile token endpoint` {
  private static func job(_ server: ScriptedServer) throws -> Workspace { try job(server.home) }

  private static func job(_ url: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: tokens
      secrets: { secret: { env: E2E_SECRET } }
      sessions: { s: {} }
      tokens:
        login:
          session: s
          oauth2: { token_url: "\(url)/token", client_id: app, client_secret: "${secrets.secret}" }
          retry: { limit: 0 }
      uploads:
        u:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(url)/${file.name}" } }
          retry: { limit: 0 }
      """)
    try job.write("content", to: "a")
    return job
  }

  private static func server(
    _ status: Int, headers: [String: String] = [:], _ body: String
  ) async throws -> ScriptedServer {
    try await ScriptedServer.start(["/token": .init(status: status, headers: headers, body: body)])
  }

  @Test(arguments: [#"a\r\nX-Evil: 1"#, #"a\u0000b"#, #"\u001b[31m"#, "", " "])
  func `cannot make files fail with a token that no request can carry`(_ token: String) async throws {
    let server = try await Self.server(200, #"{"access_token":"\#(token)","token_type":"Bearer"}"#)
    let (command, report) = try await Self.job(server).run()
    #expect(command.status == 7, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.waiting == 1 && report.totals.items.failed == 0)
    #expect(
      report.node("login")?.reason?.message.contains("the value of 'access_token' in the response") == true)
    #expect(server.lines == ["home POST /token"])
  }

  /// Responses in which the server repeats the token `token-0123456789`, by status.
  private static let failures: [(Int, String)] = [
    (400, #"{"access_token":"token-0123456789","refresh_token":"token-0123456789"}"#),
    (200, #"{"error":"token-0123456789","access_token":"token-0123456789"}"#),
    (200, #"{"error":"x","error_description":"for token-0123456789","id_token":"token-0123456789"}"#),
    (400, #"{"error":"token-0123456789","access_token":{"value":["token-0123456789"]}}"#),
    (
      401,
      #"{"error":"token-0123456789","Access_Token":"token-0123456789","access_token":"other-0123456789"}"#
    ),
    (
      401,
      #"{"error":"token-0123456789","access_token":"token-0123456789","access_token":"other-0123456789"}"#
    ),
    (400, "access_token=token-0123456789&token_type=bearer"),
    (400, #"{"access_token":"token-0123456789",}"#),
    (400, #"{"access_token":"token-0123456789","pad":""# + String(repeating: "x", count: 70_000) + #""}"#),
  ]

  @Test(arguments: failures)
  func `cannot show tokens in the report with a response that fails`(_ status: Int, _ body: String)
    async throws
  {
    let server = try await Self.server(status, headers: ["X-Echo": "token-0123456789"], body)
    let job = try Self.job(server)
    let command = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", "--trace", "trace.har", "-v")
    #expect(command.status == 7)
    let texts = [
      command.stdout, command.stderr, job.folder.text("report.json"), job.folder.text("trace.har"),
    ]
    #expect(!texts.joined().contains("0123456789"))
    #expect(texts.allSatisfy { !$0.isEmpty })
  }

  @Test(arguments: [200, 400])
  func `cannot show tokens in the reason phrase of a response that fails`(_ status: Int) async throws {
    let head = #"HTTP/1.1 \#(status) token-0123456789\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"#
    let server = try await ByteServer.start(#"  send(b"\#(head)token")"#)
    let job = try Self.job(server.url)
    let command = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", "--trace", "trace.har", "-v")
    #expect(command.status == 7, "\(command.stdout)\(command.stderr)")
    let texts = [
      command.stdout, command.stderr, job.folder.text("report.json"), job.folder.text("trace.har"),
    ]
    #expect(!texts.joined().contains("0123456789"))
    #expect(job.folder.text("trace.har").contains("\"status\""))
  }
}
