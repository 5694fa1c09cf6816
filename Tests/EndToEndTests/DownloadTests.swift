import Foundation
import Testing

@Suite struct `A download batch` {
  private static func catalog(_ elements: [String]) -> String {
    #"{"files": ["# + elements.joined(separator: ", ") + "]}"
  }

  private static func element(_ name: String, _ more: String = "") -> String {
    #"{"name": "\#(name)", "url": "{home}/files/\#(name)"\#(more)}"#
  }

  private func job(_ server: ScriptedServer, more: String = "") throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: gallery
      sessions: { quick: { max_connections_per_host: 2 } }
      fetches:
        catalog:
          session: quick
          request: { url: "\(server.home)/catalog" }
          save_to: catalog.json
      downloads:
        photos:
          session: quick
          items: { from: catalog, json: /files, save_to: "photos/${item.name}", size: "${item.size}", sha256: "${item.sha256}" }
          retry: { limit: 1, initial: 10ms }
          \(more)

      """)
  }

  private func requested(_ server: ScriptedServer) -> [String] {
    server.lines.filter { $0.contains("GET /files") || $0.hasPrefix("away") }.sorted()
  }

  /// Another server of the list accepts connections, but never responds.
  @Test func `is not delayed by a silent server`() async throws {
    let good = try await ScriptedServer.start([:])
    let silent = try await PythonServer(
      """
      import socket
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1], flush=True)
      kept = []
      while True: kept.append(listener.accept())
      """)
    let job = try Workspace(
      """
      version: 1
      name: servers
      sessions: { quick: { max_connections_per_host: 2 } }
      downloads: { all: { session: quick, items: { file: urls, save_to: "out/${item.name}" } } }

      """)
    let urls =
      (100..<180).map { "\(silent.url)/a\($0)" } + (0..<10).map { "\(good.home)/z\($0)" }
    try job.folder.write(Data((urls.joined(separator: "\n") + "\n").utf8), to: "urls")
    let run = try await job.ferry("run", "job.yaml", "--max-duration", "8s")
    #expect(run.status == 10, "\(run.stdout)\(run.stderr)")
    let stored = try FileManager.default.contentsOfDirectory(atPath: job.folder.path("out"))
    #expect(stored.filter { $0.hasPrefix("z") }.count == 10, "\(stored)")
  }

  @Test func `stores the files of a fetched list once, and again when the list changes or a file is missing`()
    async throws
  {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200,
        body: Self.catalog([Self.element("a", #", "size": 3"#), Self.element("b/c"), Self.element("d")])),
      "/files/a": .init(status: 200, body: "one"), "/files/b/c": .init(status: 200, body: "three"),
      "/files/d": .init(status: 200, body: "four"),
    ])
    let job = try job(server)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(job.folder.text("photos/a") == "one" && job.folder.text("photos/b/c") == "three")
    #expect(requested(server) == ["a", "b/c", "d"].map { "home GET /files/\($0)" })
    #expect(report.totals.items.done == 3 && report.run.roundClosed)
    #expect(report.totals.bytes.useful >= 12)
    #expect(report.node("photos")?.direction == "received")

    // Nothing has changed.
    let (_, second) = try await job.run()
    #expect(second.totals.items.unchanged == 3 && requested(server).count == 3)

    // A file is missing, and another does not have the size in the list.
    try FileManager.default.removeItem(atPath: job.folder.path("photos/d"))
    try job.folder.write(Data("longer".utf8), to: "photos/a")
    let (_, third) = try await job.run()
    #expect(third.totals.items.done == 2 && third.totals.items.unchanged == 1)
    #expect(job.folder.text("photos/a") == "one" && job.folder.text("photos/d") == "four")
  }

  @Test func `downloads what a list adds or changes, and nothing that it removes`() async throws {
    let server = try await ScriptedServer.start([
      "/files/1": .init(status: 200, body: "1"), "/files/2": .init(status: 200, body: "2"),
      "/files/3": .init(status: 200, body: "3"),
    ])
    let job = try Workspace(
      """
      version: 1
      name: list
      sessions: { quick: {} }
      downloads:
        all:
          session: quick
          items: { file: list.json, json: "", url: "\(server.home)/files/${item.id}", save_to: "out/${item.name}" }
      """)
    func write(_ text: String) throws { try job.folder.write(Data(text.utf8), to: "list.json") }
    try write(#"[{"name": "a", "id": 1}, {"name": "b", "id": 2}]"#)
    #expect(try await job.run().command.status == 0)
    try write(#"[{"name": "b", "id": 1}, {"name": "c", "id": 3}]"#)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == 2)
    #expect(
      ["a", "b", "c"].map { job.folder.text("out/\($0)") } == ["1", "1", "3"], "a removed item remains")
  }

  /// A response that ends early and leaves a part.
  private static let cut =
    "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nETag: \"v1\"\r\n\r\n" + String(repeating: "x", count: 1000)

  private func partJob(_ server: RawResponder, kind: String) throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: parts
      sessions: { quick: { kind: \(kind) } }
      fetches:
        large:
          session: quick
          interval: \(kind == "ephemeral" ? "every_run" : "never")
          request: { url: "\(server.url)/a" }
          save_to: photos/large
          retry: { limit: 0 }
      downloads:
        photos:
          session: quick
          items: { file: list.json, json: /files, save_to: "photos/${item.name}" }
          retry: { limit: 0 }

      """)
  }

  private func write(_ name: String, of server: RawResponder, to job: Workspace) throws {
    let list = #"{"files": [{"name": "\#(name)", "url": "\#(server.url)/\#(name)"}]}"#
    try job.folder.write(Data(list.utf8), to: "list.json")
  }

  /// Otherwise, the list could fill the disk with other names in each run.
  @Test(arguments: [false, true])
  func `keeps no part of an item that its list no longer contains`(_ hasFailed: Bool) async throws {
    let server = try await RawResponder.start([
      "/a": [Self.cut, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"]
    ])
    let job = try partJob(server, kind: "background")
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: job.folder.path("photos")).sorted()
    }
    try write("a", of: server, to: job)
    #expect(try await job.run().command.status == 5)
    let part = try names()
    #expect(part.count == 1 && part[0].hasPrefix(".a.ferry-kept-"))
    if hasFailed {
      #expect(try await job.run().command.status == 1)
      #expect(try names() == part)
    }
    try write("b", of: server, to: job)
    let (command, report) = try await job.run()
    #expect(report.item("photos/b") != nil || report.totals.items.done == 1, "\(command.stdout)")
    #expect(try names() == ["b"])
  }

  @Test func `of an ephemeral session leaves no part`() async throws {
    let server = try await RawResponder.start(["/a": [Self.cut]])
    let job = try partJob(server, kind: "ephemeral")
    try write("a", of: server, to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(server.count("/a") == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("photos")) == [])
  }

  @Test func `rejects documents that differ from the list, and keeps the old file`() async throws {
    let digest = String(repeating: "0", count: 64)
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200,
        body: Self.catalog([
          Self.element("short", #", "size": 4"#), Self.element("long", #", "size": 2"#),
          Self.element("other", #", "sha256": "\#(digest)""#), Self.element("good", #", "size": 3"#),
          Self.element("../evil"), Self.element("gone"),
        ])),
      "/files/short": .init(status: 200, body: "abc"), "/files/long": .init(status: 200, body: "abc"),
      "/files/other": .init(status: 200, body: "abc"), "/files/good": .init(status: 200, body: "abc"),
      "/files/gone": .init(status: 404),
    ])
    let job = try job(server)
    try job.folder.write(Data("old".utf8), to: "photos/short")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 5)
    #expect(report.node("photos")?.problems?.map(\.path) == ["/files/4"])
    #expect(
      report.items.contains {
        $0.reason?.message.hasSuffix("is larger than the size in the list, 2 bytes") ?? false
      })
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: job.folder.path("photos")).sorted() == [
        "good", "short",
      ])
    #expect(job.folder.text("photos/short") == "old")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("evil")))
  }

  @Test(arguments: [nil, "interval: { minimum: 1h }"] as [String?])
  func `fetches a list again that cannot be read`(_ interval: String?) async throws {
    let fresh = ["Cache-Control": "max-age=31536000"]
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200, headers: fresh, body: "<html>Log in</html>",
        next: [
          .init(status: 200, headers: fresh, body: "{}"),
          .init(status: 200, body: Self.catalog([Self.element("a")])),
        ]),
      "/files/a": .init(status: 200, body: "A"),
    ])
    let job = try job(server)
    if let interval {
      try job.write(
        manifest: job.folder.text("job.yaml").replacing(
          "save_to: catalog.json", with: "save_to: catalog.json\n    \(interval)"))
    }
    for reason in ["it is not JSON", "the value at '/files' is not an array"] {
      let (command, report) = try await job.run()
      #expect(command.status == 2 && command.stderr.contains(reason), "\(command.stderr)")
      #expect(!report.run.roundClosed)
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.run.roundClosed, "\(command.stdout)\(command.stderr)")
    #expect(job.folder.text("photos/a") == "A")
    #expect(server.lines.filter { $0.hasSuffix("/catalog") }.count == 3)
  }

  @Test func `is divided into shards`() async throws {
    let names = (1...8).map { "n\($0)" }
    let server = try await ScriptedServer.start([
      "/catalog": .init(status: 200, body: Self.catalog(names.map { Self.element($0) }))
    ])
    let job = try job(server)
    let early = try await job.ferry("plan", "job.yaml", "--shards", "2")
    #expect(
      early.status == 2 && early.stderr.contains("run the fetch first, in another state folder"),
      "\(early.stderr)")
    let setup = try await job.ferry("run", "job.yaml", "--shard", "setup/2")
    #expect(setup.status == 0 && requested(server) == [], "\(setup.stderr)")
    let plan = try await job.ferry("plan", "job.yaml", "--shards", "2")
    #expect(plan.stdout.contains("before the shards: catalog\n"), "\(plan.stdout)\(plan.stderr)")
    for part in ["1/2", "2/2", "finish/2"] {
      let command = try await job.ferry("run", "job.yaml", "--shard", part)
      #expect(command.status == 0, "\(part): \(command.stdout)\(command.stderr)")
      if part == "1/2" { #expect((1..<8).contains(requested(server).count), "\(requested(server))") }
    }
    #expect(requested(server) == names.map { "home GET /files/\($0)" })
  }

  @Test func `is fetched again by setup if the shards cannot read the list`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200, headers: ["Cache-Control": "max-age=31536000"], body: "<html>Log in</html>",
        next: [.init(status: 200, body: Self.catalog([Self.element("a"), Self.element("b")]))])
    ])
    let job = try job(server)
    #expect(try await job.ferry("run", "job.yaml", "--shard", "setup/2").status == 0)
    for part in ["1/2", "2/2"] {
      let shard = try await job.ferry("run", "job.yaml", "--shard", part)
      #expect(shard.status == 2 && shard.stderr.contains("it is not JSON"), "\(part): \(shard.stderr)")
      #expect(shard.stderr.contains("help: fetch the list again: ferry run"), "\(shard.stderr)")
    }
    for part in ["setup/2", "setup/2", "1/2", "2/2", "finish/2"] {
      let command = try await job.ferry("run", "job.yaml", "--shard", part)
      #expect(command.status == 0, "\(part): \(command.stdout)\(command.stderr)")
    }
    #expect(requested(server) == ["home GET /files/a", "home GET /files/b"])
    #expect(server.lines.filter { $0.hasSuffix("/catalog") }.count == 2)
  }

  @Test func `does not follow links below its folder`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(status: 200, body: Self.catalog([Self.element("sub/a"), Self.element("b")])),
      "/files/sub/a": .init(status: 200, body: "A"), "/files/b": .init(status: 200, body: "B"),
    ])
    let job = try job(server)
    _ = try job.folder.makeFolder("elsewhere")
    _ = try job.folder.makeFolder("photos")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("photos/sub"), withDestinationPath: "../elsewhere")
    try job.folder.write(Data("target".utf8), to: "target")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("photos/b"), withDestinationPath: "../target")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("elsewhere")) == [])
    // The link itself was replaced.
    #expect(job.folder.text("target") == "target" && job.folder.text("photos/b") == "B")
  }

  @Test func `creates the folders of a file only when the file is stored`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200, body: Self.catalog([Self.element("missing/a/b/c"), Self.element("there/d/e")])),
      "/files/missing/a/b/c": .init(status: 404), "/files/there/d/e": .init(status: 200, body: "one"),
    ])
    let job = try job(server)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(report.totals.items.done == 1 && job.folder.text("photos/there/d/e") == "one")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("photos/missing")))
    #expect(server.lines.contains { $0.contains("/files/missing/a/b/c") })
  }

  @Test func `requests only servers that the manifest names or allows`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(
        status: 200,
        body: Self.catalog([
          Self.element("a"), Self.element("b"), #"{"name": "c", "url": "{away}/files/c"}"#,
          #"{"name": "d", "url": "http://127.0.0.1:9/d"}"#,
        ])),
      "/files/a": .init(status: 200, body: "A"),
      "/files/b": .init(status: 302, headers: ["Location": "{away}/moved"]),
      "/files/c": .init(status: 200, body: "C"),
    ])
    let job = try job(server)
    let session = "max_connections_per_host: 2"
    let text = job.folder.text("job.yaml")
    try job.write(
      manifest: text.replacing(session, with: "\(session), redirects: { origins: [] }"))
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 3)
    #expect(
      report.items.filter { $0.reason?.code == "redirect" }.map(\.path).sorted() == [
        "photos/b", "photos/c", "photos/d",
      ])
    #expect(requested(server) == ["home GET /files/a", "home GET /files/b"])

    try job.write(
      manifest: text.replacing(session, with: "\(session), redirects: { origins: [\(server.away)] }"))
    let (_, second) = try await job.run()
    #expect(second.totals.items.done == 2 && second.totals.items.failed == 1, "\(second.items)")
    #expect(job.folder.text("photos/b") == "{}" && job.folder.text("photos/c") == "C")
  }

  @Test func `sends the token only to servers that the manifest names`() async throws {
    let server = try await ScriptedServer.start([
      "/token": .init(status: 200, body: #"{"access_token": "t0ken"}"#),
      "/catalog": .init(
        status: 200,
        body: Self.catalog([Self.element("a"), #"{"name": "b", "url": "{away}/files/b"}"#])),
    ])
    let job = try Workspace(
      """
      version: 1
      name: gallery
      sessions: { quick: {} }
      tokens:
        login:
          session: quick
          request: { url: "\(server.home)/token" }
          capture: { access_token: { json: /access_token } }
          apply: { header: Authorization, value: "Bearer ${token.access_token}" }
      fetches:
        catalog: { session: quick, token: login, request: { url: "\(server.home)/catalog" }, save_to: c.json }
      downloads:
        photos:
          session: quick
          token: login
          items: { from: catalog, json: /files, save_to: "photos/${item.name}" }
          request: { headers: { X-Name: "${item.name}" } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 2)
    let files = server.requests.filter { $0.path.hasPrefix("/files") }.sorted { $0.path < $1.path }
    #expect(files.map { $0.headers["authorization"] } == ["Bearer t0ken", nil])
    #expect(files.map { $0.headers["x-name"] } == ["a", "b"])
  }

  @Test func `appears in plan, status and explain`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(status: 200, body: Self.catalog([Self.element("a")])),
      "/files/a": .init(status: 200, body: "one"),
    ])
    let job = try job(server)
    let before = try await job.ferry("plan", "job.yaml")
    #expect(
      before.stdout.contains("files known at run time: a fetch that the download needs writes their list"),
      "\(before.stdout)\(before.stderr)")
    let files = try await job.ferry("plan", "job.yaml", "--files")
    #expect(files.stdout.isEmpty && files.stderr.hasPrefix("ferry: photos: a fetch writes its list"))
    let simulation = try await job.ferry("plan", "job.yaml", "--simulate", "--bandwidth", "1MB")
    #expect(
      simulation.stdout.contains("not simulated: files that are known only at run time, of photos"),
      "\(simulation.stdout)")
    #expect(try await job.run().command.status == 0)
    let status = try await job.ferry("status", "gallery.quick")
    #expect(status.stdout.contains("download photos of gallery, round 1: 1 done"), "\(status.stdout)")
    let item = try await job.ferry("explain", "photos/photos/a", "--manifest", "job.yaml")
    #expect(
      item.status == 0 && item.stdout.contains("download photos/photos/a"), "\(item.stdout)\(item.stderr)")
    let refused = try await job.ferry("submit", "job.yaml", "photos", "files")
    #expect(refused.status != 0)
    let export = try await job.ferry("journal", "export", "gallery.quick").stdout
    let exported = try #require(export.split(separator: "\n").first { $0.contains(#""path":"photos/a""#) })
    #expect(
      exported.contains(#""version":""#) && !exported.contains("modified_nanoseconds"), "\(exported)")
  }

  @Test func `that the manifest no longer has leaves its open items, which the run reports`() async throws {
    let server = try await ScriptedServer.start([
      "/catalog": .init(status: 200, body: Self.catalog([Self.element("a")])),
      "/files/a": .init(status: 503, body: ""),
    ])
    let job = try job(server)
    #expect(try await job.run().command.status == 5)
    let text = job.folder.text("job.yaml")
    try job.write(manifest: text.replacing("  photos:\n", with: "  pictures:\n"))
    let (command, report) = try await job.run()
    let edit = try #require(report.run.edits?.first)
    #expect(edit.code == "upload_gone" && edit.items == 1)
    #expect(
      command.stderr.contains("the manifest no longer has download batch 'photos'"), "\(command.stderr)")
  }

  @Test func `takes items from the manifest, and URLs from a text file`() async throws {
    let server = try await ScriptedServer.start([
      "/files/a": .init(status: 200, body: "A"), "/files/b%20c": .init(status: 200, body: "B"),
    ])
    let job = try Workspace(
      """
      version: 1
      name: both
      sessions: { quick: {} }
      downloads:
        written:
          session: quick
          items: [{ url: "\(server.home)/files/a", save_to: out/first, size: 1B }]
        listed:
          session: quick
          items: { file: urls.txt, save_to: "out/${item.name}" }
      """)
    try job.folder.write(Data("\(server.home)/files/b%20c\n".utf8), to: "urls.txt")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.stdout.contains("1 item, 1 B\n") && plan.stdout.contains("1 item of unknown size\n"))
    let files = try await job.ferry("plan", "job.yaml", "--files")
    #expect(files.stdout == "written  out/first  1 B\nlisted  out/b c  size unknown\n", "\(files.stdout)")
    let simulation = try await job.ferry("plan", "job.yaml", "--simulate", "--bandwidth", "1MB")
    #expect(simulation.stdout.contains("download listed: batch 1 has completed"), "\(simulation.stdout)")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 2)
    #expect(job.folder.text("out/first") == "A" && job.folder.text("out/b c") == "B")
  }
}
