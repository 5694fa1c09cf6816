import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server of upload sessions, written in Python. Sessions at `/google` report their offset as Google does, and
/// sessions at `/graph` as Microsoft Graph does. Responses to queries at `/mute` contain no offset.
final class SessionServer: Sendable {
  let url: String
  private let process: RunningCommand

  /// One upload session.
  struct Session: Decodable {
    /// The number of stored bytes.
    var size: Int
    /// The number of bytes that were received, including those that were not stored.
    var received: Int
    /// Whether the session has the whole file.
    var done: Bool
    var sha256: String
  }

  struct Log: Decodable {
    var sessions: [Session]
    var parts: Int
    var tokens: Int
    var queries: Int
  }

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameter fault: the body of a Python function, indented by two spaces. Its arguments are the number of the
  ///   part, counted over all sessions, and the part's position. It returns `None`, or the kind of fault and its value:
  ///   `status` responds with this status; `gone` ends the session; `drop` closes the connection after this many bytes
  ///   of the part; `silent` closes the connection instead of responding; `lose` keeps only this many bytes of the
  ///   file; `slow` waits for this many seconds before each 64 KiB.
  static func start(fault: String = "  return None") async throws -> SessionServer {
    try await SessionServer(RunningCommand("python3", ["-u", "-c", script(fault)]))
  }

  func log() async throws -> Log {
    guard let url = URL(string: url + "/log") else { throw CommandFailure(description: "the URL is invalid") }
    return try JSONDecoder().decode(Log.self, from: try await URLSession.shared.data(from: url).0)
  }

  private static func script(_ fault: String) -> String {
    """
    import hashlib, http.server, json, sys, threading, time
    def fault(number, start):
    \(fault)
    lock = threading.Lock()
    sessions, state = [], dict(parts=0, tokens=0, queries=0, starts=0)
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def log_message(self, *_): pass
      def reply(self, status, fields={}, body=b""):
        self.send_response_only(status, "Scripted")
        for name, value in fields.items(): self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)
      def drop(self):
        self.close_connection = True
        try: self.connection.shutdown(2)
        except OSError: pass
      def json(self, status, value, fields={}): self.reply(status, fields, json.dumps(value).encode())
      # Microsoft's sessions must not get a token.
      def isAuthorized(self):
        if state["tokens"] == 0 or "/graph/" in self.path or self.headers.get("Authorization") == "Bearer t%d" % state["tokens"]: return True
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.reply(401)
        return False
      def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.endswith("/token"):
          with lock: state["tokens"] += 1
          return self.json(200, dict(access_token="t%d" % state["tokens"], expires_in=3600))
        if not self.isAuthorized(): return
        style = "graph" if "createUploadSession" in self.path else self.path[1:].split("?")[0].split("/")[-1]
        with lock:
          sessions.append(dict( data=bytearray(), received=0, turn=0, done=False, gone=False))
          state["starts"] += 1
        url = "http://%s/%s/%d" % (self.headers["Host"], style, len(sessions))
        self.json(200, dict(uploadUrl=url, expirationDateTime="2100-01-01T00:00:00Z"), dict(Location=url))
      def do_GET(self):
        if self.path == "/log":
          with lock:
            entries = [dict(size=len(s["data"]), received=s["received"], done=s["done"],
                            sha256=hashlib.sha256(s["data"]).hexdigest()) for s in sessions]
            return self.json(200, dict(sessions=entries, **state))
        self.query()
      do_HEAD = do_GET
      def session(self):
        parts = self.path.split("/")
        entry = sessions[int(parts[2]) - 1]
        if entry["gone"]: self.rfile.read(int(self.headers.get("Content-Length") or 0)); self.reply(404); return None, None
        return entry, parts[1]
      # A new request ends the one before it, so that an offset that was stated does not change.
      def turn(self, entry):
        with lock: entry["turn"] += 1; return entry["turn"]
      def query(self):
        if not self.isAuthorized(): return
        entry, style = self.session()
        if not entry: return
        self.turn(entry)
        with lock: state["queries"] += 1
        self.state(entry, style, False)
      def state(self, entry, style, isPart):
        stored = len(entry["data"])
        if entry["done"]: return self.json(200, dict(id="file"))
        if style == "mute" and not isPart: return self.json(200, dict(state="open"))
        if style == "graph":
          return self.json(202 if isPart else 200, dict(expirationDateTime="2030-01-01T00:00:00Z", nextExpectedRanges=["%d-" % stored]))
        self.reply(308, dict(Range="bytes=0-%d" % (stored - 1)) if stored else {})
      # Only the tests end a session so; the next request of the session gets 404.
      def do_DELETE(self):
        entry, _ = self.session()
        if entry: entry["gone"] = not entry["done"]; self.reply(204)
      def do_PUT(self):
        length = int(self.headers.get("Content-Length") or 0)
        unit, _, text = self.headers["Content-Range"].partition(" ")
        span, _, size = text.partition("/")
        if span == "*" and int(size) > 0: return self.query()
        if not self.isAuthorized(): return
        entry, style = self.session()
        if not entry: return
        start = 0 if span == "*" else int(span.split("-")[0])
        with lock: state["parts"] += 1; number = state["parts"]
        kind, value = fault(number, start) or ("", 0)
        turn = self.turn(entry)
        if kind == "gone": entry["gone"] = True
        if kind == "status" or kind == "gone" or start != len(entry["data"]):
          self.rfile.read(length)
          return self.reply(value if kind == "status" else 404 if kind == "gone" else 416)
        rest = length
        while rest > 0:
          if kind == "drop" and length - rest >= value: return self.drop()
          if kind == "slow": time.sleep(value)
          piece = self.rfile.read1(min(rest, 65536))
          if not piece: return self.drop()
          rest -= len(piece)
          with lock:
            entry["received"] += len(piece)
            if turn != entry["turn"]: continue
            entry["data"] += piece
        if kind == "lose": del entry["data"][value:]
        if len(entry["data"]) == int(size): entry["done"] = True
        if kind == "silent": return self.drop()
        self.state(entry, style, True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # A client that was killed.
    server.handle_error = lambda *_: None
    print("port", server.server_port, flush=True)
    server.serve_forever()
    """
  }
}

extension SessionServer: UploadServer {
  func delivered() async throws -> [String] { try await log().sessions.filter(\.done).map(\.sha256) }
  func forget(_ target: String) async throws { try await delete(target, header: "Accept: */*") }

  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }
}
