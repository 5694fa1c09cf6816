import Foundation
import Testing

/// `decompress: true` of a request, with bodies that Python's zlib has compressed.
@Suite struct `A compressed response` {
  /// Sends a JSON document in the form that the path names, if the request accepts gzip and deflate.
  private static let server = """
    import gzip, http.server, json, sys, zlib
    text = json.dumps({"id": "stored", "text": "a" * 5000}).encode()
    def raw(data):
      packer = zlib.compressobj(wbits=-15)
      return packer.compress(data) + packer.flush()
    half = len(text) // 2
    bodies = {
      "/gzip": ("gzip", gzip.compress(text)), "/x-gzip": ("x-gzip", gzip.compress(text)),
      "/deflate": ("deflate", zlib.compress(text)), "/raw-deflate": ("deflate", raw(text)),
      "/twice": ("deflate, gzip", gzip.compress(zlib.compress(text))), "/plain": ("identity", text),
      "/members": ("gzip", gzip.compress(text[:half]) + gzip.compress(text[half:])),
      "/cut": ("gzip", gzip.compress(text)[:-9]), "/not": ("gzip", text), "/empty": ("gzip", b""),
      "/trailing": ("gzip", gzip.compress(text) + b"more"), "/unknown": ("br", b"?"),
    }
    # The second bomb is only 200 bytes long.
    bomb = gzip.compress(b" " * 30_000_000)
    bodies |= {"/bomb": ("gzip", bomb), "/bombs": ("gzip, gzip", gzip.compress(bomb))}
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def do_GET(self):
        coding, body = bodies[self.path]
        if self.headers.get("Accept-Encoding") != "gzip, deflate": coding, body = "identity", b"{}"
        self.send_response(200)
        self.send_header("Content-Encoding", coding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
      def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("port", server.server_port, flush=True)
    server.serve_forever()
    """

  /// The outcome of a request for each path: the failure code, or an empty text if the request succeeded.
  private func outcomes(_ paths: [String], _ settings: String) async throws -> [String] {
    let server = try await PythonServer(Self.server)
    let requests = paths.map {
      "  \($0): { session: s, request: { url: \"\(server.url)/\($0)\" }, retry: { limit: 0 }, \(settings) }"
    }
    let job = try Workspace(
      "version: 1\nname: packed\nsessions: { s: {} }\nrequests:\n" + requests.joined(separator: "\n") + "\n")
    let (_, report) = try await job.run()
    return try paths.map { path in
      let node = try #require(report.node(path))
      return node.state == "succeeded" ? "" : node.reason?.code ?? "unknown"
    }
  }

  @Test func `is decompressed before it is read`() async throws {
    let paths = ["gzip", "x-gzip", "deflate", "raw-deflate", "twice", "members", "plain"]
    let settings = "decompress: true, expect: { json: { /id: stored } }, capture: { text: { json: /text } }"
    #expect(try await outcomes(paths, settings) == paths.map { _ in "" })
  }

  @Test func `is not requested without decompress`() async throws {
    #expect(try await outcomes(["gzip"], "expect: { json: { /id: stored } }") == ["unexpected_answer"])
  }

  @Test(.timeLimit(.minutes(1))) func `that is damaged, or much larger than it seems, fails its request`()
    async throws
  {
    let settings = "decompress: true, expect: { json: { /id: stored } }"
    #expect(
      try await outcomes(["cut", "not", "trailing", "unknown", "empty", "bomb", "bombs"], settings) == [
        "malformed_answer", "malformed_answer", "malformed_answer", "malformed_answer", "unexpected_answer",
        "answer_too_large", "answer_too_large",
      ])
    // A body that is not read is not decompressed.
    #expect(try await outcomes(["bomb", "not"], "decompress: true") == ["", ""])
  }
}
