import Foundation
import Testing

/// A transfer that must not be repeated, and whose response was lost. Its commit was not sent.
@Suite struct `A lost transfer before its commit` {
  /// Executes each request, and loses the response to the transfer.
  private static let script = """
    import http.server
    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"
      def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        print("request", self.path, flush=True)
        if self.path == "/file":
          self.close_connection = True
          return
        # The first commit to this path is refused.
        self.send_response_only(403 if self.path == "/refused" and not refused else 200)
        if self.path == "/refused": refused.append(1)
        self.send_header("Content-Length", "0")
        self.end_headers()
      def log_message(self, *_): pass
    refused = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("port", server.server_port, flush=True)
    server.serve_forever()
    """

  private let server: PythonServer
  private let job: Workspace

  init() async throws {
    server = try await PythonServer(Self.script)
    job = try Workspace("")
    try job.write("content", to: "f")
  }

  private func write(_ name: String = "file", capture: String = "", commit path: String?) throws {
    let commit = path.map { "commit: { request: { method: POST, url: \"\(server.url)/\($0)\" } }" } ?? ""
    try job.write(
      manifest: """
        version: 1
        name: lost
        sessions: { s: { kind: background } }
        uploads:
          u:
            session: s
            files: { root: files }
            transfer: { protocol: post, \(capture)request: { url: "\(server.url)/\(name)" } }
            \(commit)
            after: delete

        """)
  }

  private func resolve(_ decision: String) async throws -> String {
    let command = try await job.ferry("resolve", "u/f", decision, "--session", "lost.s")
    #expect(command.status == 0, "\(command.stderr)")
    return command.stdout
  }

  private func run(_ status: Int32) async throws {
    let command = try await job.run().command
    #expect(command.status == status, "\(command.stdout)\(command.stderr)")
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  private var requests: [String] {
    server.stdout.split(separator: "\n").filter { $0.hasPrefix("request ") }.map { String($0.dropFirst(8)) }
  }
  private var hasFile: Bool { FileManager.default.fileExists(atPath: job.folder.path("files/f")) }

  @Test func `is resolved by a decision about the transfer, or about both`() async throws {
    try write(commit: "commit")
    try await run(1)
    let status = try await job.ferry("status", "lost.s").stdout
    #expect(status.contains("if it was executed: ferry resolve u/f done "), "\(status)")
    #expect(status.contains("if its commit was executed too: ferry resolve u/f delivered "), "\(status)")
  }

  @Test func `is committed by the next run if it was executed`() async throws {
    try write(commit: "commit")
    try await run(1)
    #expect(try await resolve("done") == "u/f: transferred; the next run will send its commit\n")
    #expect(hasFile)
    try await run(0)
    #expect(requests == ["/file", "/commit"] && !hasFile)
    try await run(0)
    #expect(requests.count == 2)
  }

  @Test func `is not committed again if its commit was executed too`() async throws {
    try write(commit: "commit")
    try await run(1)
    #expect(try await resolve("delivered") == "u/f: done\n")
    try await run(0)
    #expect(requests == ["/file"] && !hasFile)
  }

  @Test func `is delivered without a commit if the manifest no longer has one`() async throws {
    try write(commit: "commit")
    try await run(1)
    _ = try await resolve("done")
    try write(commit: nil)
    try await run(0)
    #expect(requests == ["/file"] && !hasFile)
  }

  /// The response to the transfer is not lost here.
  @Test(arguments: ["retry", "done"])
  func `and one that succeeded are not repeated if the commit is refused`(_ decision: String) async throws {
    try write("kept", commit: "refused")
    try await run(1)
    try await run(1)
    #expect(requests == ["/kept", "/refused"])
    let status = try await job.ferry("status", "lost.s").stdout
    #expect(status.contains("f: its commit to \(server.url) failed by "), "\(status)")
    _ = try await resolve(decision)
    try await run(0)
    #expect(requests == ["/kept", "/refused"] + (decision == "retry" ? ["/refused"] : []) && !hasFile)
  }

  @Test func `is done at once if the upload has no commit`() async throws {
    try write(commit: nil)
    try await run(1)
    #expect(try await !job.ferry("status", "lost.s").stdout.contains("delivered "))
    #expect(try await resolve("done") == "u/f: done\n")
    try await run(0)
    #expect(requests == ["/file"] && !hasFile)
  }

  /// Only the lost response had the value with which the commit refers to the file.
  @Test func `stays ambiguous if its commit cannot be sent`() async throws {
    try write(capture: "capture: { id: { header: X-Id } }, ", commit: "commit/${transfer.id}")
    try await run(1)
    _ = try await resolve("done")
    try await run(1)
    #expect(requests == ["/file"] && hasFile)
    #expect(try await resolve("delivered") == "u/f: done\n")
    try await run(0)
    #expect(requests == ["/file"] && !hasFile)
  }
}
