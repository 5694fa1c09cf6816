import Foundation

/// A server that reads the beginning of a large body, and the rest only when the test opens the gate.
final class GateServer: Sendable {
  let url: String
  private let folder: TemporaryFolder
  private let process: RunningCommand

  private init(_ process: RunningCommand, _ folder: TemporaryFolder) async throws {
    self.process = process
    self.folder = folder
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit {
    process.signal(SIGKILL)
  }

  static func start() async throws -> GateServer {
    let folder = try TemporaryFolder()
    return try await GateServer(
      RunningCommand("python3", ["-u", "-c", script, folder.path("open")]), folder)
  }

  /// Waits until the beginning of a body has arrived.
  func isHalfway() async throws { _ = try await process.line(after: "halfway") }

  /// Lets the server read the rest of the body.
  func open() throws { try folder.write(Data(), to: "open") }

  /// Whether a complete body has arrived.
  var hasStored: Bool { process.stdout.contains("stored") }

  private static let script = """
    import http.server, os, socket, sys, time
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def do_PUT(self):
        left = int(self.headers["Content-Length"])
        left -= len(self.rfile.read(min(left, 65536)))
        print("halfway")
        while not os.path.exists(sys.argv[1]): time.sleep(0.01)
        while left:
          piece = self.rfile.read(min(left, 1 << 20))
          if not piece: return
          left -= len(piece)
        print("stored")
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
      def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    print("port", server.server_port)
    server.serve_forever()
    """
}
