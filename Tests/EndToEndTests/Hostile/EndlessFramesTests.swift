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
      def fill(connection, data):
        # A blocked sender on a Unix domain socket is woken only when most of the buffer is empty again.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        view = memoryview(data)
        while view:
          try: view = view[connection.send(view[:60000], socket.MSG_DONTWAIT):]
          except BlockingIOError: pass
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
          if turn: connection.sendall(empty)
          else: fill(connection, empty)
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

  @Test func `on a Unix domain socket do not keep a run from ending the request`() async throws {
    let folder = try TemporaryFolder()
    let socket = folder.path("socket")
    let server = try await Self.server(
      listen: """
        server = socket.socket(socket.AF_UNIX)
        server.bind("\(socket)")
        server.listen()
        print("port 0", flush=True)
        """, turn: 0)
    let job = try Workspace(
      """
      version: 1
      name: frames
      sessions:
        s: { http_version: 2-prior-knowledge, unix_socket: \(socket), timeout_for_resource: 20s }
      requests:
        r: { session: s, request: { url: "http://localhost/r" }, retry: { limit: 0 } }
      """)
    let start = ContinuousClock.now
    let (command, report) = try await job.run()
    let reason = report.node("r")?.reason
    #expect(
      reason?.message.contains("libcurl kept reading") == true || reason?.code == "resource_timeout",
      "\(command.stdout)\(command.stderr)\(server.stdout)")
    #expect(ContinuousClock.now - start < .seconds(60))
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
