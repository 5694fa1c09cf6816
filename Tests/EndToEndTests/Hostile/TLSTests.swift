import Foundation
import Testing

/// Responses over TLS. A TLS record may contain bytes that a check of the socket cannot detect.
@Suite(.enabled("a mount namespace is needed") { TLSServer.isPossible })
struct `A response over TLS` {
  private static let empty = "HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n"

  /// Writes a manifest with a GET, then a request that takes half a second at another server, then a POST
  /// that is not repeated.
  private func job(_ server: TLSServer, _ slow: ByteServer, _ folder: Workspace) throws {
    try folder.write(
      manifest: """
        version: 1
        name: tls
        sessions:
          s: { max_connections_per_host: 1, timeout_for_request: 3s }
        requests:
          first: { session: s, request: { url: "\(server.url)/first" }, retry: { limit: 0 } }
          wait: { session: s, needs: [first], request: { url: "\(slow.url)/wait" } }
          pay:
            session: s
            needs: [wait]
            request: { method: POST, url: "\(server.url)/pay" }
            retry: { limit: 0 }
        """)
  }

  /// Runs the job. `bytes` is the code with which the first connection responds to its first request. Later connections
  /// respond with 500.
  private func outcome(_ bytes: String) async throws -> (RunReport, [String]) {
    let job = try Workspace("")
    let server = try await TLSServer.start(
      in: job.folder,
      """
        while True:
          text = request()
          if text == "GET /first":
            \(bytes)
          elif number == 0:
            time.sleep(10)
          else:
            connection.sendall(b"HTTP/1.1 500 No\\r\\nContent-Length: 0\\r\\n\\r\\n")
      """)
    let slow = try await ByteServer.start(
      "  time.sleep(0.5)\n  send(b\"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n\")")
    try self.job(server, slow, job)
    let (_, report) = try await server.run(job)
    return (report, server.requests)
  }

  @Test(arguments: [
    // One record contains the body and the second response. libcurl reads only the body from it.
    "connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n'); connection.sendall(b'ok\(empty)')",
    "connection.sendall(b'\(empty)'); time.sleep(0.1); connection.sendall(b'\(empty)')",
  ])
  func `on an idle connection is not the response to the next request`(_ bytes: String) async throws {
    let (report, requests) = try await outcome(bytes)
    #expect(report.node("first")?.state == "succeeded", "\(String(describing: report.node("first")))")
    // libcurl repeats the request on another connection, which responds with 500, so the outcome is unknown.
    #expect(report.node("pay")?.state == "ambiguous", "\(String(describing: report.node("pay")))")
    #expect(requests == ["GET /first", "POST /pay"])
  }

  @Test func `that claims HTTP 2 without negotiation is malformed`() async throws {
    let (report, requests) = try await outcome(
      "connection.sendall(b'HTTP/2 200\\r\\nContent-Length: 0\\r\\n\\r\\n')")
    let first = report.node("first")
    #expect(first?.reason?.code == "malformed_answer", "\(String(describing: first))")
    #expect(!requests.contains("POST /pay"))
  }

  @Test(arguments: [true, false])
  func `cut before its closure alert replaces no file`(_ isAnnounced: Bool) async throws {
    let job = try Workspace("")
    let server = try await TLSServer.start(
      in: job.folder,
      """
        request()
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nnew")
        time.sleep(0.1)
        \(isAnnounced ? "pass" : "end(); time.sleep(1)")
      """)
    try job.write(
      manifest: """
        version: 1
        name: tls
        sessions:
          s: {}
        fetches:
          f: { session: s, request: { url: "\(server.url)/f" }, save_to: f, retry: { limit: 0 } }
        """)
    try job.folder.write(Data("old".utf8), to: "f")
    let (command, report) = try await server.run(job)
    #expect(job.folder.text("f") == (isAnnounced ? "new" : "old"), "\(command.stderr)")
    #expect(report.node("f")?.reason?.code == (isAnnounced ? nil : "connection_lost"))
  }

  /// ferry cannot detect unread data in the TLS session with the proxy.
  @Test func `from a proxy is the only one on its connection`() async throws {
    let job = try Workspace(
      """
      version: 1
      name: proxy
      sessions:
        s: { max_connections_per_host: 1 }
      requests:
        first: { session: s, request: { url: "http://127.0.0.1:9/first" } }
        second: { session: s, needs: [first], request: { url: "http://127.0.0.1:9/second" }, retry: { limit: 0 } }
      """)
    let server = try await TLSServer.start(
      in: job.folder,
      """
        status = b"200 OK" if number == 0 else b"500 No"
        response = b"HTTP/1.1 " + status + b"\\r\\nContent-Length: 0\\r\\n\\r\\n"
        while True:
          request()
          # The second response of the first connection would be the next request's.
          connection.sendall(response * (2 - number))
      """)
    let (command, report) = try await server.run(
      job, environment: ["http_proxy": server.url, "no_proxy": ""])
    #expect(report.node("first")?.state == "succeeded", "\(command.stdout)\(command.stderr)")
    #expect(report.node("second")?.state == "waiting", "\(command.stdout)\(command.stderr)")
    #expect(server.requests == ["GET http://127.0.0.1:9/first", "GET http://127.0.0.1:9/second"])
  }

