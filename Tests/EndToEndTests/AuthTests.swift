import Foundation
import Testing

/// `auth` of a session or a request, against nginx and Apache.
@Suite(.enabled("apache2, nginx and openssl are needed") { ApacheSite.isPossible })
struct `An authentication challenge` {
  private static let user = "müller"

  private static func job(_ auth: String, _ url: String, extra: String = "", files: [String] = ["a"]) throws
    -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: auth
      secrets: { password: { env: E2E_SECRET } }
      sessions:
        s: { max_connections_per_host: 1, auth: \(auth)\(extra) }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(url)/${file.name}" } }
          retry: { limit: 0 }
      """)
    for name in files { try job.write("content of \(name)", to: name) }
    return job
  }

  private static let credentials = "user: \(user), password: \"${secrets.password}\""

  /// nginx with Basic authentication.
  private static func basicSite(_ more: String = "") async throws -> NginxSite {
    let hash = try await Command.run("openssl", ["passwd", "-apr1", Workspace.secret])
    return try await NginxSite.start(
      files: ["passwords": "\(user):\(hash.stdout)"],
      "auth_basic ferry; auth_basic_user_file FOLDER/passwords; \(more)")
  }

  /// Apache with Digest authentication.
  private static func digestSite() async throws -> ApacheSite {
    let line = "\(user):ferry:\(Workspace.secret)"
    let hash = try await Command.run(
      "sh", ["-c", "printf %s \"$1\" | openssl dgst -md5 -r | cut -d' ' -f1", "sh", line])
    return try await ApacheSite.start(
      modules: ["auth_digest"], files: ["passwords": "\(user):ferry:\(hash.stdout)"],
      """
      AuthType Digest
          AuthName ferry
          AuthUserFile "FOLDER/passwords"
      """)
  }

  @Test(arguments: ["basic", "any"])
  func `of Basic gets a response once for each origin`(_ scheme: String) async throws {
    let site = try await Self.basicSite()
    let job = try Self.job(
      "{ scheme: \(scheme), \(Self.credentials) }", "http://127.0.0.1:\(site.port)", files: ["a", "b", "c"])
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    // Nothing is sent before the challenge, and later requests carry the credentials.
    #expect(site.requests.map { $0[0] } == ["401", "201", "201", "201"])
    #expect(site.requests.map { $0[4] }.dropFirst().allSatisfy { $0 != "-" })
    #expect(["a", "b", "c"].map { site.file($0) } == ["content of a", "content of b", "content of c"])
    // The response to the challenge is part of the request.
    #expect(report.totals.requests == 3)
  }

  /// Each redirect leads to a server that asks for credentials too.
  @Test func `of Basic gets a response from each server of a redirect`() async throws {
    let challenge = ["WWW-Authenticate": "Basic realm=\"ferry\""]
    func server(_ path: String, _ then: ScriptedServer.Response) async throws -> ScriptedServer {
      try await ScriptedServer.start([path: .init(status: 401, headers: challenge, next: [then])])
    }
    let third = try await server("/c", .init(status: 201))
    let second = try await server("/b", .init(status: 307, headers: ["Location": "\(third.home)/c"]))
    let first = try await server("/a", .init(status: 307, headers: ["Location": "\(second.home)/b"]))
    let job = try Workspace(
      """
      version: 1
      name: auth
      secrets: { password: { env: UPLOAD_PASSWORD } }
      sessions: { s: { kind: background, auth: { scheme: basic, user: bob, password: "${secrets.password}" } } }
      uploads: { files: { session: s, files: { root: files }, transfer: { request: { url: "\(first.home)/${file.name}" } } } }
      requests:
        second: { session: s, needs: [files], request: { method: POST, url: "\(second.home)/done" } }
        third: { session: s, needs: [files], request: { method: POST, url: "\(third.home)/done" } }

