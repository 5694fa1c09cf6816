import Foundation
import Testing

/// A commit that the server executed, and whose redirect leads to an unrelated resource.
@Suite struct `A redirect of a commit that was executed` {
  private static let targets: [(name: String, fault: String)] = [
    ("503", "status=503"), ("429", "status=429"), ("404", "status=404"), ("410", "status=410"),
    ("401", "status=401"), ("403", "status=403"), ("200", "status=200"),
  ]

  /// One run sends a file for each combination of status and target.
  @Test func `is never judged by its target if it became a GET or no target was reached`()
    async throws
  {
    let other = try await ReceiverProcess.start()
    for target in Self.targets {
      try await other.add(spec: "any:match=/to-\(target.name)-end,\(target.fault)")
    }
    let receiver = try await ReceiverProcess.start()
    let places = Self.targets.map { ("to-\($0.name)-end", "\(other.url)/to-\($0.name)-end") }
    // A label of a host name has at most 63 bytes, so no DNS query is sent for this name.
    let unreachable = [
      ("to-port-end", "http://127.0.0.1:1/x"),
      ("to-name-end", "http://\(String(repeating: "a", count: 64)).test/x"),
      // libcurl accepts this URL, and refuses to convert its host when the request is about to be sent.
      ("to-idn-end", "http://%E2%92%88.example/x"),
    ]
    var files: [String] = []
    func add(_ status: Int, _ place: (name: String, url: String)) async throws {
      let name = "\(status)-\(place.name)"
      files.append(name)
      try await receiver.add(
        spec: "commit:match=case=\(name),response=redirect,status=\(status),location=\(place.url),work=done")
    }
    for status in [301, 302, 303] { for place in places + unreachable { try await add(status, place) } }
    for status in [307, 308] { for place in unreachable { try await add(status, place) } }

    let nodes =
      JobText.uploadIDs(retry: HostileJob.retry, recognized: "")
      .replacing("/commit\n", with: "/commit?case=${file.path}\n")
      + "\n    abandon: { request: { url: \"${vars.api}/uploads/${allocate.id}\" } }"
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    for name in files { try job.write("content of \(name)", to: name) }
    for run in 1...2 {
      let (command, report) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      #expect(report.totals.items.ambiguous == files.count, "\(command.stdout)")
      #expect(report.totals.items.failed == 0)
      let uploads = try await receiver.received().byName
      for name in files {
        #expect(uploads[name]?.commits == 1, "\(name) in run \(run)")
        #expect(uploads[name]?.allocations == 1, "\(name) in run \(run)")
      }
      let commits = receiver.log.filter { $0.hasPrefix("POST /uploads/") && $0.contains("/commit ") }
      #expect(commits.count == files.count, "each was sent once")
      #expect(!receiver.log.contains { $0.hasPrefix("DELETE ") }, "none was released")
    }
  }
  /// The server has received each request, and libcurl cannot convert the host of the redirect.
  @Test func `to a host that cannot be used leaves the outcome of each kind of request unknown`() async throws
  {
    let redirect = ScriptedServer.Response(status: 307, headers: ["Location": "http://%E2%92%88.example/"])
    let paths = ["/pay", "/post", "/probed", "/keyed"]
    let server = try await ScriptedServer.start(
      Dictionary(uniqueKeysWithValues: paths.map { ($0, redirect) }))
    let job = try Workspace(
      """
      version: 1
      name: redirected
      sessions: { s: {} }
      requests:
        pay: { session: s, request: { method: POST, url: "\(server.home)/pay", body: x } }
      uploads:
        post: { session: s, files: { root: files }, transfer: { request: { method: POST, url: "\(server.home)/post" } } }
        probed:
          session: s
          files: { root: files }
          transfer: { request: { url: "\(server.home)/put" } }
          commit:
            request: { method: POST, url: "\(server.home)/probed" }
            probe: { request: { url: "\(server.home)/probe" } }
        keyed:
          session: s
          files: { root: files }
          transfer: { request: { url: "\(server.home)/put" } }
          commit: { request: { method: POST, url: "\(server.home)/keyed" }, idempotency_key: { header: Key } }

      """)
    try job.write("a", to: "a")
    for round in 1...2 {
      let (command, report) = try await job.run()
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      let states = ["pay", "post", "probed", "keyed"].map { report.node($0)?.state }
      #expect(states == ["ambiguous", "ambiguous", "succeeded", "ambiguous"], "\(command.stdout)")
      // Each round sends a single request once.
      for path in paths {
        #expect(server.lines.count { $0.hasSuffix(path) } == (path == "/pay" ? round : 1), "\(path)")
      }
    }
    #expect(server.lines.contains { $0.hasSuffix("/probe") })
  }

  /// The server has received the file, and another process appends to it before ferry sends it to the target.
  @Test func `of a file that has changed meanwhile leaves the outcome unknown`() async throws {
    let job = try Workspace("")
    // A smaller file is sent to the target from memory.
    try job.write(String(repeating: "a", count: 100_000), to: "a")
    let server = try await PythonServer(
      """
      import http.server, sys
      class Handler(http.server.BaseHTTPRequestHandler):
          protocol_version = "HTTP/1.1"
          def do_POST(self):
              length = int(self.headers["Content-Length"])
              # ferry does not send all of the changed file.
              if len(self.rfile.read(length)) < length: return
              with open(sys.argv[1], "ab") as file: file.write(b"!")
              print("received", self.path)
              self.send_response(307)
              self.send_header("Location", "/target")
              self.send_header("Content-Length", "0")
              self.end_headers()
          def log_message(self, *arguments): pass
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port)
      server.serve_forever()
      """, [job.folder.path("files/a")])
    try job.write(
      manifest: """
        version: 1
        name: redirected
        sessions: { s: {} }
        uploads:
          u: { session: s, files: { root: files }, transfer: { request: { method: POST, url: "\(server.url)/first" } } }

        """)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(
      report.item("a")?.state == "ambiguous" && report.item("a")?.attempts.map(\.code) == ["source_changed"])
    #expect(server.stdout.components(separatedBy: "received").count == 2, "\(server.stdout)")
  }
}
