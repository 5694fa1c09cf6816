import Foundation
import Testing

/// `ferry run --trace FILE`.
@Suite struct `The trace of a run` {
  private struct Archive: Decodable {
    struct Log: Decodable { var entries: [Entry] }
    struct Field: Decodable {
      var name: String
      var value: String
    }
    struct Request: Decodable {
      struct Body: Decodable { var text: String }
      var method: String
      var url: String
      var headers: [Field]
      var postData: Body?
      var bodySize: Int
    }
    struct Response: Decodable {
      struct Content: Decodable {
        var size: Int
        var text: String?
        var comment: String?
      }
      var status: Int
      var statusText: String
      var headers: [Field]
      var content: Content
      var redirectURL: String
    }
    struct Entry: Decodable {
      var request: Request
      var response: Response
      var time: Double
      var timings: [String: Double]
      var _node: String
      var _path: String?
      var _step: String
      var _error: String?
    }
    var log: Log
  }

  private func entries(_ job: Workspace) throws -> [Archive.Entry] {
    try JSONDecoder().decode(Archive.self, from: Data(job.folder.text("trace.har").utf8)).log.entries
  }

  @Test func `is an HTTP Archive with each request, without secrets and for its owner only`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--client-secret", Workspace.secret],
      faults: ["content:match=/,times=1,status=500", "commit:times=1,drop=after"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 1, JobText.uploadIDs(),
        """
        requests:
          tell:
            session: quick
            token: login
            request: { method: PUT, url: "${vars.api}/nowhere/${token.access_token}?s=${secrets.client_secret}" }
          note:
            session: quick
            request: { url: "${vars.api}/done", json: { text: "plain", secret: "${secrets.client_secret}" } }
        """))
    try job.write("one", to: "a.txt")
    try job.write(String(repeating: "x", count: 100_000), to: "b.txt")
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har")
    #expect(run.status == 1, "\(run.stderr)")
    let entries = try entries(job)
    try await ArchiveValidator.expectValid(job.folder.path("trace.har"), entries: entries.count)
    let attributes = try FileManager.default.attributesOfItem(atPath: job.folder.path("trace.har"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)

    let uploads = entries.filter { $0._node == "files" }
    #expect(uploads.count { $0._step == "allocate" && $0.response.status == 201 } == 2)
    #expect(uploads.count { $0._step == "transfer" && $0.response.status == 500 } == 1)
    #expect(
      uploads.contains { $0._step == "transfer" && $0._path == "b.txt" && $0.request.bodySize == 100_000 })
    #expect(uploads.contains { $0._step == "commit" && $0.response.status == 0 && $0._error != nil })
    for entry in entries {
      let phases = ["blocked", "dns", "connect", "send", "wait", "receive"].compactMap { entry.timings[$0] }
      #expect(phases.count == 6)
      #expect(abs(phases.filter { $0 > 0 }.reduce(0, +) - entry.time) < 0.1, "\(entry)")
    }
    let note = try #require(entries.first { $0._node == "note" })
    #expect(note.request.postData?.text.contains(#""text":"plain""#) == true, "\(note)")
    #expect(note.request.headers.contains { $0.name == "Host" && $0.value.hasPrefix("127.0.0.1:") })
    #expect(
      entries.contains { entry in
        entry.request.headers.contains { $0.name == "Authorization" && $0.value == "Bearer ***" }
      })
    // The body of a token's response may contain secrets that no capture reads.
    let token = try #require(entries.first { $0._node == "login" })
    #expect(token.response.content.size > 0 && token.response.content.text == nil)

    let tokens = receiver.log.filter { $0.hasPrefix("PUT /nowhere/") }.compactMap {
      $0.split(separator: " ").dropFirst().first.map { String($0.dropFirst("/nowhere/".count)) }
    }
    #expect(!tokens.isEmpty)
    SecretForms.expectNone(
      of: [Workspace.secret] + tokens, in: Data(job.folder.text("trace.har").utf8), "the trace")
  }

  @Test func `has each redirect, and masks the queries of its URLs`() async throws {
    let server = try await ScriptedServer.start([
      "/files/a": .init(status: 307, headers: ["Location": "{home}/files/moved?signature=5ecr37"])
    ])
    let job = try Workspace(JobText.text(server: server.home, JobText.puts))
    try job.write("x", to: "a")
    #expect(try await job.ferry("run", "job.yaml", "--trace", "trace.har").status == 0)
    let entries = try entries(job)
    #expect(entries.map(\.response.status) == [307, 200])
    #expect(entries.map(\._path) == ["a", "a"])
    #expect(entries.first?.response.redirectURL == "\(server.home)/files/moved?signature=***")
    #expect(entries.last?.request.url == "\(server.home)/files/moved?signature=***")
    #expect(!job.folder.text("trace.har").contains("5ecr37"))
    try await ArchiveValidator.expectValid(job.folder.path("trace.har"), entries: 2)
  }

  /// The secret in the first response continues beyond the part that is kept. Compressed, the response is shorter than this
  /// part.
  @Test func `masks a secret at the end of a decompressed body, and contains shorter bodies as a whole`()
    async throws
  {
    let server = try await PythonServer(
      """
      import gzip, http.server
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
          size = int(self.path[1:])
          body = gzip.compress(b"-" * size + self.headers["X-Key"].encode())
          self.send_response(200)
          self.send_header("Content-Encoding", "gzip")
          self.send_header("Content-Length", str(len(body)))
          self.end_headers()
          self.wfile.write(body)
        def log_message(self, *_): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """)
    let requests = [16_384 - 30, 10].map {
      "r\($0): { session: s, request: { url: \"\(server.url)/\($0)\", headers: { X-Key: \"${secrets.key}\" } }, "
        + "decompress: true, expect: { regex: \"-\" } }"
    }
    let job = try Workspace(
      "version: 1\nname: packed\nsecrets: { key: { env: KEY } }\nsessions: { s: {} }\nrequests:\n  "
        + requests.joined(separator: "\n  ") + "\n")
    let secret = "SUPERSECRET-0123456789-abcdefghij"
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har", environment: ["KEY": secret])
    #expect(run.status == 0, "\(run.stderr)")
    let texts = try entries(job).map { $0.response.content.text ?? "" }.sorted { $0.count < $1.count }
    #expect(texts.first == "----------***")
    #expect(texts.last?.hasPrefix("----") == true)
    #expect(!job.folder.text("trace.har").contains(secret.prefix(8)))
  }

  /// The header section exceeds 64 KiB, so the trace contains only its beginning, which ends inside one of the secrets.
  @Test func `omits the field in which a long header section is cut`() async throws {
    let server = try await ScriptedServer.start(["/a": .init(status: 200)])
    let fields = (10..<30).map { "X-Field-\($0): \"${secrets.key}\"" }.joined(separator: ", ")
    let job = try Workspace(
      """
      version: 1
      name: long
      secrets: { key: { env: KEY } }
      sessions: { s: {} }
      requests:
        r:
          session: s
          optional: true
          retry: { limit: 0 }
          request: { url: "\(server.home)/a", headers: { \(fields) } }
      """)
    let secret = String(repeating: "SUPERSECRET-0123456789-abcdefghij", count: 120)
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har", environment: ["KEY": secret])
    let entry = try #require(try entries(job).first, "\(run.stderr)")
    let values = entry.request.headers.filter { $0.name.hasPrefix("X-Field-") }.map(\.value)
    #expect((10...16).contains(values.count) && Set(values) == ["***"], "\(values)")
    #expect(!job.folder.text("trace.har").contains(secret.prefix(8)))
  }

  @Test func `masks the keys with which a server encrypts objects`() async throws {
    let server = try await ScriptedServer.start(["/a": .init(status: 200)])
    let names = [
      "X-Amz-Server-Side-Encryption-Customer-Key",
      "X-Amz-Copy-Source-Server-Side-Encryption-Customer-Key", "X-Goog-Encryption-Key",
    ]
    let fields = names.map { "\($0): \"${vars.text | base64}\"" }.joined(separator: ", ")
    let job = try Workspace(
      """
      version: 1
      name: keys
      vars: { text: something }
      sessions: { s: {} }
      requests: { r: { session: s, request: { url: "\(server.home)/a", headers: { \(fields) } } } }
      """)
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har")
    #expect(run.status == 0, "\(run.stderr)")
    let headers = try #require(try entries(job).first).request.headers
    #expect(names.map { name in headers.first { $0.name == name }?.value } == ["***", "***", "***"])
  }

  @Test func `masks header fields that contain secrets, also of responses that are not accepted`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["commit:status=500"])
    let job = try Workspace(
      """
      version: 1
      name: job
      sessions: { s: {} }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 0 }
          transfer:
            request: { method: PUT, url: "\(receiver.url)/files/a" }
            capture: { tag: { header: ETag, secret: true }, missing: { header: X-Missing } }
          commit: { request: { method: PUT, url: "\(receiver.url)/commits/a" } }

      """)
    try job.write("one", to: "a.txt")
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har")
    #expect(run.status == 1, "\(run.stdout)")
    let fields = try entries(job).flatMap(\.response.headers)
    #expect(fields.filter { $0.name.lowercased() == "etag" }.map(\.value) == ["***"], "\(fields)")
  }

  @Test func `masks a secret at the end of a body whose connection is lost`() async throws {
    let server = try await PythonServer(
      """
      import http.server
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
          body = b"-" * 4000 + self.headers["X-Key"].encode()[:20]
          self.send_response(403)
          self.send_header("Content-Type", "text/plain")
          if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"2000\\r\\n" + body
          else:
            self.send_header("Content-Length", "8192")
          self.end_headers()
          self.wfile.write(body)
          self.close_connection = True
        def log_message(self, *_): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """)
    let requests = ["length", "chunked"].map {
      "\($0): { session: s, optional: true, retry: { limit: 0 }, "
        + "request: { url: \"\(server.url)/\($0)\", headers: { X-Key: \"${secrets.key}\" } } }"
    }
    let job = try Workspace(
      "version: 1\nname: lost\nsecrets: { key: { env: KEY } }\nsessions: { s: {} }\nrequests:\n  "
        + requests.joined(separator: "\n  ") + "\n")
    let secret = "SUPERSECRET-0123456789-abcdefghij"
    _ = try await job.ferry("run", "job.yaml", "--trace", "trace.har", environment: ["KEY": secret])
    let entries = try entries(job)
    #expect(entries.count == 2 && entries.allSatisfy { $0._error != nil }, "\(entries)")
    #expect(entries.allSatisfy { $0.response.content.text?.hasPrefix("----") == true }, "\(entries)")
    #expect(!job.folder.text("trace.har").contains(secret.prefix(8)))
  }

  @Test func `does not contain a client secret that the manifest contains in plain text`() async throws {
    let body = #"{"error":"invalid_client","error_description":"no client k5dXq81z"}"#
    let server = try await ScriptedServer.start(["/token": .init(status: 400, body: body)])
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { s: {} }
      tokens:
        login:
          session: s
          oauth2: { token_url: "\(server.home)/token", client_id: a, client_secret: k5dXq81z, client_auth: body }
          retry: { limit: 0 }
      uploads:
        u:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.home)/${file.name}" } }
      """)
    try job.write("x", to: "a")
    let (command, report) = try await job.run("--trace", "trace.har")
    #expect(command.status != 0)
    #expect(report.node("login")?.reason?.message.contains("no client ***") == true)
    let entry = try #require(try entries(job).first)
    #expect(entry.request.postData?.text.contains("client_secret=***") == true, "\(entry)")
    // The body could contain tokens, so it is omitted.
    #expect(entry.response.content.text == nil)
    // The warning about the secret quotes its line.
    #expect(!(command.stdout + job.folder.text("trace.har")).contains("k5dXq81z"))
  }

  @Test func `is complete after a kill, and continued by the next run`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.05"])
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, JobText.puts))
    for index in 0..<20 { try job.write("\(index)", to: "\(index)") }
    let run = try job.start(["run", "job.yaml", "--trace", "trace.har"])
    _ = try await receiver.received { $0.files.count >= 4 }
    run.signal(SIGKILL)
    _ = await run.end()
    let killed = try entries(job).count
    #expect((1...20).contains(killed))
    let (command, report) = try await job.run("--trace", "trace.har")
    #expect(command.status == 0)
    let all = try entries(job)
    try await ArchiveValidator.expectValid(job.folder.path("trace.har"), entries: all.count)
    #expect(all.count == killed + report.totals.requests)
    // The last entries before the kill may be missing.
    #expect(Set(all.map(\._path)).count >= killed)
  }

  @Test func `shows only text, and only the beginning of a long body`() async throws {
    let job = try Workspace("")
    let long = String(repeating: "0123456789", count: 10_000)
    let server = try await ScriptedServer.start([
      "/files/a": .init(status: 404, headers: ["Content-Type": "text/plain"], body: long),
      "/files/b": .init(status: 404, headers: ["Content-Type": "image/png"], body: "PNG"),
    ])
    try job.write(manifest: JobText.text(server: server.home, JobText.puts))
    for name in ["a", "b"] { try job.write("x", to: name) }
    _ = try await job.ferry("run", "job.yaml", "--trace", "trace.har")
    let entries = try entries(job)
    let image = try #require(entries.first { $0._path == "b" }).response.content
    #expect(image.size == 3 && image.text == nil)
    let content = try #require(entries.first { $0._path == "a" }).response.content
    #expect(content.size == 100_000 && content.comment == "the beginning of the body")
    #expect(content.text.map { long.hasPrefix($0) && $0.count > 10_000 && $0.count <= 16_384 } == true)
  }

  @Test func `is not written over another file`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("x", to: "a")
    try job.folder.write(Data(#"{"log":{"version":"1.2","creator":{"name":"other"}}}"#.utf8), to: "trace.har")
    let run = try await job.ferry("run", "job.yaml", "--trace", "trace.har")
    #expect(run.status == 2)
    #expect(
      run.stderr.contains(
        "--trace trace.har: cannot be written: it contains something other than a ferry trace"),
      "\(run.stderr)"
    )
    #expect(job.folder.text("trace.har").contains("other"))
    #expect(try await receiver.received().files.isEmpty)
    #expect(try await job.ferry("run", "job.yaml", "--trace", "/dev/null").status == 2)
    #expect(try await job.ferry("run", "job.yaml", "--trace", "-").status == 2)
  }
}
