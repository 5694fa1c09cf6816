import Foundation
import Testing

/// `tls` of a session, against nginx and Caddy with certificates of the test's own authority.
@Suite(.enabled("openssl, nginx and caddy are needed") { TestAuthority.isPossible })
struct `The TLS settings of a session` {
  private static func manifest(_ tls: String, _ url: String, extra: String = "") -> String {
    """
    version: 1
    name: tls
    secrets: { password: { env: E2E_SECRET } }
    sessions:
      s: { tls: \(tls)\(extra) }
    uploads:
      u:
        session: s
        files: { root: files }
        transfer: { request: { method: PUT, url: "\(url)/${file.name}" } }
        retry: { limit: 0 }
    """
  }

  private static func job(_ tls: String, _ url: String, extra: String = "") throws -> Workspace {
    let job = try Workspace(manifest(tls, url, extra: extra))
    try job.write("content", to: "a")
    return job
  }

  private static func failure(_ report: RunReport) -> (code: String?, message: String) {
    let reason = report.items.first?.reason
    return (reason?.code, reason?.message ?? "")
  }

  // MARK: The server's certificate

  @Test func `trust an authority of the manifest, and only it`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(listen: "ssl", try await authority.issue("server").directives)
    let url = "https://127.0.0.1:\(site.port)"
    let (command, report) = try await Self.job("{ ca_file: \(authority.file) }", url).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(site.file("a") == "content")

