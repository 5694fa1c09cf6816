import Foundation

/// A server at a Unix domain socket that responds to every request with 201.
final class UnixSocketServer: Sendable {
  private let process: RunningCommand

  private init(_ path: String) async throws {
    process = try RunningCommand("python3", ["-u", "-c", Self.script, path])
    _ = try await process.line(after: "listening")
  }

  deinit { process.signal(SIGKILL) }

  static func start(_ path: String) async throws -> UnixSocketServer { try await UnixSocketServer(path) }

  /// The requests so far, as `PUT /path`.
  var requests: [String] {
    process.stdout.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
  }

  private static let script = """
    import http.server, socketserver, sys
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        # One write, because several threads print.
        sys.stdout.write(f"{self.command} {self.path}\\n")
        self.send_response_only(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
      def address_string(self): return ""
      def log_message(self, *_): pass
    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
      daemon_threads = True
    server = Server(sys.argv[1], Handler)
    print("listening")
    server.serve_forever()
    """
}
