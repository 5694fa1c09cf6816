import Foundation
import Testing

/// `http_version`, `resolve`, `unix_socket`, `minimum_speed` and `proxy` of a session.
@Suite(.enabled("openssl and nginx are needed") { TestAuthority.isPossible })
struct `The connection settings of a session` {
  private static func job(_ settings: String, _ url: String, files: Int = 1) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: wire
      secrets: { password: { env: E2E_SECRET } }
      sessions:
        s: { \(settings) }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(url)/${file.name}" } }
          retry: { limit: 0 }
      """)
    for number in 0..<files { try job.write("content \(number)", to: "f\(number)") }
    return job
  }

  // MARK: HTTP

  @Test(arguments: [("auto", "HTTP/2.0"), ("\"1.1\"", "HTTP/1.1"), ("2", "HTTP/2.0")])
  func `choose the version of HTTP over TLS`(_ written: String, _ version: String) async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: "ssl http2", try await authority.issue("server").directives)
    let job = try Self.job(
      "http_version: \(written), tls: { ca_file: \(authority.file) }", "https://127.0.0.1:\(site.port)",
      files: 20)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(Set(site.requests.map { $0[3] }) == [version])
    #expect(site.requests.count == 20)
    // All requests share one connection.
    if written == "2" { #expect(Set(site.requests.map { $0[6] }).count == 1, "\(site.requests)") }
    if written == "\"1.1\"" { #expect(Set(site.requests.map { $0[6] }).count > 1) }
  }

  @Test func `assume HTTP 2 without TLS`() async throws {
    let site = try await NginxSite.start(listen: "http2", "")
    let job = try Self.job("http_version: 2-prior-knowledge", "http://127.0.0.1:\(site.port)", files: 5)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(Set(site.requests.map { $0[3] }) == ["HTTP/2.0"])
    #expect(site.file("f4") == "content 4")
  }

  /// libcurl 7.88 cannot send a second request on a connection that was opened with prior knowledge of
  /// HTTP/2.
  @Test func `send requests one after another over HTTP 2 without TLS`() async throws {
    let site = try await NginxSite.start(listen: "http2", "")
    let settings = "http_version: 2-prior-knowledge, max_connections_per_host: 1"
    let job = try Self.job(settings, "http://127.0.0.1:\(site.port)", files: 3)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[3] } == ["HTTP/2.0", "HTTP/2.0", "HTTP/2.0"])
  }

  // MARK: Addresses

  @Test func `connect to another address with the name of the host`() async throws {
    let authority = try await TestAuthority.make()
    let issued = try await authority.issue("files", names: "DNS:files.example.com")
    let site = try await NginxSite.start(listen: "ssl", issued.directives)
    let host = "files.example.com:\(site.port)"
    let job = try Self.job(
      "tls: { ca_file: \(authority.file) }, resolve: [\"other.example.com:1:192.0.2.1\", \"\(host):127.0.0.1\"]",
      "https://\(host)")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.file("f0") == "content 0")
  }

  @Test func `connect to a Unix domain socket`() async throws {
    let site = try await NginxSite.start("listen unix:FOLDERsocket;")
    let job = try Self.job("unix_socket: \(site.path("socket"))", "http://upload.example.com", files: 3)
    // A proxy of the environment is not used for the socket.
    let command = try await job.ferry("run", "job.yaml", environment: ["http_proxy": "http://127.0.0.1:9"])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.file("f2") == "content 2")
    let missing = try Self.job("unix_socket: none.sock", "http://upload.example.com")
    let (refused, _) = try await missing.run()
    #expect(refused.status != 0)
    let long = try Self.job(
      "unix_socket: /\(String(repeating: "s", count: 120))", "http://upload.example.com")
    let tooLong = try await long.ferry("run", "job.yaml")
    #expect(tooLong.status == 2)
    #expect(
      tooLong.stderr.contains("'unix_socket' of session 's' is longer than 107 bytes"), "\(tooLong.stderr)")
  }

  // MARK: Speed

  @Test func `end a request that is too slow`() async throws {
    let server = try await ByteServer.start(
      """
        size, pause = (4000, 0.1) if path == "/slow" else (8000, 0.5)
        send(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % size)
        for _ in range(size // (4 if path == "/slow" else 1000)):
          send(b"x" * (4 if path == "/slow" else 1000))
          time.sleep(pause)
      """)
    let job = try Workspace(
      """
      version: 1
      name: wire
      sessions: { s: { minimum_speed: 500B/3s, timeout_for_request: 30s } }
      requests:
        slow: { session: s, request: { url: "\(server.url)/slow" }, retry: { limit: 0 } }
        steady: { session: s, request: { url: "\(server.url)/steady" }, retry: { limit: 0 } }
      """)
    let start = ContinuousClock.now
    let (_, report) = try await job.run()
    let slow = report.node("slow")
    #expect(slow?.reason?.code == "request_timeout", "\(String(describing: slow))")
    #expect(
      slow?.reason?.message.contains("less than 500 bytes in 3 s ('minimum_speed' of the session)") == true,
      "\(String(describing: slow))")
    #expect(report.node("steady")?.state == "succeeded", "\(String(describing: report.node("steady")))")
    // The whole response would take 100 seconds.
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  // MARK: Proxies

  private static func proxy(_ server: TinyproxyServer, _ more: String = "") -> String {
    "proxy: { url: \"http://127.0.0.1:\(server.port)\"\(more) }"
  }

  @Test(.enabled("tinyproxy is needed") { TinyproxyServer.isPossible }, arguments: [false, true])
  func `name a proxy, also with a password`(_ isSecured: Bool) async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: isSecured ? "ssl" : "", isSecured ? try await authority.issue("server").directives : "")
    let url = "\(isSecured ? "https" : "http")://127.0.0.1:\(site.port)"
    let tls = isSecured ? ", tls: { ca_file: \(authority.file) }" : ""

    let open = try await TinyproxyServer.start()
    let (command, _) = try await Self.job(Self.proxy(open) + tls, url, files: 3).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.count == 3)
    #expect(!open.requests.isEmpty)
    #expect(open.requests.allSatisfy { $0.hasPrefix(isSecured ? "CONNECT " : "PUT ") }, "\(open.requests)")

    let closed = try await TinyproxyServer.start(login: "ferry geheim")
    let (accepted, _) = try await Self.job(
      Self.proxy(closed, ", user: ferry, password: geheim") + tls, url
    ).run()
    #expect(accepted.status == 0, "\(accepted.stdout)\(accepted.stderr)")
    #expect(site.requests.count == 4)

    // tinyproxy responds with 407 if there is no password, and with 401 if the password is wrong.
    for (login, status) in [("", 407), (", user: ferry, password: \"${secrets.password}\"", 401)] {
      let job = try Workspace(
        """
        version: 1
        name: wire
        secrets: { password: { env: E2E_SECRET } }
        sessions: { s: { \(Self.proxy(closed, login))\(tls) } }
        requests:
          r: { session: s, request: { url: "\(url)/f0" }, retry: { limit: 0 } }
        """)
      let (rejected, report) = try await job.run()
      #expect(rejected.status != 0)
      let reason = report.node("r")?.reason
      if isSecured {
        #expect(
          reason?.message
            == "the proxy 127.0.0.1:\(closed.port) refused a connection to 127.0.0.1:\(site.port) with \(status)"
        )
      } else {
        #expect(reason?.status == status, "\(String(describing: reason))")
      }
      #expect(reason?.proxy == "127.0.0.1:\(closed.port)")
      #expect(!(rejected.stdout + rejected.stderr).contains(Workspace.secret))
    }
    #expect(site.requests.count == 4)
  }

  @Test(.enabled("tinyproxy is needed") { TinyproxyServer.isPossible })
  func `except hosts from the proxy, and override the environment`() async throws {
    let site = try await NginxSite.start("")
    let url = "http://127.0.0.1:\(site.port)"
    let proxy = try await TinyproxyServer.start()
    let (direct, _) = try await Self.job(Self.proxy(proxy, ", no_proxy: [127.0.0.0/8]"), url).run()
    #expect(direct.status == 0, "\(direct.stdout)\(direct.stderr)")
    #expect(proxy.requests.isEmpty)
    let dead = ["http_proxy": "http://127.0.0.1:9", "no_proxy": ""]
    let none = try Self.job("proxy: none", url)
    #expect(try await none.ferry("run", "job.yaml", environment: dead).status == 0)
    // The environment's no_proxy does not apply to the manifest's proxy.
    let own = try Self.job(Self.proxy(proxy), url)
    let command = try await own.ferry(
      "run", "job.yaml", environment: ["http_proxy": "http://127.0.0.1:9", "no_proxy": "*"])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(proxy.requests.count == 1)
  }

  @Test(.enabled("squid is needed") { SquidServer.isPossible }, arguments: [false, true])
  func `name squid as the proxy, also with a password`(_ isSecured: Bool) async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: isSecured ? "ssl" : "", isSecured ? try await authority.issue("server").directives : "")
    let url = "\(isSecured ? "https" : "http")://127.0.0.1:\(site.port)"
    let tls = isSecured ? ", tls: { ca_file: \(authority.file) }" : ""
    func proxy(_ server: SquidServer, _ login: String = "") -> String {
      "proxy: { url: \"http://127.0.0.1:\(server.port)\"\(login) }" + tls
    }

    let open = try await SquidServer.start()
    let (command, _) = try await Self.job(proxy(open), url, files: 3).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.count == 3)

    let closed = try await SquidServer.start(login: (user: "ferry", password: "geheim"))
    let (accepted, _) = try await Self.job(proxy(closed, ", user: ferry, password: geheim"), url).run()
    #expect(accepted.status == 0, "\(accepted.stdout)\(accepted.stderr)")
    #expect(site.requests.count == 4)

    // squid responds with 407 both to a missing and to a wrong password.
    for login in ["", ", user: ferry, password: \"${secrets.password}\""] {
      let job = try Workspace(
        """
        version: 1
        name: wire
        secrets: { password: { env: E2E_SECRET } }
        sessions: { s: { \(proxy(closed, login)) } }
        requests:
          r: { session: s, request: { url: "\(url)/f0" }, retry: { limit: 0 } }
        """)
      let (rejected, report) = try await job.run()
      #expect(rejected.status != 0)
      let reason = report.node("r")?.reason
      if isSecured {
        let message =
          "the proxy 127.0.0.1:\(closed.port) refused a connection to 127.0.0.1:\(site.port) with 407"
        #expect(reason?.message == message)
      } else {
        #expect(reason?.status == 407, "\(String(describing: reason))")
      }
      #expect(reason?.proxy == "127.0.0.1:\(closed.port)")
      #expect(!(rejected.stdout + rejected.stderr).contains(Workspace.secret))
    }
    #expect(site.requests.count == 4)
  }

  @Test func `name a proxy that is dead`() async throws {
    let job = try Self.job(
      "proxy: { url: \"http://127.0.0.1:9\", user: ferry, password: \"${secrets.password}\" }",
      "http://example.com")
    let (command, _) = try await job.run()
    #expect(command.status != 0)
    #expect(
      command.stdout.contains("connect to the proxy 127.0.0.1:9, for example.com:80"),
      "\(command.stdout)\(command.stderr)")
    #expect(!(command.stdout + command.stderr).contains(Workspace.secret))
  }

  // MARK: Bandwidth and marks

  @Test(.timeLimit(.minutes(5))) func `limit the bandwidth of a session and of the run`() async throws {
    let receiver = try await ReceiverProcess.start()
    for settings in [
      "sessions: { s: { max_bandwidth: 200kB } }", "max_bandwidth: 200kB\nsessions: { s: {} }",
    ] {
      let job = try Workspace(
        """
        version: 1
        name: wire
        \(settings)
        uploads:
          u: { session: s, files: { root: files }, transfer: { request: { url: "\(receiver.url)/files/${file.path}" } } }
        """)
      for name in ["a", "b"] { try job.write(String(repeating: name, count: 300_000), to: name) }
      let start = ContinuousClock.now
      let (command, _) = try await job.run()
      #expect(command.status == 0, "\(command.stderr)")
      #expect((Duration.seconds(2.5) ..< .seconds(30)).contains(ContinuousClock.now - start))
    }
  }

  /// libcurl reports a header line without a colon as a wrong argument.
  @Test func `report a malformed response of a proxy to CONNECT as a failed connection`() async throws {
    let proxy = try await PythonServer(
      """
      import socket
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1])
      while True:
        client, _ = listener.accept()
        if client.recv(65536).startswith(b"CONNECT"):
          client.sendall(b"HTTP/1.1 200 OK\\r\\nno colon\\r\\n\\r\\n")
        else:
          client.sendall(b"HTTP/1.1 302 Found\\r\\nLocation: https://127.0.0.1:9/\\r\\nContent-Length: 0\\r\\n\\r\\n")
        client.close()
      """)
    let address = "127.0.0.1:\(proxy.port)"
    let job = try Workspace(
      """
      version: 1
      name: wire
      sessions:
        s: { proxy: { url: "http://\(address)" } }
      requests:
        r: { session: s, request: { method: POST, url: "https://127.0.0.1:9/" }, retry: { limit: 1, initial: 10ms } }
        redirected: { session: s, request: { url: "http://127.0.0.1:9/" }, retry: { limit: 1, initial: 10ms } }
      """)
    let (command, report) = try await job.run()
    for name in ["r", "redirected"] {
      let node = report.node(name)
      #expect(node?.state == "waiting", "\(command.stdout)\(command.stderr)")
      #expect(node?.reason?.code == "connect")
      #expect(node?.reason?.message.contains("through the proxy \(address)") == true)
    }
  }

  /// The second response on a connection with HTTP/2 would fail.
  @Test func `use HTTP 1.1 to limit the bandwidth`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: "ssl http2", try await authority.issue("server").directives)
    try site.write(String(repeating: "x", count: 200_000), to: "large")
    let fetches = ["a", "b", "c"].map {
      "  \($0): { session: s, request: { url: \"https://127.0.0.1:\(site.port)/large\" }, save_to: \($0) }"
    }
    let job = try Workspace(
      """
      version: 1
      name: wire
      sessions:
        s: { http_version: 2, max_bandwidth: 500kB, tls: { ca_file: \(authority.file) } }
      fetches:
      \(fetches.joined(separator: "\n"))
      """)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.map { $0[3] } == ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1"])
    #expect(job.folder.text("c").utf8.count == 200_000)
  }

  /// A server that prints the mark of the first packet of each connection, as its kernel received the mark
  /// (IP_RECVTOS).
  private static let markServer = """
    import socket, struct
    listener = socket.socket()
    listener.setsockopt(socket.IPPROTO_IP, 13, 1)
    listener.bind(("127.0.0.1", 0)); listener.listen()
    print("port", listener.getsockname()[1], flush=True)
    while True:
      client, _ = listener.accept()
      options = client.getsockopt(socket.IPPROTO_IP, 9, 256)
      print("mark", struct.unpack("i", options[16:20])[0], flush=True)
      client.recv(65536)
      client.sendall(b"HTTP/1.1 201 Created\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
      client.close()
    """

  @Test(arguments: [("background", 4), ("default", 0)])
  func `mark packets by the service type`(_ type: String, _ mark: Int) async throws {
    let server = try await PythonServer(Self.markServer)
    let job = try Self.job("service_type: \(type)", server.url)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await server.line(after: "mark ") == "\(mark)")
  }

  @Test func `separate the HTTP 2 connections of different service types`() async throws {
    let authority = try await TestAuthority.make()
    let site = try await NginxSite.start(
      listen: "ssl http2", try await authority.issue("server").directives)
    let tls = "http_version: 2, tls: { ca_file: \(authority.file) }"
    func upload(_ name: String) -> String {
      "\(name): { session: \(name), files: { root: files }, transfer: { request: { method: PUT, "
        + "url: \"https://127.0.0.1:\(site.port)/\(name)-${file.name}\" } } }"
    }
    let job = try Workspace(
      """
      version: 1
      name: wire
      sessions:
        a: { \(tls), service_type: background }
        b: { \(tls) }
        c: { \(tls), service_type: background }
      uploads:
        \(upload("a"))
        \(upload("b"))
        \(upload("c"))
      """)
    for number in 0..<5 { try job.write("\(number)", to: "f\(number)") }
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.count == 15 && Set(site.requests.map { $0[3] }) == ["HTTP/2.0"])
    func connections(_ isBackground: Bool) -> Set<String> {
      Set(site.requests.filter { $0[2].hasPrefix("/b-") != isBackground }.map { $0[6] })
    }
    #expect(connections(true).count == 1, "\(site.requests)")
    #expect(connections(true).isDisjoint(with: connections(false)), "\(site.requests)")
  }
}
