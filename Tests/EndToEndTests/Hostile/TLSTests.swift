import Foundation
import Testing

/// Responses over TLS, where records hide what the socket does not show.
@Suite(.enabled("a mount namespace is needed") { TLSServer.isPossible })
struct `A response over TLS` {
  private static let empty = "HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n"

  /// A GET, then a request to another server that takes half a second, then a POST that is not repeated.
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

  /// What the first connection sends as its response to the first request; another one responds with 500.
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
    // The body and the second response are in one record, of which libcurl reads the body alone.
    "connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n'); connection.sendall(b'ok\(empty)')",
    "connection.sendall(b'\(empty)'); time.sleep(0.1); connection.sendall(b'\(empty)')",
  ])
  func `on an idle connection is not the response to the next request`(_ bytes: String) async throws {
    let (report, requests) = try await outcome(bytes)
    #expect(report.node("first")?.state == "succeeded", "\(String(describing: report.node("first")))")
    // Another connection is asked, which says 500: nobody knows.
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
}