  /// libcurl keeps a connection of HTTP/2 after a request on it has been stopped, and would use it for each retry.
  @Test(arguments: ["timeout_for_request: 1s", "minimum_speed: 1B/1s"])
  func `that falls silent over HTTP 2 is not used for retries`(limit: String) async throws {
    let job = try Workspace(
      """
      version: 1
      name: silent
      sessions:
        s: { http_version: 2, \(limit), max_connections_per_host: 2 }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { method: PUT, url: "https://127.0.0.1/${file.name}" } }
          retry: { limit: 8, initial: 100ms, max: 100ms }
      """)
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    let server = try await TLSServer.start(
      in: job.folder, isHTTP2: true,
      """
        def frame(kind, flags, stream, payload=b""):
          return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream + payload
        HEADERS, SETTINGS = 1, 4
        connection.sendall(frame(SETTINGS, 0, bytes(4)))
        frames = connection.makefile("rb")
        # the connection preface of the client
        frames.read(24)
        responses = 0
        while head := frames.read(9):
          frames.read(int.from_bytes(head[:3], "big"))
          if head[3] == SETTINGS and head[4] == 0: connection.sendall(frame(SETTINGS, 1, bytes(4)))
          # The first connection responds late to its first request, and to no other one.
          if head[3] != HEADERS or number == 0 and responses > 0: continue
          if number == 0: time.sleep(0.6)
          responses += 1
          # END_STREAM and END_HEADERS, and ":status: 200" of HPACK's static table
          connection.sendall(frame(HEADERS, 5, head[5:], b"\\x88"))
      """)
    try job.write(manifest: job.folder.text("job.yaml").replacing("https://127.0.0.1", with: server.url))
    let (command, report) = try await server.run(job)
    #expect(report.totals.items.done == 3, "\(command.stdout)\(command.stderr)")
  }

  /// libcurl 7.88 keeps reading HTTP/2 frames without data while more of them arrive.
  @Test func `of empty frames without end does not stop the clock`() async throws {
    let job = try Workspace(
      """
      version: 1
      name: busy
      sessions:
        s: { timeout_for_resource: 20s }
      requests:
        r: { session: s, request: { url: "https://127.0.0.1/r" }, retry: { limit: 0 } }
      """)
    let server = try await TLSServer.start(
      in: job.folder, isHTTP2: true,
      """
        def frame(kind, flags, stream, payload=b""):
          return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
        SETTINGS, HEADERS, DATA = 4, 1, 0
        connection.sendall(frame(SETTINGS, 0, 0))
        connection.recv(65536)
        # END_HEADERS, and ":status: 200" of HPACK's static table
        connection.sendall(frame(HEADERS, 4, 1, b"\\x88"))
        empty = frame(DATA, 0, 1) * 50000
        while True: connection.sendall(empty)
      """)
    try job.write(manifest: job.folder.text("job.yaml").replacing("https://127.0.0.1", with: server.url))
    let start = ContinuousClock.now
    let (command, report) = try await server.run(job)
    let reason = report.node("r")?.reason
    // Later versions of libcurl return, and the request ends at its time limit.
    #expect(
      reason?.message.contains("libcurl kept reading") == true
        || reason?.code == "resource_timeout", "\(command.stdout)\(command.stderr)")
    #expect(ContinuousClock.now - start < .seconds(40))
  }

  /// A proxy's response to CONNECT precedes the request, and must not count as an early response of the server.
  @Test func `through a proxy counts for a whole body`() async throws {
    let job = try Workspace("")
    let server = try await TLSServer.start(
      in: job.folder,
      """
        while True:
          request()
          connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
      """)
    let proxy = try await ByteServer.start(
      """
        host, port = path.split(":")
        server = socket.create_connection((host, int(port)))
        send(b"HTTP/1.1 200 Connected\\r\\n\\r\\n")
        client = send.__self__
        def copy(source, target):
          while (data := source.recv(65536)): target.sendall(data)
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        copy(client, server)
      """)
    try job.write(
      manifest: """
        version: 1
        name: proxy
        sessions:
          s: {}
        uploads:
          u:
            session: s
            files: { root: files }
            transfer: { request: { method: PUT, url: "\(server.url)/${file.name}" } }
        requests:
          post: { session: s, needs: [u], request: { method: POST, url: "\(server.url)/post", json: { a: 1 } } }
        """)
    try job.write("content", to: "a")
    let (command, report) = try await server.run(
      job, environment: ["https_proxy": proxy.url, "no_proxy": ""])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("post")?.state == "succeeded")
    #expect(server.requests == ["PUT /a", "POST /post"])
  }
}
