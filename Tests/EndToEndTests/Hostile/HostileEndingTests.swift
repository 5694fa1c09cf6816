import Foundation
import Testing

/// Connections that end at any point of a request or a response.
@Suite struct `A connection that ends` {
  /// Ends each connection at the given point, by closing or resetting it, and prints the point.
  private static let server = """
    import socket, struct, sys, threading
    moment, reset = sys.argv[1], sys.argv[2] == "reset"
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1], flush=True)
    head = b"HTTP/1.1 201 Created\\r\\nContent-Type: application/json\\r\\nContent-Length: 10\\r\\n"
    parts = {"status": head[:8], "field": head[:40], "head": head, "body": head + b"\\r\\n{\\"a\\"", "interim":
      b"HTTP/1.1 103 Early Hints\\r\\n\\r\\n", "chunk": b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nab"}
    def serve(client):
      if moment == "handshake": client.recv(1); client.sendall(b"\\x16\\x03\\x03\\x00")
      elif moment == "sending":
        received = 0
        while received < 100_000: received += len(client.recv(65536))
      elif moment != "accept":
        data = b""
        while b"\\r\\n\\r\\n" not in data: data += client.recv(65536)
        if b"100-continue" in data: client.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n")
        data, size = data.split(b"\\r\\n\\r\\n")[1], 4 << 20
        while len(data) < size: data += client.recv(1 << 20)
        client.sendall(parts.get(moment, b""))
      if reset: client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
      client.close()
    while True:
      client, _ = listener.accept()
      print("ended", moment, flush=True)
      threading.Thread(target=serve, args=(client,), daemon=True).start()
    """

  @Test(
    arguments: [
      "accept", "handshake", "sending", "response", "interim", "status", "field", "head", "body", "chunk",
    ], ["close", "reset"])
  func `in the middle leaves the file for the next run, and nothing behind`(
    _ moment: String, _ end: String
  ) async throws {
    let server = try await PythonServer(Self.server, [moment, end])
    let scheme = moment == "handshake" ? "https" : "http"
    let job = try Workspace(
      """
      version: 1
      name: ending
      sessions: { s: { timeout_for_request: 3m } }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer: { request: { url: "\(scheme)://127.0.0.1:\(server.port)/${file.name}" } }
          retry: { limit: 1, initial: 10ms, max: 10ms }

      """)
    try job.write(String(repeating: "x", count: 4 << 20), to: "f")
    let start = ContinuousClock.now
    let (command, report) = try await job.run()
    #expect(ContinuousClock.now - start < .seconds(90))
    #expect(command.status == 5 || command.status == 1, "\(command.stdout)\(command.stderr)")
    let reason = try #require(report.items.first?.reason)
    let early = ["accept": ["connect"], "handshake": ["handshake", "connect"]]
    let codes = ["connection_lost"] + (early[moment] ?? [])
    #expect(codes.contains(reason.code), "\(reason)")
    // The file was tried again, the journal is intact, and the folder contains no other file.
    #expect((report.items.first?.attempts.count ?? 0) >= 2)
    #expect(try await job.ferry("journal", "check").status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("files")) == ["f"])
  }
}
