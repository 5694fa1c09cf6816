import Foundation
import Testing

/// Servers, proxies and other users that attack through the settings of a session: `auth`, `proxy` and `unix_socket`.
@Suite struct `A hostile party of a session` {
  typealias Response = ScriptedServer.Response

  private func job(_ settings: String, _ url: String, more: String = "") throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: hostile
      \(settings.contains("secrets.password") ? "secrets: { password: { env: E2E_SECRET } }" : "")
      sessions: { s: { timeout_for_request: 20s\(settings) } }
      \(more)uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 0 }
          transfer: { protocol: put, request: { url: "\(url)" } }

      """)
    try job.write("content", to: "f")
    return job
  }

  /// Everything that a run of the job has printed and stored for people. Diagnostics on standard error quote the
  /// manifest.
  private func output(_ command: Command, _ job: Workspace) throws -> String {
    let runs = try FileManager.default.subpathsOfDirectory(atPath: job.state + "/runs")
    let reports = runs.compactMap { FileManager.default.contents(atPath: "\(job.state)/runs/\($0)") }
    #expect(!reports.isEmpty)
    return command.stdout + reports.map { String(decoding: $0, as: UTF8.self) }.joined()
  }

  // MARK: Challenges

  /// `auth` belongs to all origins of the session, but an entry of a netrc file only to its host.
  @Test(arguments: ["", ", redirects: { across_origins: follow }"])
  func `cannot get the password of a netrc file for another host`(_ redirects: String) async throws {
    let thief = try await ScriptedServer.start([
      "/f": Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=thief"])
    ])
    let other = thief.home.replacing("127.0.0.1", with: "localhost")
    let server = try await ScriptedServer.start([
      "/f": Response(status: 307, headers: ["Location": other + "/f"])
    ])
    let job = try job(
      ", auth: { netrc: netrc }\(redirects)", server.home + "/f",
      more: "requests: { known: { session: s, optional: true, request: { url: \"\(other)/known\" } } }\n")
    try job.folder.write(Data("machine 127.0.0.1 login u password stolen-password\n".utf8), to: "netrc")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    #expect(thief.lines.sorted() == ["home GET /known", "home PUT /f"])
    #expect(thief.requests.allSatisfy { $0.headers["authorization"] == nil })
  }

  @Test func `gets only the password of its own host at an upload resource`() async throws {
    let storage = try await ScriptedServer.start([
      "/up": Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=storage"])
    ])
    let other = storage.home.replacing("127.0.0.1", with: "localhost")
    let server = try await ScriptedServer.start([
      "/files": Response(status: 201, headers: ["Location": other + "/up"])
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      sessions: { s: { auth: { netrc: netrc } } }
      requests: { known: { session: s, request: { url: "\(other)/known" } } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 0 }
          transfer: { protocol: tus, creation: with_upload, chunk_size: 4B, request: { url: "\(server.home)/files" } }

      """)
    try job.write("content", to: "f")
    try job.folder.write(
      Data("machine 127.0.0.1 login a password one\nmachine localhost login b password two\n".utf8),
      to: "netrc")
    let (command, _) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let sent = Set(storage.requests.compactMap { $0.headers["authorization"] })
    #expect(sent == ["Basic " + Data("b:two".utf8).base64EncodedString()])
  }

  @Test(arguments: ["Digest realm=r, nonce=n, algorithm=\"SECRET\"", "SECRET realm=r"])
  func `cannot have the beginning of a secret printed in a challenge`(_ challenge: String) async throws {
    let secret = String(repeating: "Secret", count: 12)
    let server = try await ScriptedServer.start([
      "/f": Response(
        status: 401, headers: ["WWW-Authenticate": challenge.replacing("SECRET", with: secret)])
    ])
    let job = try job(", auth: { user: u, password: \"${secrets.password}\" }", server.home + "/f")
    let command = try await job.ferry("run", "job.yaml", environment: ["E2E_SECRET": secret])
    #expect(command.status == 1)
    let output = try output(command, job)
    #expect(!output.lowercased().contains("secretsecret"), "\(output)")
    #expect(output.contains("the server offers "), "\(output)")
  }

  @Test func `cannot continue the handshake of NTLM endlessly`() async throws {
    // A valid NTLM challenge (a message of type 2).
    let message = "TlRMTVNTUAACAAAADAAMADgAAAAFgokC////////////AAAAAAAAAAAAAEQAAAAGAbAdAAAAD0YAVABQAA=="
    let server = try await ScriptedServer.start([
      "/f": Response(status: 401, headers: ["WWW-Authenticate": "NTLM \(message)"])
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      secrets: { password: { env: E2E_SECRET } }
      sessions: { s: { auth: { scheme: ntlm, user: u, password: "${secrets.password}" } } }
      requests: { r: { session: s, retry: { limit: 0 }, request: { url: "\(server.home)/f" } } }

      """)
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect((2...20).contains(server.lines.count), "\(server.lines.count)")
    #expect(
      report.node("r")?.reason?.message.contains(
        "authenticating the connection takes more than 16 requests")
        == true, "\(String(describing: report.node("r")))")
  }

  // MARK: Secrets in other places

  @Test(arguments: [true, false])
  func `cannot put a secret into the exported list of parts`(isSecret: Bool) async throws {
    let etag = isSecret ? "key-of-a-session" : "plain"
    let server = try await ScriptedServer.start([
      "/b/f?uploads": Response(status: 200, body: "<R><UploadId>U</UploadId></R>"),
      "/b/f?partNumber=1&uploadId=U": Response(status: 200, headers: ["ETag": "\"\(etag)\""]),
      "/b/f?uploadId=U": Response(status: 503), "/b/f": Response(status: 404),
    ])
    let job = try Workspace(
      """
      version: 1
      name: hostile
      secrets: { key: { env: E2E_SECRET } }
      sessions: { s: { headers: { X-Key: "${secrets.key}" } } }
      uploads:
        files:
          session: s
          files: { root: files }
          retry: { limit: 0 }
          transfer: { protocol: s3_multipart, threshold: 1B, request: { url: "\(server.home)/b/f" } }

      """)
    try job.write("content", to: "f")
    let environment = ["E2E_SECRET": "key-of-a-session"]
    let command = try await job.ferry("run", "job.yaml", environment: environment)
    #expect(server.lines.contains("home POST /b/f?uploadId=U"), "\(command.stdout)\(command.stderr)")
    let export = try await job.ferry("journal", "export")
    #expect(export.status == 0 && export.stdout.contains("\"f\""), "\(export.stdout)\(export.stderr)")
    #expect(export.stdout.contains(etag) == !isSecret, "\(export.stdout)")
    // The list is still used.
    let before = server.lines.count
    _ = try await job.ferry("run", "job.yaml", environment: environment)
    #expect(server.lines.dropFirst(before).allSatisfy { !$0.contains("partNumber") })
    let completion = try #require(server.requests.last { $0.path == "/b/f?uploadId=U" })
    #expect(completion.body.contains(etag))
  }

  // MARK: Proxies

  @Test(arguments: ["environment", "manifest", "literal password"])
  func `cannot have the password of a proxy printed`(_ place: String) async throws {
    let password = "proxy-password"
    let basic = Data("user:\(password)".utf8).base64EncodedString()
    let server = try await ScriptedServer.start([
      "http://upload.example.com/f": Response(status: 407, body: "you are \(password), Basic \(basic)")
    ])
    let url = server.home.replacing("://", with: "://user:proxy%2dpassword@")
    let proxy =
      switch place {
      case "environment": ""
      case "manifest": ", proxy: { url: \"${secrets.password}\" }"
      default: ", proxy: { url: \"\(server.home)\", user: user, password: \(password) }"
      }
    let job = try job(proxy, "http://upload.example.com/f")
    let variables = place == "environment" ? ["http_proxy": url] : ["E2E_SECRET": url]
    let command = try await job.ferry("run", "job.yaml", environment: variables)
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let output = try output(command, job)
    #expect(output.contains("you are ***"), "\(output)")
    #expect(!output.contains(password) && !output.contains("proxy%2dpassword"), "\(output)")
    #expect(!output.contains(basic), "\(output)")
  }

  @Test(arguments: [
    "http://user:proxy-password@127.0.0.1:99999", "http://user:proxy-password x@127.0.0.1:9",
    "http://user:proxy-password/x@127.0.0.1:9", "user:proxy-password x@127.0.0.1:9",
    "nosuch://user:proxy-password@127.0.0.1:9",
  ])
  func `is not needed to print the password of a proxy with a malformed URL`(_ url: String) async throws {
    let job = try job("", "http://upload.example.com/f")
    let command = try await job.ferry("run", "job.yaml", environment: ["http_proxy": url])
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    let output = try output(command, job)
    #expect(!output.contains("proxy-password"), "\(output)")
  }

  /// `auth` and URLs in a manifest may contain a password in plain text.
  @Test func `cannot have a literal password printed`() async throws {
    let server = try await ScriptedServer.start([
      "/f": Response(
        status: 400, headers: ["Content-Type": "text/plain"], body: "literal-one and literal-two")
    ])
    for url in [server.home, server.home.replacing("://", with: "://user:literal-one@")] {
      let job = try job(", auth: { user: u, password: literal-two }", url + "/f")
      let command = try await job.ferry("run", "job.yaml")
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      let output = try output(command, job)
      // A response to a request with a password in its URL is not quoted.
      #expect(output.contains("and ***") == (url == server.home), "\(output)")
      #expect(!output.contains("literal-two"), "\(output)")
      if url != server.home { #expect(!output.contains("literal-one"), "\(output)") }
    }
  }

  // MARK: Other users

  @Test(.enabled("only root can give a file to another user") { geteuid() == 0 }, arguments: [true, false])
  func `cannot receive requests at a Unix domain socket in a shared folder`(isForeign: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("shared/s")
    try FileManager.default.createDirectory(
      atPath: folder.path("shared"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o1777])
    #expect(chmod(folder.path("shared"), 0o1777) == 0)
    let server = try await UnixSocketServer.start(path)
    if isForeign { #expect(chown(path, 65534, 65534) == 0) }
    let job = try job(", unix_socket: \(path)", "http://upload.example.com/f")
    let (command, report) = try await job.run()
    #expect(command.status == (isForeign ? 5 : 0), "\(command.stdout)\(command.stderr)")
    #expect(server.requests == (isForeign ? [] : ["PUT /f"]))
    guard isForeign else { return }
    #expect(
      report.items.first?.reason?.message.contains("belongs to user 65534, in a world-writable folder")
        == true)
  }
}
