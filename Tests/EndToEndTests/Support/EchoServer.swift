import Foundation

/// A server that accepts any request and, unlike the receiver, reports its header fields.
final class EchoServer: Sendable {
  let url: String
  private let process: RunningCommand

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit {
    process.signal(SIGTERM)
  }

  static func start() async throws -> EchoServer {
    try await EchoServer(RunningCommand("python3", ["-u", "-c", script]))
  }

  /// The request lines and header fields of all requests, in order.
  var lines: [String] { process.stdout.split(whereSeparator: \.isNewline).dropFirst().map(String.init) }

  private static let script = """
    import http.server
    class Handler(http.server.BaseHTTPRequestHandler):
      def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        print(self.requestline, *(f"{name}: {value}" for name, value in self.headers.items()), sep="\\n")
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()
      def log_message(self, *_): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print("port", server.server_port)
    server.serve_forever()
    """
}
