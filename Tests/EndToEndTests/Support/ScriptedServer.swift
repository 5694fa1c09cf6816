import Foundation

/// Two servers with scripted responses: `home`, which the manifest names, and `away`, which it does not name.
final class ScriptedServer: Sendable {
  let home: String
  let away: String
  private let process: RunningCommand

  /// A request that one of the servers received.
  struct Request: Decodable {
    var server: String
    var method: String
    var path: String
    var headers: [String: String]
    var body: String
  }

  /// A response. In its header fields and body, `{home}` and `{away}` are placeholders for the servers' URLs.
  struct Response {
    var status: Int
    var headers: [String: String] = [:]
    var body = "{}"
    /// The responses to the next requests for the same path. The last one is repeated.
    var next: [Response] = []

    fileprivate var object: [String: Any] {
      ["status": status, "headers": headers, "body": body, "next": next.map(\.object)]
    }
  }

  private init(_ process: RunningCommand) async throws {
    self.process = process
    home = "http://127.0.0.1:" + (try await process.line(after: "home "))
    away = "http://127.0.0.1:" + (try await process.line(after: "away "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter responses: the responses by path. For any other path, the response is 200 with `{}`.
  static func start(_ responses: [String: Response]) async throws -> ScriptedServer {
    let table = responses.mapValues(\.object)
    let json = String(decoding: try JSONSerialization.data(withJSONObject: table), as: UTF8.self)
    return try await ScriptedServer(RunningCommand("python3", ["-u", "-c", script, json]))
  }

  var requests: [Request] {
    process.stdout.split(whereSeparator: \.isNewline).compactMap {
      // The first line contains the ports and is not a request.
      try? JSONDecoder().decode(Request.self, from: Data($0.utf8))
    }
  }

  /// The requests so far, as `home POST /path`.
  var lines: [String] { requests.map { "\($0.server) \($0.method) \($0.path)" } }

  private static let script = """
    import http.server, json, sys, threading
    table = json.loads(sys.argv[1])
    urls = {}
    def handler(name):
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def respond(self):
          body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("latin1")
          headers = {key.lower(): value for key, value in self.headers.items()}
          # One write, because requests are handled at the same time.
          entry = dict(server=name, method=self.command, path=self.path, headers=headers, body=body)
          sys.stdout.write(json.dumps(entry) + "\\n")
          entry = table.get(self.path, dict(status=200, headers={}, body="{}"))
          if entry.get("next"): table[self.path] = dict(entry["next"][0], next=entry["next"][1:])
          def fill(text):
            for key, url in urls.items(): text = text.replace("{" + key + "}", url)
            return text
          content = fill(entry["body"]).encode()
          self.send_response_only(entry["status"], "Scripted")
          for key, value in entry["headers"].items(): self.send_header(key, fill(value))
          self.send_header("Content-Length", str(len(content)))
          self.end_headers()
          if self.command != "HEAD": self.wfile.write(content)
        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = respond
        def log_message(self, *_): pass
      return Handler
    for name in ["home", "away"]:
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(name))
      urls[name] = "http://127.0.0.1:" + str(server.server_port)
      threading.Thread(target=server.serve_forever).start()
      print(name, server.server_port)
    """
}
