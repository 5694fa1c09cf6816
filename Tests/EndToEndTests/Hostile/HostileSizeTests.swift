import Foundation
import Testing

/// Responses that are much larger than ferry needs.
@Suite struct `A response of 10 GiB` {
  /// Sends up to 10 GiB to each connection, and prints how many bytes the client accepted.
  private static let server = """
    import socket, sys, threading
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    head = b"HTTP/1.1 " + sys.argv[1].encode() + b"\\r\\nContent-Type: application/json\\r\\n"
    chunked = sys.argv[2] == "chunked"
    head += b"Transfer-Encoding: chunked\\r\\n\\r\\n" if chunked else b"Content-Length: 10737418240\\r\\n\\r\\n"
    piece = b"10000\\r\\n" + b" " * 65536 + b"\\r\\n" if chunked else b" " * 65536
    while True:
      client, _ = listener.accept()
      client.recv(65536)
      sent = 0
      try:
        client.sendall(head)
        while sent < 10737418240: sent += client.send(piece) if not chunked else (client.sendall(piece) or len(piece))
      except OSError: pass
      print("sent", sent, flush=True)
      client.close()
    """

  @Test(arguments: ["length", "chunked"], ["capture: { id: { json: /id } }, ", ""])
  func `ends the request after its limit`(_ framing: String, _ capture: String) async throws {
    try await expect("200 OK", framing, capture, ["answer_too_large"])
  }

  @Test(arguments: ["length", "chunked"])
  func `to a failed request does not hide its status, or ends the request`(_ framing: String) async throws {
    try await expect("403 No", framing, "", ["answer_too_large", "http_status"])
  }

  private func expect(
    _ status: String, _ framing: String, _ capture: String, _ codes: [String]
  ) async throws {
    let server = try await PythonServer(Self.server, [status, framing])
    let job = try Workspace(
      """
      version: 1
      name: large
      sessions: { s: {} }
      requests:
        r: { session: s, request: { method: PUT, url: "\(server.url)/r" }, \(capture)retry: { limit: 0 } }
      """)
    let start = ContinuousClock.now
    let (_, report) = try await job.run()
    let reason = try #require(report.node("r")?.reason)
    #expect(codes.contains(reason.code), "\(reason)")
    #expect(ContinuousClock.now - start < .seconds(60))
    // ferry accepts 16 MiB, and the buffers of the sockets hold some more.
    let sent = try #require(Int(try await server.line(after: "sent ")))
    #expect(sent < 64 << 20, "\(sent)")
  }
}
