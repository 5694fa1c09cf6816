import Foundation
import Testing

/// The limits of a session and of budgets apply to downloads as they do to uploads.
@Suite struct `A limit of downloads` {
  /// The server gets all bodies in one argument.
  private static let size = 20_000

  private static func server(_ names: [String]) async throws -> ScriptedServer {
    let body = String(repeating: "x", count: size)
    return try await ScriptedServer.start(
      Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", .init(status: 200, body: body)) }))
  }

  private func job(_ items: String, limits: String = "", session: String = "{}") throws -> Workspace {
    try Workspace(Self.manifest(items, limits: limits, session: session))
  }

  private static func manifest(_ items: String, limits: String, session: String = "{}") -> String {
    """
    version: 1
    name: limits
    conditions: { network: wired }
    \(limits)
    sessions: { quick: \(session) }
    downloads:
      files:
        session: quick
        retry: { limit: 1, initial: 10ms }
        items:
    \(items)

    """
  }

  private static func items(_ server: ScriptedServer, _ names: [String], _ more: String = "") -> String {
    names.map { "      - { url: \"\(server.home)/\($0)\", save_to: out/\($0)\(more) }" }
      .joined(separator: "\n")
  }

  private func stored(_ job: Workspace) -> [String] {
    // The folder might not exist.
    ((try? FileManager.default.contentsOfDirectory(atPath: job.folder.path("out"))) ?? []).sorted()
  }

  @Test func `by a budget leaves the items that do not fit to a later run`() async throws {
    let names = ["a", "b", "c", "d"]
    let server = try await Self.server(names)
    let job = try job(
      Self.items(server, names, ", size: \(Self.size)B"),
      limits: "budgets: { any: { limit: 50kB, per: month, cutoff: hard, binds: all } }")
    let (command, report) = try await job.run()
    #expect(command.status == 8, "\(command.stdout)\(command.stderr)")
    #expect(stored(job).count == 2)
    #expect(report.node("files")?.reason?.code == "budget")
    #expect(report.run.deferredUntil != nil)
    let used = try #require(report.run.budgets?.first?.usedBytesAfter)
    #expect((40_000...50_000).contains(used), "\(used)")
  }

  @Test func `by a hard budget is kept by items whose size the list does not state`() async throws {
    let names = ["a", "b", "c", "d"]
    let server = try await Self.server(names)
    let job = try job(
      Self.items(server, names),
      limits: "budgets: { any: { limit: 50kB, per: month, cutoff: hard, binds: all } }")
    let (command, report) = try await job.run()
    #expect(command.status == 8, "\(command.stdout)\(command.stderr)")
    let used = try #require(report.run.budgets?.first?.usedBytesAfter)
    // A response that exceeds the limit is ended after at most 16 KiB; header fields have no limit.
    #expect(stored(job).count == 2 && used <= 50_000 + 16_384 + 4_096, "\(stored(job)), \(used)")
  }

  /// The list states a size of 10 bytes, but the server sends two redirects of 45 kB, or an error page of 100 kB.
  @Test(arguments: [(302, 45_000), (503, 100_000)])
  func `by a hard budget is kept by an item whose size the list understates`(
    _ status: Int, _ size: Int
  ) async throws {
    let body = String(repeating: "x", count: size)
    let paths = status == 302 ? ["0", "1"] : ["0"]
    var responses = [String: ScriptedServer.Response]()
    for (path, next) in zip(paths, ["1", "2"]) {
      responses["/\(path)"] = .init(status: status, headers: ["Location": "{home}/\(next)"], body: body)
    }
    responses["/small"] = .init(status: 200, body: "small")
    let server = try await ScriptedServer.start(responses)
    let job = try job(
      Self.items(server, ["0"], ", size: 10B") + "\n" + Self.items(server, ["small"], ", size: 5B"),
      limits: "budgets: { any: { limit: 2MB, per: month, cutoff: hard, binds: all } }")
    let (command, report) = try await job.run()
    #expect(command.status == 1 && stored(job) == ["small"], "\(command.stdout)\(command.stderr)")
    #expect(command.stdout.contains("larger than 64 KiB"), "\(command.stdout)")
    let wanted = (paths + ["small"]).map { "home GET /\($0)" }
    #expect(server.lines.sorted() == wanted)
    #expect(report.totals.items.failed == 1)
  }

  /// A server announces more than the budget allows, and sends nothing. There are more such items than a batch has in progress.
  /// The first one has the whole window.
  @Test func `by a hard budget that some items exceed does not prevent the others`() async throws {
    let names = ["a", "b", "c"]
    let server = try await ScriptedServer.start(
      Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", .init(status: 200, body: "small")) }))
    let large = try await PythonServer(
      """
      import socket
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1], flush=True)
      kept = []
      while True:
        connection, _ = listener.accept()
        kept.append(connection)
        connection.recv(65536)
        print("requested", flush=True)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000000000\\r\\n\\r\\n")
      """)
    let job = try job(
      (0..<14).map { "      - { url: \"\(large.url)/\($0)\", save_to: out/0\($0) }\n" }.joined()
        + Self.items(server, names),
      limits: "budgets: { any: { limit: 50kB, per: month, cutoff: hard, binds: all } }")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(stored(job) == names && report.run.deferredUntil != nil, "\(stored(job))\(command.stdout)")
    #expect(large.stdout.components(separatedBy: "requested").count == 15)
  }

  /// A server sends an endless response without a length. The next window is that of a larger budget.
  @Test func `by a hard budget fails an item that exceeds all of it, so that it does not use up each window`()
    async throws
  {
    let names = ["a", "b"]
    let server = try await ScriptedServer.start(
      Dictionary(uniqueKeysWithValues: names.map { ("/\($0)", .init(status: 200, body: "small")) }))
    let endless = try await PythonServer(
      """
      import http.server
      class Endless(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
          print("requested", flush=True)
          self.send_response(200)
          self.send_header("Transfer-Encoding", "chunked")
          self.end_headers()
          try:
            while True:
              self.wfile.write(b"4000\\r\\n" + b"x" * 0x4000 + b"\\r\\n")
          except OSError:
            self.close_connection = True
        def log_message(self, *arguments):
          pass
      listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
      print("port", listener.server_address[1], flush=True)
      listener.serve_forever()
      """)
    let items = "      - { url: \"\(endless.url)/\", save_to: out/0 }\n" + Self.items(server, names)
    func limits(_ limit: String) -> String {
      "budgets: { any: { limit: \(limit), per: month, cutoff: hard, binds: all } }"
    }
    let job = try job(items, limits: limits("200kB"))
    let first = try await job.run()
    #expect(first.report.item("out/0")?.reason?.code == "budget_never", "\(first.command.stdout)")
    #expect(stored(job).isEmpty && !first.report.run.roundClosed)
    // The budget also counts the bytes that the system has received and that ferry has not read.
    try job.write(manifest: Self.manifest(items, limits: limits("20MB")))
    let second = try await job.run()
    #expect(stored(job) == names && second.report.run.roundClosed, "\(second.command.stdout)")
    #expect(endless.stdout.components(separatedBy: "requested").count == 2)
  }

  @Test func `by the connections of one server does not delay those from another`() async throws {
    let names = ["a", "b", "c"]
    let server = try await Self.server(names)
    let dead = (0..<3).map { "      - { url: \"http://127.0.0.1:1/\($0)\", save_to: out/dead\($0) }" }
    let job = try job(
      dead.joined(separator: "\n") + "\n" + Self.items(server, names),
      session: "{ max_connections_per_host: 1 }")
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(stored(job) == names, "\(command.stdout)")
    #expect(report.totals.items.done == 3)
  }

  @Test func `is that an element without an HTTP URL is reported, and counted by status`() async throws {
    let server = try await Self.server(["a"])
    let job = try Workspace(
      """
      version: 1
      name: limits
      sessions: { quick: {} }
      downloads:
        files: { session: quick, items: { file: urls.txt, save_to: "out/${item.name}" } }
      """)
    try job.folder.write(
      Data("\(server.home)/a\nftp://files.example.com/b\nnot a URL\nhttps:///c\n".utf8), to: "urls.txt")
    let status = try await job.ferry("status", "--manifest", "job.yaml")
    #expect(status.stdout.contains("1 to send, 3 not listed"), "\(status.stdout)\(status.stderr)")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(stored(job) == ["a"])
    let problems = try #require(report.node("files")?.problems)
    #expect(problems.map(\.path) == ["line 2", "line 3", "line 4"])
    #expect(
      problems.allSatisfy { $0.message == "its URL does not begin with http:// or https:// and a host" })
    #expect(
      command.stdout.contains("3 × not listed: its URL does not begin with http:// or https:// and a host"),
      "\(command.stdout)")
  }
}
