import Foundation
import Testing

/// Servers that send empty HTTP/2 frames endlessly. libcurl 7.88 returns only when the socket is empty; with later
/// versions, these requests end at their time limits.
@Suite struct `Endless HTTP 2 frames` {
  /// Sends empty DATA frames. If `turn` is not 0, adds a byte of content every 0.4 seconds, and sends nothing for 0.4
  /// seconds whenever libcurl has read from the connection for `turn` seconds.
  private static func server(listen: String, turn: Double) async throws -> PythonServer {
    try await PythonServer(
      """
      import socket, sys, threading, time
      def frame(kind, flags, stream, payload=b""):
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload
      def receive(connection, count):
        data = b""
        while len(data) < count:
          piece = connection.recv(count - len(data))
          if not piece: sys.exit()
          data += piece
        return data
      SETTINGS, HEADERS, DATA, turn = 4, 1, 0, \(turn)
      def serve(connection):
        receive(connection, len(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n"))
        connection.sendall(frame(SETTINGS, 0, 0))
        while True:
          head = receive(connection, 9)
          receive(connection, int.from_bytes(head[:3], "big"))
          if head[3] == HEADERS: break
        stream = int.from_bytes(head[5:], "big")
        # END_HEADERS, and ":status: 200" of HPACK's static table
        connection.sendall(frame(SETTINGS, 1, 0) + frame(HEADERS, 4, stream, b"\\x88"))
        print("flood", flush=True)
        empty, last, start = frame(DATA, 0, stream) * 20000, 0, None
        while True:
          before = time.time()
          connection.sendall(empty)
          now = time.time()
          # While libcurl does not read, sending blocks.
          if start is None or now - before > 0.5: start = now
          if turn and now - last > 0.4:
            connection.sendall(frame(DATA, 0, stream, b"x"))
            last = now
          if turn and now - start > turn:
            time.sleep(0.4)
            start = None
      \(listen)
      while True:
        connection = server.accept()[0]
        threading.Thread(target=serve, args=(connection,), daemon=True).start()
      """)
  }

  @Test func `on connections that take turns do not keep a run from stopping`() async throws {
    let server = try await Self.server(
      listen: """
        server = socket.create_server(("127.0.0.1", 0))
        print("port", server.getsockname()[1], flush=True)
        """, turn: 25)
    let job = try Workspace(
      """
      version: 1
      name: frames
      sessions:
        s: { http_version: 2-prior-knowledge, max_connections_per_host: 4, timeout_for_request: 5s }
      downloads:
        d:
          session: s
          items: { urls: [\((1...4).map { "\"\(server.url)/\($0)\"" }.joined(separator: ", "))], save_to: "d/${item.name}" }
          retry: { limit: 0 }
      """)
    let run = try job.start(["run", "job.yaml"])
    _ = try await server.line(after: "flood")
    try await Task.sleep(for: .seconds(3))
    let start = ContinuousClock.now
    run.signal(SIGTERM)
    let end = await run.end()
    #expect(end.status == 143, "\(end.stdout)\(end.stderr)\(server.stdout)")
    #expect(ContinuousClock.now - start < .seconds(40))
  }
}