      """)
    try job.write("content", to: "a")
    let run = try await job.start(["run", "job.yaml"], environment: ["UPLOAD_PASSWORD": "long-password"])
      .end()
    #expect(run.status == 0, "\(run.stdout)\(run.stderr)")
    #expect(third.requests.contains { $0.path == "/c" && $0.body == "content" })
  }

  @Test func `of Basic is not awaited if the credentials are preemptive`() async throws {
    let site = try await Self.basicSite()
    let job = try Self.job(
      "{ scheme: basic, preemptive: true, \(Self.credentials) }", "http://127.0.0.1:\(site.port)")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[0] } == ["201"])
  }

  @Test(arguments: ["digest", "any"])
  func `of Digest gets a response, even for a large file`(_ scheme: String) async throws {
    let site = try await Self.digestSite()
    let job = try Self.job(
      "{ scheme: \(scheme), \(Self.credentials) }", "http://127.0.0.1:\(site.port)", files: ["a", "b"])
    let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try job.folder.write(large, to: "files/large & more")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.file("large & more") == large)
    #expect(site.file("a") == Data("content of a".utf8))
    #expect(site.requests.filter { $0[0] == "401" }.count == 1, "\(site.requests)")
    #expect(site.requests.filter { $0[0] == "201" }.count == 3)
  }

  /// A server repeats the credentials that it has received.
  @Test func `is masked in Base64 also if the password is short`() async throws {
    let short = "abc12"
    let encoded = Data("bob:\(short)".utf8).base64EncodedString()
    let server = try await ScriptedServer.start([
      "/a": .init(status: 403, body: "no access with Basic \(encoded)")
    ])
    let job = try Workspace(
      """
      version: 1
      name: auth
      secrets: { password: { env: SHORT } }
      sessions: { s: { kind: background, auth: { scheme: basic, user: bob, password: "${secrets.password}" } } }
      uploads: { files: { session: s, files: { root: files }, transfer: { request: { url: "\(server.home)/${file.path}" } } } }