    let other = try await TestAuthority.make()
    let (refused, second) = try await Self.job("{ ca_file: \(other.file) }", url).run()
    #expect(refused.status == 1)
    #expect(Self.failure(second).code == "certificate")
    #expect(
      Self.failure(second).message.contains("name the certificate of its authority in 'tls: { ca_file: … }'"))
    #expect(site.requests.count == 1)
  }

  @Test func `trust a folder of authorities`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(listen: "ssl", try await authority.issue("server").directives)
    let job = try Self.job("{ ca_path: authorities }", "https://127.0.0.1:\(site.port)")
    try job.folder.write(Data(contentsOf: URL(filePath: authority.file)), to: "authorities/ca.pem")
    let (untrusted, _) = try await job.run()
    #expect(untrusted.status == 1)
    try await TestAuthority.openssl(["rehash", job.folder.path("authorities")])
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
  }

  @Test(arguments: ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"])
  func `have the authorities of the environment as their default`(_ variable: String) async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(listen: "ssl", try await authority.issue("server").directives)
    let job = try Self.job("{}", "https://127.0.0.1:\(site.port)")
    try job.folder.write(Data(contentsOf: URL(filePath: authority.file)), to: "authorities/ca.pem")
    try await TestAuthority.openssl(["rehash", job.folder.path("authorities")])
    let value = variable == "SSL_CERT_DIR" ? job.folder.path("authorities") : authority.file
    let command = try await job.ferry("run", "job.yaml", environment: [variable: value])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.file("a") == "content")

    let second = try Self.job("{}", "https://127.0.0.1:\(site.port)")
    let missing = try await second.ferry("run", "job.yaml", environment: [variable: "/nowhere"])
    #expect(missing.status == 2)
    #expect(
      missing.stderr.contains("the environment variable \(variable) names /nowhere"), "\(missing.stderr)")
  }

  @Test func `do not read the environment for a session without https`() async throws {
    let site = try await NginxSite.start("")
    let job = try Workspace(
      """
      version: 1
      name: plain
      sessions: { s: {} }
      requests:
        r: { session: s, request: { method: PUT, url: "http://127.0.0.1:\(site.port)/r" } }
      """)
    let command = try await job.ferry("run", "job.yaml", environment: ["SSL_CERT_FILE": "/nowhere"])
    #expect(command.status == 0, "\(command.stderr)")
  }

  @Test(arguments: [
    ("expired", "IP:127.0.0.1", -1, "certificate has expired"),
    (
      "other", "DNS:other.example.com", 2,
      "no alternative certificate subject name matches target host name '127.0.0.1'"
    ),
  ])
  func `reject a certificate that is not valid`(
    _ name: String, _ names: String, _ days: Int, _ message: String
  ) async throws {
    let authority = try await TestAuthority.make()
    let issued = try await authority.issue(name, names: names, days: days)
    let site = try await NginxSite.start(listen: "ssl", issued.directives)
    let (command, report) = try await Self.job(
      "{ ca_file: \(authority.file) }", "https://127.0.0.1:\(site.port)"
    ).run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(Self.failure(report).code == "certificate")
    #expect(Self.failure(report).message.contains(message), "\(Self.failure(report))")
    #expect(Self.failure(report).message.contains("ca_file") == false)
    #expect(command.stdout.contains(message) || command.stderr.contains(message))
    #expect(site.requests.isEmpty)
  }

  @Test func `reject a self-signed certificate and name the remedy`() async throws {
    let folder = try TemporaryFolder()
    chmod(folder.url.path(percentEncoded: false), 0o755)
    let (key, certificate) = try await TLSServer.makeCertificate(in: folder)
    chmod(key, 0o644)
    let site = try await NginxSite.start(
      listen: "ssl", "ssl_certificate \(certificate); ssl_certificate_key \(key);")
    let url = "https://127.0.0.1:\(site.port)"
    let (_, report) = try await Self.job("{}", url).run()
    let failure = Self.failure(report)
    #expect(failure.code == "certificate")
    #expect(failure.message.contains("self-signed certificate"), "\(failure)")
    #expect(failure.message.contains("'tls: { ca_file: … }'"))
    let (command, _) = try await Self.job("{ ca_file: \(certificate) }", url).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
  }

  /// A redirect from https to http.
  @Test(arguments: [true, false])
  func `do not protect a request without a secret from a downgrade`(_ isSecret: Bool) async throws {
    let authority = try await TestAuthority.make()
    let plain = try await NginxSite.start("")
    let site = try await NginxSite.start(
      listen: "ssl",
      try await authority.issue("server").directives
        + " return 307 http://127.0.0.1:\(plain.port)$request_uri;")
    let header = isSecret ? "headers: { X-Key: \"${secrets.key}\" }, " : ""
    let job = try Workspace(
      """
      version: 1
      name: tls
      secrets: { key: { env: E2E_SECRET } }
      sessions:
        s: { tls: { ca_file: \(authority.file) } }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { \(header)url: "https://127.0.0.1:\(site.port)/${file.name}" } }
          retry: { limit: 0 }
      """)
    try job.write("content", to: "f")
    let (command, report) = try await job.run()
    #expect(command.status == (isSecret ? 1 : 0), "\(command.stdout)\(command.stderr)")
    #expect(plain.requests.count == (isSecret ? 0 : 1))
    if isSecret {
      let failure = Self.failure(report)
      #expect(failure.code == "redirect" && failure.message.contains("from https to http"), "\(failure)")
    }
  }

  @Test func `pin public keys`() async throws {
    let authority = try await TestAuthority.make()
    let (issued, other) = (try await authority.issue("server"), try await authority.issue("spare"))
    let (pin, spare) = (try await TestAuthority.pin(of: issued), try await TestAuthority.pin(of: other))
    let site = try await NginxSite.start(listen: "ssl", issued.directives)
    let url = "https://127.0.0.1:\(site.port)"
    let (command, report) = try await Self.job(
      "{ ca_file: \(authority.file), pinned_public_key: \"\(spare)\" }", url
    ).run()
    #expect(command.status == 1)
    #expect(Self.failure(report).code == "certificate")
    #expect(Self.failure(report).message.contains("public key does not match pinned public key"))
    #expect(site.requests.isEmpty)
    let (accepted, _) = try await Self.job(
      "{ ca_file: \(authority.file), pinned_public_key: \"\(spare);\(pin)\" }", url
    ).run()
    #expect(accepted.status == 0, "\(accepted.stdout)\(accepted.stderr)")
  }

  @Test(arguments: ["", ", redirects: { across_origins: follow }"])
  func `with a pinned key do not send a file to a server without TLS`(_ extra: String) async throws {
    let authority = try await TestAuthority.make()
    let issued = try await authority.issue("server")
    let plain = try await NginxSite.start("")
    let site = try await NginxSite.start(
      listen: "ssl",
      issued.directives + " location /a { return 307 http://127.0.0.1:\(plain.port)/stolen; }"
        + " location /where { default_type application/json; return 200 '{\"url\":\"http://127.0.0.1:\(plain.port)/b\"}'; }"
    )
    let url = "https://127.0.0.1:\(site.port)"
    let pin = try await TestAuthority.pin(of: issued)
    let job = try Self.job("{ ca_file: \(authority.file), pinned_public_key: \"\(pin)\" }", url, extra: extra)
    try job.write(
      manifest: job.folder.text("job.yaml") + """

        requests:
          where: { session: s, request: { url: "\(url)/where" }, capture: { url: { json: /url } } }
          other: { session: s, request: { method: PUT, url: "${requests.where.url}" }, retry: { limit: 0 } }
        """)
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    let rule = "'pinned_public_key' of the session requires https"
    #expect(Self.failure(report).code == "redirect" && Self.failure(report).message.contains(rule))
    let other = report.node("other")?.reason
    #expect(other?.code == "redirect" && other?.message.contains(rule) == true)
    #expect(site.requests.map { $0[1] }.sorted() == ["GET", "PUT"] || site.requests.count == 2)
    #expect(plain.requests.isEmpty)
  }

  @Test func `have a minimum version`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: "ssl", "ssl_protocols TLSv1.2; " + (try await authority.issue("server").directives))
    let url = "https://127.0.0.1:\(site.port)"
    let (command, _) = try await Self.job("{ ca_file: \(authority.file), minimum: 1.2 }", url).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let (refused, report) = try await Self.job("{ ca_file: \(authority.file), minimum: \"1.3\" }", url).run()
    #expect(refused.status != 0)
    #expect(
      report.items.first?.reason?.message.contains("protocol version") == true, "\(Self.failure(report))")
    #expect(site.requests.count == 1)
  }

  // MARK: The client's certificate

  private enum Form: String, CaseIterable, Sendable {
    case separate, together, encrypted, pkcs12
  }

  private static func settings(_ form: Form, _ client: TestAuthority.Issued, in job: Workspace) async throws
    -> String
  {
    let path = job.folder.path
    switch form {
    case .separate: return "certificate: \(client.certificate), key: \(client.key)"
    case .together:
      let both = try [client.certificate, client.key].map { try Data(contentsOf: URL(filePath: $0)) }
      try job.folder.write(both[0] + both[1], to: "both.pem")
      return "certificate: both.pem"
    case .encrypted:
      try await TestAuthority.openssl([
        "ec", "-aes256", "-passout", "pass:" + Workspace.secret, "-in", client.key, "-out",
        path("secret.key"),
      ])
      return "certificate: \(client.certificate), key: secret.key, key_password: \"${secrets.password}\""
    case .pkcs12:
      try await TestAuthority.openssl([
        "pkcs12", "-export", "-in", client.certificate, "-inkey", client.key, "-passout",
        "pass:" + Workspace.secret, "-out", path("client.p12"),
      ])
      return "certificate: client.p12, key_password: \"${secrets.password}\""
    }
  }

  @Test(arguments: Form.allCases)
  private func `present a client certificate`(_ form: Form) async throws {
    let authority = try await TestAuthority.make()
    let client = try await authority.issue("client", names: "DNS:client")
    let site = try await NginxSite.start(
      listen: "ssl",
      "ssl_verify_client on; ssl_client_certificate \(authority.file); "
        + (try await authority.issue("server").directives))
    let url = "https://127.0.0.1:\(site.port)"
    let job = try Self.job("{}", url)
    let settings = try await Self.settings(form, client, in: job)
    try job.write(manifest: Self.manifest("{ ca_file: \(authority.file), \(settings) }", url))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[5] } == ["CN=client"])

    // nginx responds to a request without a certificate.
    let (refused, report) = try await Self.job("{ ca_file: \(authority.file) }", url).run()
    #expect(refused.status == 1)
    #expect(report.items.first?.reason?.status == 400, "\(Self.failure(report))")
  }

  /// With TLS 1.3, the alert arrives after the request was sent.
  @Test(arguments: ["tls1.2", "tls1.3"])
  func `name a client certificate that a server requires`(_ version: String) async throws {
    let authority = try await TestAuthority.make()
    let client = try await authority.issue("client", names: "DNS:client")
    let stranger = try await TestAuthority.make()
    let foreign = try await stranger.issue("foreign", names: "DNS:foreign")
    let site = try await NginxSite.start("")
    let caddy = try await CaddyServer.start(
      before: "http://127.0.0.1:\(site.port)", protocols: "h1", certificate: authority.issue("server"),
      host: "localhost",
      tls: """
        protocols \(version) \(version)
        client_auth {
          mode require_and_verify
          trusted_ca_cert_file \(authority.file)
        }
        """)
    let (command, _) = try await Self.job(
      "{ ca_file: \(authority.file), certificate: \(client.certificate), key: \(client.key) }", caddy.url
    ).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")

    // A POST that must not be sent twice is not ambiguous, because the server has not read it.
    func outcome(_ tls: String) async throws -> RunReport.Node? {
      let job = try Workspace(
        """
        version: 1
        name: tls
        sessions: { s: { tls: \(tls) } }
        requests:
          pay: { session: s, request: { method: POST, url: "\(caddy.url)/pay" }, retry: { limit: 0 } }
        """)
      return try await job.run().report.node("pay")
    }
    func expect(_ node: RunReport.Node?, _ message: String) {
      // With TLS 1.3, the server may have closed the connection before the request was sent; the alert is then lost.
      if version == "tls1.3", node?.reason?.code == "answer_lost" { return }
      #expect(node?.state == "failed", "\(String(describing: node))")
      #expect(node?.reason?.code == "certificate")
      #expect(node?.reason?.message.contains(message) == true, "\(String(describing: node))")
    }
    let without = try await outcome("{ ca_file: \(authority.file) }")
    expect(without, "the server requires a client certificate: write")
    let rejected = try await outcome(
      "{ ca_file: \(authority.file), certificate: \(foreign.certificate), key: \(foreign.key) }")
    expect(rejected, "the server rejected the client certificate")
    #expect(site.requests.count == 1)
  }

  @Test(arguments: ["refuse", "follow"])
  func `present a client certificate only to origins of the manifest`(_ rule: String) async throws {
    let authority = try await TestAuthority.make()
    let (client, server) = (
      try await authority.issue("client", names: "DNS:client"), try await authority.issue("server")
    )
    let verify = "ssl_verify_client optional; ssl_client_certificate \(authority.file); \(server.directives)"
    let other = try await NginxSite.start(listen: "ssl", verify)
    let site = try await NginxSite.start(
      listen: "ssl", verify + " location /away { return 307 https://127.0.0.1:\(other.port)$request_uri; }")
    let job = try Workspace(
      """
      version: 1
      name: tls
      sessions:
        s:
          tls: { ca_file: \(authority.file), certificate: \(client.certificate), key: \(client.key) }
          redirects: { across_origins: \(rule) }
      requests:
        r: { session: s, request: { method: PUT, url: "https://127.0.0.1:\(site.port)/away" } }
      """)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[5] } == ["CN=client"])
    #expect(other.requests.map { $0[5] } == [rule == "follow" ? "CN=client" : "-"])
  }

  // MARK: Mistakes

  @Test func `are checked when a run starts`() async throws {
    let authority = try await TestAuthority.make()
    let (client, other) = (try await authority.issue("client"), try await authority.issue("other"))
    let job = try Self.job("{}", "https://127.0.0.1:9")
    let archive = try await Self.settings(.pkcs12, client, in: job)
    _ = try await Self.settings(.encrypted, client, in: job)
    try job.folder.write(Data("no certificate".utf8), to: "text.pem")
    func message(_ tls: String) async throws -> String {
      try job.write(manifest: Self.manifest(tls, "https://127.0.0.1:9"))
      let command = try await job.ferry("run", "job.yaml")
      #expect(command.status == 2, "\(tls): \(command.stdout)\(command.stderr)")
      return command.stderr
    }
    func expect(_ tls: String, _ part: String) async throws {
      let text = try await message(tls)
      #expect(text.contains(part), "\(tls): \(text)")
    }
    try await expect(
      "{ ca_file: none.pem }", "'ca_file' of session 's' cannot be used: none.pem: No such file")
    try await expect("{ ca_file: text.pem }", "text.pem: it contains no certificate in PEM")
    try await expect("{ ca_path: none }", "'ca_path' of session 's' cannot be used: none: No such file")
    let shared = try job.folder.makeFolder("shared")
    #expect(chmod(shared.path, 0o1777) == 0)
    try await expect(
      "{ ca_path: shared }", "shared: any user can add a certificate to it, because it is world-writable")
    try await expect("{ certificate: text.pem }", "it contains no certificate in PEM, and is not PKCS#12")
    try await expect(
      "{ certificate: \(client.certificate) }", "it has no private key that can be read without")
    try await expect(
      "{ certificate: \(client.certificate), key: \(other.key) }",
      "its private key does not belong to the certificate")
    try await expect(
      "{ certificate: \(client.certificate), key: secret.key, key_password: \"${env.NOPE:-wrong}\" }",
      "cannot be read with 'key_password'")
    try await expect("{ certificate: client.p12 }", "that can be read without 'key_password'")
    try await expect(
      "{ \(archive), key: \(client.key) }", "the certificate is in PKCS#12, which contains its key")
    #expect(try await !message("{ \(archive), key: \(client.key) }").contains(Workspace.secret))
  }
}
