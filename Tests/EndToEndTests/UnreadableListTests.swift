import Foundation
import Testing

/// For example, a server has sent an error page instead of the list.
@Suite struct `A list that a server determines and that cannot be read` {
  private static let page = "<html>Log in</html>"

  /// A manifest with an upload that does not depend on the list of `photos`.
  private func job(_ server: ScriptedServer, _ nodes: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: gallery
      sessions: { s: {} }
      uploads:
        honest:
          session: s
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.home)/up/${file.name}" } }

      """ + nodes)
    try job.write("1", to: "1")
    return job
  }

  private static func fetch(_ server: ScriptedServer) -> String {
    """
    fetches:
      cat: { session: s, request: { url: "\(server.home)/catalog" }, save_to: "sub//catalog" }

    """
  }

  private static func photos(_ server: ScriptedServer, _ more: String = "") -> String {
    """
      photos:
        session: s\(more)
        items: { file: sub/catalog, json: /files, url: "\(server.home)/photo", save_to: "photos/${item.name}" }

    """
  }

  @Test func `blocks only its batch, even if the batch does not need the fetch that stores the list`()
    async throws
  {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200, body: Self.page,
        next: [
          .init(status: 200, body: Self.page), .init(status: 200, body: Self.page),
          .init(status: 200, body: "{\"files\": [{\"name\": \"a\"}]}"),
        ])
    ])
    let job = try job(server, Self.fetch(server) + "downloads:\n" + Self.photos(server))
    try job.folder.write(Data("{\"files\": []}".utf8), to: "sub/catalog")
    #expect(try await job.run().command.status == 0)
    for number in 2...3 {
      try job.write("\(number)", to: "\(number)")
      let (command, report) = try await job.run()
      #expect(command.status == 2 && !report.run.roundClosed, "\(command.stdout)\(command.stderr)")
      #expect(command.stderr.contains("it is not JSON"), "\(command.stderr)")
      #expect(
        command.stderr.contains("help: fetch 'cat' stores this list. Add 'cat' to the 'needs' of 'photos'"),
        "\(command.stderr)")
      #expect(report.node("honest")?.state == "succeeded")
      #expect(server.lines.filter { $0.hasSuffix("/catalog") }.count == number)
    }
    #expect(server.lines.filter { $0.contains("/up/") }.count == 3)
    // This run stores a list. Its batch may have read the file before.
    _ = try await job.run()
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.run.roundClosed, "\(command.stdout)\(command.stderr)")
    #expect(job.folder.text("photos/a") == "{}")
  }

  @Test func `blocks only its batch if the item of another batch is the list`() async throws {
    let server = try await ScriptedServer.start(["/catalog": .init(status: 200, body: Self.page)])
    let job = try job(
      server,
      """
      downloads:
        lists: { session: s, items: [{ url: "\(server.home)/catalog", save_to: sub/catalog }] }

      """ + Self.photos(server))
    for number in 1...3 {
      try job.write("\(number)", to: "\(number)")
      let (command, report) = try await job.run()
      #expect(command.status == 2 && report.node("honest")?.state == "succeeded", "\(command.stderr)")
    }
    #expect(server.lines.filter { $0.contains("/up/") }.count == 3)
  }

  @Test func `blocks only its batch in shards`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200, body: Self.page, next: [.init(status: 200, body: "{\"files\": [{\"name\": \"a\"}]}")])
    ])
    let job = try job(server, Self.fetch(server) + "downloads:\n" + Self.photos(server, "\n    needs: [cat]"))
    for number in 2...9 { try job.write("\(number)", to: "\(number)") }
    func run(_ part: String, exits status: Int32) async throws {
      let command = try await job.ferry("run", "job.yaml", "--shard", part)
      #expect(command.status == status, "\(part): \(command.stdout)\(command.stderr)")
    }
    try await run("setup/2", exits: 0)
    for part in ["1/2", "2/2"] { try await run(part, exits: 2) }
    #expect(server.lines.filter { $0.contains("/up/") }.count == 9)
    for part in ["setup/2", "1/2", "2/2", "finish/2"] { try await run(part, exits: 0) }
    #expect(job.folder.text("photos/a") == "{}")
    #expect(server.lines.filter { $0.contains("/up/") }.count == 9)
  }

  /// The user has decided that the POST was executed, so it is not sent again in the round.
  @Test func `does not make a POST be sent again that was resolved as done`() async throws {
    let server = try await PythonServer(
      """
      import http.server
      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def do_POST(self):
              self.rfile.read(int(self.headers["Content-Length"]))
              print("export", flush=True)
              self.close_connection = True
          def log_message(self, *arguments): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """)
    let job = try Workspace(
      """
      version: 1
      name: gallery
      sessions: { s: {} }
      fetches:
        cat: { session: s, request: { method: POST, url: "\(server.url)/", body: x }, save_to: catalog }
      downloads:
        photos: { session: s, items: { from: cat, json: "", url: "\(server.url)/p", save_to: "p/${item.name}" } }
      uploads:
        # It keeps the round open.
        u: { session: s, files: { root: files }, transfer: { request: { url: "http://127.0.0.1:1/" } } }

      """)
    try job.write("a", to: "a")
    #expect(try await job.run().command.status == 1)
    let resolved = try await job.ferry("resolve", "cat", "done", "--manifest", "job.yaml")
    #expect(resolved.status == 0, "\(resolved.stderr)")
    let (command, _) = try await job.run()
    #expect(command.status == 2, "\(command.stdout)\(command.stderr)")
    #expect(command.stderr.contains("fetch 'cat' is not sent again in this round"), "\(command.stderr)")
    #expect(server.stdout.components(separatedBy: "export").count == 2, "\(server.stdout)")
  }
}