      """)
    try job.write("content", to: "a")
    let run = try await job.start(
      ["run", "job.yaml", "--report", "report.json"], environment: ["SHORT": short]
    ).end()
    #expect(run.status == 1 && run.stdout.contains("no access with Basic ***"), "\(run.stdout)\(run.stderr)")
    #expect(!(run.stdout + job.folder.text("report.json")).contains(encoded))
  }

  @Test func `gets no second response with a wrong password`() async throws {
    let (basic, digest) = (try await Self.basicSite(), try await Self.digestSite())
    for (scheme, port) in [("basic", basic.port), ("digest", digest.port)] {
      let job = try Self.job(
        "{ scheme: \(scheme), user: \(Self.user), password: \"${secrets.password}x\" }",
        "http://127.0.0.1:\(port)")
      let (command, report) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      let reason = report.items.first?.reason
      #expect(reason?.status == 401)
      #expect(
        reason?.message.contains("the server rejected the credentials of 'auth'") == true,
        "\(String(describing: reason))")
      #expect(!(command.stdout + command.stderr).contains(Workspace.secret))
    }
    #expect(basic.requests.map { $0[0] } == ["401", "401"])
    #expect(digest.requests.map { $0[0] } == ["401", "401"])
  }

  @Test func `of another scheme is named`() async throws {
    let site = try await Self.digestSite()
    let job = try Self.job("{ scheme: basic, \(Self.credentials) }", "http://127.0.0.1:\(site.port)")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(
      report.items.first?.reason?.message.contains(
        "the server offers digest with MD5, but 'auth' in the manifest specifies basic")
        == true, "\(String(describing: report.items.first?.reason))")
    #expect(site.requests.count == 1)
  }

  @Test(arguments: [("Digest realm=r", "digest"), ("Digest realm=r, algorithm=MD5", "digest with MD5")])
  func `of Digest without a nonce is reported as malformed`(_ challenge: String, _ shown: String) async throws
  {
    let server = try await ScriptedServer.start([
      "/a": .init(status: 401, headers: ["WWW-Authenticate": challenge])
    ])
    let (command, report) = try await Self.job("{ scheme: any, \(Self.credentials) }", server.home).run()
    #expect(command.status == 1)
    let message = "the server offers \(shown), but its challenge for digest is malformed or not supported"
    #expect(
      report.items.first?.reason?.message.contains(message) == true,
      "\(String(describing: report.items.first?.reason))")
  }

  @Test func `does not make a POST ambiguous, and the request's own credentials replace the session's`()
    async throws
  {
    let site = try await Self.basicSite()
    let job = try Workspace(
      """
      version: 1
      name: auth
      secrets: { password: { env: E2E_SECRET } }
      sessions: { s: { auth: { user: other, password: "${secrets.password}" } } }
      requests:
        pay:
          session: s
          request: { method: PUT, url: "http://127.0.0.1:\(site.port)/pay", json: { amount: 7 } }
          auth: { \(Self.credentials) }
          retry: { limit: 0 }
        free:
          session: s
          needs: [pay]
          request: { method: POST, url: "http://127.0.0.1:\(site.port)/free" }
          auth: none
          retry: { limit: 0 }
      """)
    let (_, report) = try await job.run()
    #expect(report.node("pay")?.state == "succeeded", "\(String(describing: report.node("pay")))")
    #expect(site.file("pay") == "{\"amount\":7}")
    // Without credentials, the 401 is the final response.
    #expect(report.node("free")?.state == "failed")
    #expect(site.requests.map { $0[0] } == ["401", "201", "401"])
  }

  /// A server that issues the tokens t1, t2, … and accepts files with Basic credentials and with the token
  /// that its argument names.
  private static let tokenServer = """
    import http.server, sys
    tokens = 0
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def respond(self, status, challenge=None, body=b""):
        self.send_response(status)
        if challenge: self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
      def do_GET(self):
        global tokens
        tokens += 1
        self.respond(200, None, b'{"t": "t%d"}' % tokens)
      def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.headers.get("Authorization", "").startswith("Basic "): self.respond(401, 'Basic realm="ferry"')
        elif self.headers.get("X-Token") != sys.argv[1]: self.respond(401, 'Bearer error="invalid_token"')
        else: self.respond(201)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("port", server.server_address[1], flush=True)
    server.serve_forever()
    """

  /// The token and the credentials are in different header fields.
  @Test func `gets a response, and a rejected token is replaced`() async throws {
    let server = try await PythonServer(Self.tokenServer, ["t2"])
    let job = try Workspace(
      """
      version: 1
      name: auth
      secrets: { password: { env: E2E_SECRET } }
      sessions: { s: { auth: { \(Self.credentials) } } }
      tokens:
        login:
          session: s
          request: { url: "\(server.url)/token" }
          auth: none
          capture: { t: { json: /t, secret: true } }
          apply: { header: X-Token, value: "${token.t}" }
      requests:
        r: { session: s, token: login, request: { method: PUT, url: "\(server.url)/r" } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.tokenRefreshes == 1)
  }

  /// docs/scheduling.md: a challenge is neither a resume nor the end of a transfer. A rejected token is a resume.
  @Test(arguments: [("t1", 1), ("t2", 2)])
  func `is not a resume in the background, and the rejection of a token is one`(
    _ accepted: String, _ resumes: Int
  ) async throws {
    let server = try await PythonServer(Self.tokenServer, [accepted])
    let job = try Workspace(
      """
      version: 1
      name: auth
      resume_delay: { policy: before_start, initial: 1s }
      secrets: { password: { env: E2E_SECRET } }
      sessions: { s: { kind: background, auth: { \(Self.credentials) } } }
      tokens:
        login:
          session: s
          request: { url: "\(server.url)/token" }
          auth: none
          capture: { t: { json: /t, secret: true } }
          apply: { header: X-Token }
      uploads:
        u:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.url)/${file.name}" } }
      """)
    try job.write("content", to: "a")
    let (command, report) = try await job.run("--launch", "background", "--wait", "1m")
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.resumes == resumes)
    // ferry responds to the challenge within the transfer. The transfer with the new token is another request.
    #expect(report.totals.tokensFetched == resumes)
    #expect(report.totals.requests == 2 * resumes)
  }

  @Test(arguments: ["refuse", "strip", "follow"])
  func `of another origin gets a response only with follow`(_ rule: String) async throws {
    let other = try await Self.basicSite()
    let site = try await NginxSite.start(
      "location /a { return 307 http://127.0.0.1:\(other.port)/taken; }")
    let job = try Self.job(
      "{ \(Self.credentials) }", "http://127.0.0.1:\(site.port)",
      extra: ", redirects: { across_origins: \(rule) }")
    let (command, report) = try await job.run()
    #expect(command.status == (rule == "follow" ? 0 : 1), "\(command.stdout)\(command.stderr)")
    #expect(
      other.requests.map { $0[0] } == (rule == "refuse" ? [] : rule == "strip" ? ["401"] : ["401", "201"]))
    let reason = report.items.first?.reason
    switch rule {
    case "refuse":
      #expect(reason?.code == "redirect")
      #expect(
        reason?.message.contains("the user and password of 'auth' in the header Authorization") == true,
        "\(String(describing: reason))")
    case "strip":
      #expect(
        reason?.message.contains("ferry did not send the user and password of 'auth'") == true,
        "\(String(describing: reason))")
    default: break
    }
  }

  @Test func `gets a response with a netrc file`() async throws {
    let site = try await Self.basicSite()
    let job = try Self.job("{ netrc: passwords }", "http://127.0.0.1:\(site.port)")
    let quoted = Workspace.secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    let text = """
      # a comment
      machine example.com login other password no
      macdef init
      machine 127.0.0.1 login no

      machine 127.0.0.1
        login \(Self.user)
        password "\(quoted)"
      default login anonymous password none
      """
    try job.folder.write(Data(text.utf8), to: "passwords")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[0] } == ["401", "201"])

    let missing = try Self.job("{ netrc: none }", "http://127.0.0.1:\(site.port)")
    let refused = try await missing.ferry("run", "job.yaml")
    #expect(refused.status == 2)
    #expect(
      refused.stderr.contains("'netrc' of 'auth' cannot be read: none: No such file"), "\(refused.stderr)")
  }

  @Test func `for the items of a download batch gets a response with a netrc file`() async throws {
    let site = try await Self.basicSite()
    let job = try Workspace(
      """
      version: 1
      name: auth
      sessions: { s: {} }
      downloads:
        copies:
          session: s
          auth: { netrc: passwords }
          items: { urls: ["http://127.0.0.1:\(site.port)/a"], save_to: "copies/${item.name}" }

      """)
    try job.folder.write(
      Data("machine 127.0.0.1 login \(Self.user) password \"\(Workspace.secret)\"".utf8), to: "passwords")
    try site.write("content", to: "a")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(job.folder.text("copies/a") == "content")
  }

  // MARK: Schemes that authenticate a connection

  /// The first request of a handshake has no body, so a success in response to it means nothing.
  @Test func `of NTLM is not reported as a wrong password if the server responds with success too early`()
    async throws
  {
    let challenge = ScriptedServer.Response(status: 401, headers: ["WWW-Authenticate": "NTLM"])
    var first = challenge
    first.next = [.init(status: 201), challenge]
    let server = try await ScriptedServer.start(["/a": first])
    let (command, report) = try await Self.job("{ scheme: ntlm, \(Self.credentials) }", server.home).run()
    #expect(command.status == 1)
    #expect(server.requests.map { $0.body } == ["content of a", "", "content of a"], "\(server.requests)")
    #expect(
      report.items.first?.reason?.message.contains(
        "the server responded with success before the handshake of 'auth' was complete")
        == true, "\(String(describing: report.items.first?.reason))")
  }

  private static let ntlmPython = PythonModules.python(with: ["spnego"])

  @Test(
    .enabled("pyspnego is needed") { `An authentication challenge`.ntlmPython != nil },
    arguments: ["ntlm", "any"])
  func `of NTLM gets a response on each connection`(_ scheme: String) async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("FERRY:worker:pass word\n".utf8), to: "users")
    _ = try folder.makeFolder("stored")
    let server = try RunningCommand(
      try #require(Self.ntlmPython),
      [Product.source("Tests/EndToEndTests/Servers/ntlm-server.py"), folder.path("stored")],
      environment: ["NTLM_USER_FILE": folder.path("users")])
    defer { server.signal(SIGTERM) }
    let url = "http://127.0.0.1:" + (try await server.line(after: "port "))
    let job = try Self.job(
      "{ scheme: \(scheme), user: 'FERRY\\worker', password: pass word }", url, files: ["a", "b", "c"])
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)\(server.stdout)\(server.stderr)")
    #expect(
      ["a", "b", "c"].map { folder.text("stored/\($0)") } == ["content of a", "content of b", "content of c"])
    let requests = server.stdout.split(separator: "\n").filter { $0.contains(" PUT ") }
    let statuses = requests.map { $0.prefix(3) }
    // The connection carries a request that is challenged, the handshake, and then one request for each file.
    #expect(statuses.filter { $0 == "201" }.count == 3)
    #expect(statuses.filter { $0 == "401" }.count == 2, "\(server.stdout)")

    // The handshake sends the body once, so that a hard budget has room for it.
    let budget = try Self.job(
      "{ scheme: \(scheme), user: 'FERRY\\worker', password: pass word }", url, files: ["d", "e"])
    let text = budget.folder.text("job.yaml")
    try budget.write(
      manifest: text.replacing(
        "sessions:", with: "budgets: { any: { limit: 1MB, per: month, cutoff: hard } }\nsessions:"))
    let (limited, _) = try await budget.run()
    #expect(limited.status == 0, "\(limited.stdout)\(limited.stderr)")
    #expect(folder.text("stored/e") == "content of e")

    let wrong = try Self.job("{ scheme: \(scheme), user: 'FERRY\\worker', password: wrong }", url)
    let (refused, report) = try await wrong.run()
    #expect(refused.status == 1)
    #expect(report.items.first?.reason?.status == 401, "\(String(describing: report.items.first?.reason))")
  }

  @Test(.enabled("a KDC and mod_auth_gssapi are needed") { KerberosRealm.isPossible })
  func `of Negotiate gets a response with a Kerberos ticket`() async throws {
    let realm = try await KerberosRealm.start()
    let site = try await ApacheSite.start(
      modules: ["auth_gssapi"], environment: realm.environment,
      """
      AuthType GSSAPI
          AuthName ferry
          GssapiCredStore keytab:\(realm.keytab)
      """)
    let job = try Self.job("{ scheme: negotiate }", "http://localhost:\(site.port)", files: ["a", "b"])
    let command = try await job.ferry("run", "job.yaml", environment: realm.environment)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)\(site.log)")
    #expect(site.file("a") == Data("content of a".utf8))
    #expect(
      site.requests.filter { $0[0] == "201" }.allSatisfy { $0[3] == "worker@FERRY.TEST" }, "\(site.requests)")
  }

  /// The server authenticates the connection, so every later request on it would be sent in the name of the ticket's owner.
  @Test(.enabled("a KDC and mod_auth_gssapi are needed") { KerberosRealm.isPossible })
  func `of Negotiate is not inherited by other requests on the connection`() async throws {
    let realm = try await KerberosRealm.start()
    let site = try await ApacheSite.start(
      modules: ["auth_gssapi"], environment: realm.environment,
      """
      AuthType GSSAPI
          AuthName ferry
          GssapiConnectionBound On
          GssapiCredStore keytab:\(realm.keytab)
      """)
    let url = "http://localhost:\(site.port)"
    let job = try Workspace(
      """
      version: 1
      name: auth
      sessions: { s: { kind: background, max_connections_per_host: 1, auth: { scheme: negotiate } } }
      uploads:
        mine: { session: s, files: { root: files }, transfer: { request: { url: "\(url)/${file.path}" } } }
        none:
          session: s
          needs: [mine]
          files: { root: files }
          transfer: { request: { url: "\(url)/none-${file.path}" }, auth: none }

      """)
    try job.write("content", to: "a")
    let command = try await job.ferry("run", "job.yaml", environment: realm.environment)
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)\(site.log)")
    #expect(site.file("a") == Data("content".utf8))
    #expect(command.stdout.contains("401"), "\(command.stdout)\(site.requests)")
    #expect(site.requests.allSatisfy { !$0.contains("/none-a") || $0[0] == "401" }, "\(site.requests)")
  }

  /// libcurl waits for the center on ferry's thread.
  @Test(.enabled("a KDC and mod_auth_gssapi are needed") { KerberosRealm.isPossible })
  func `of Negotiate does not prevent the end of a run if the center does not respond`() async throws {
    let realm = try await KerberosRealm.start()
    let server = try await PythonServer(
      """
      import http.server
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_PUT(self):
          self.rfile.read(int(self.headers.get("Content-Length") or 0))
          isKnown = self.headers.get("Authorization", "").startswith("Negotiate ")
          self.send_response_only(201 if isKnown else 401)
          if not isKnown: self.send_header("WWW-Authenticate", "Negotiate")
          self.send_header("Content-Length", "0")
          self.end_headers()
          print("stored" if isKnown else "challenged", self.path, flush=True)
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """)
    let job = try Self.job("{ scheme: negotiate }", "http://localhost:\(server.port)", files: ["a", "b"])
    realm.pause()
    let run = try job.start(["run", "job.yaml"], environment: realm.environment)
    _ = try await server.line(after: "challenged ")
    run.signal(SIGTERM)
    let end = await run.end()
    #expect(end.status == 137, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("waiting for a Kerberos server"), "\(end.stderr)")
    realm.resume()
    let next = try await job.ferry("run", "job.yaml", environment: realm.environment)
    #expect(next.status == 0, "\(next.stdout)\(next.stderr)")
  }
}
