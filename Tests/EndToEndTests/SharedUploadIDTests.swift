import Foundation
import Testing

/// Servers that issue the same upload ID for several files, for example because they store equal content only once.
@Suite struct `A shared upload ID` {
  /// An upload of the files whose names begin with the upload's name. Its requests go to `/NAME/ids`, `/NAME/put/…`,
  /// `/NAME/commit/…` and `/ids/…`.
  private func upload(_ name: String, at server: ScriptedServer, isReleased: Bool = true) -> String {
    """
      \(name):
        session: s
        files: { root: files, include: ["\(name)*"] }
        retry: { limit: 0 }
        allocate:
          request: { method: POST, url: "\(server.home)/\(name)/ids", json: {} }
          capture: { id: { json: /id } }
        transfer: { request: { method: PUT, url: "\(server.home)/\(name)/put/${file.name}" } }
        commit:
          request: { method: POST, url: "\(server.home)/\(name)/commit/${file.name}", json: { id: "${allocate.id}" } }
          expect: { json: { /ok: true } }

    """
      + (isReleased
        ? "    abandon: { request: { method: DELETE, url: \"\(server.home)/ids/${allocate.id}\" } }\n" : "")
  }

  private func manifest(_ uploads: String...) -> String {
    """
    version: 1
    name: shared
    sessions: { s: { max_connections_per_host: 1 } }
    uploads:

    """ + uploads.joined()
  }

  private static let same = ScriptedServer.Response(status: 200, body: #"{"id":"same"}"#)
  private static let other = ScriptedServer.Response(status: 200, body: #"{"id":"other"}"#)
  private static let ok = ScriptedServer.Response(status: 200, body: #"{"ok":true}"#)

  private func releases(_ server: ScriptedServer) -> [String] {
    server.lines.filter { $0.contains("DELETE") }
  }

  @Test func `of two files of an upload is not released`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/commit/a1": .init(status: 403), "/a/commit/a2": Self.ok,
    ])
    let job = try Workspace(manifest(upload("a", at: server)))
    for name in ["a1", "a2"] { try job.write("equal", to: name) }
    let (command, report) = try await job.run()
    #expect(report.item("a1")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(server.lines.contains("home POST /a/commit/a2"))
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await !job.ferry("orphans").stdout.contains("same"))
  }

  /// The commit of the other file may have been executed, and the server may have no other copy of the content.
  @Test(arguments: [[], ["--only", "b"]])
  func `of an ambiguous file is not released for another`(_ options: [String]) async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/b/ids": Self.same, "/a/commit/a": .init(status: 500),
      "/b/commit/b": .init(status: 403),
    ])
    let job = try Workspace(manifest(upload("a", at: server), upload("b", at: server)))
    try job.write("equal", to: "a")
    let (first, report) = try await job.run()
    #expect(report.item("a")?.state == "ambiguous", "\(first.stdout)\(first.stderr)")
    // In a later run, another upload sends the same content.
    try job.write("equal", to: "b")
    let (second, later) = try await job.run(options)
    #expect(later.item("b")?.state == "failed", "\(second.stdout)\(second.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
    let orphans = try await job.ferry("orphans")
    #expect(orphans.stdout.contains("the server may have used the ID"), "\(orphans.stdout)")
  }

  /// An earlier run queued two files with the same ID. Then the ID of one file is dropped, and the other file is
  /// committed with it.
  @Test func `that an open file holds is not released when another is sent again`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/put/a1": .init(status: 500), "/a/put/a2": .init(status: 500),
      "/new/ids": Self.other, "/new/commit/a1": Self.ok, "/new/commit/a2": Self.ok,
    ])
    let job = try Workspace(manifest(upload("a", at: server)))
    for name in ["a1", "a2"] { try job.write("equal", to: name) }
    #expect(try await job.run().command.status == 5)
    try job.write("changed", to: "a2")
    let edited = manifest(upload("a", at: server)).replacing("/a/", with: "/new/")
    try job.write(manifest: edited)
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(!plan.stdout.contains("to release"), "\(plan.stdout)")
    let (command, _) = try await job.run()
    #expect(command.stdout.contains("2 done"), "\(command.stdout)\(command.stderr)")
    #expect(server.requests.contains { $0.path == "/new/commit/a1" && $0.body.contains("same") })
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("there are no orphaned upload IDs"))
  }

  /// In a later run, the delivered file gets another ID. The server still uses the first one.
  @Test func `of a delivered file stays remembered when that file is sent again`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/commit/a1": .init(status: 500), "/new/ids": Self.other,
      "/new/commit/a1": Self.ok, "/late/ids": Self.same, "/late/commit/a2": .init(status: 403),
    ])
    let text = manifest(upload("a", at: server))
    let job = try Workspace(text)
    try job.write("one", to: "a1")
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("resolve", "a1", "done", "--manifest", "job.yaml").status == 0)
    try job.write("changed", to: "a1")
    try job.write(manifest: text.replacing("/a/", with: "/new/"))
    #expect(try await job.run().command.status == 0)
    try job.write("one", to: "a2")
    try job.write(manifest: text.replacing("/a/", with: "/late/"))
    let (command, report) = try await job.run()
    #expect(report.item("a2")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  /// Many files of an upload without `abandon` have the same value, which could be the name of a bucket. It counts as
  /// an upload ID, because the `abandon` of another upload refers to it.
  @Test func `of many delivered files is not released by another upload`() async throws {
    let names = (10..<22).map { "a\($0)" }
    var responses = [
      "/a/ids": Self.same, "/b/ids": Self.same, "/b/put/b": .init(status: 500),
      "/late/commit/b": .init(status: 403),
    ]
    for name in names {
      responses["/a/put/\(name)"] = .init(status: 500)
      responses["/new/commit/\(name)"] = Self.ok
    }
    let server = try await ScriptedServer.start(responses)
    let text = manifest(upload("a", at: server, isReleased: false), upload("b", at: server))
    let job = try Workspace(text)
    for name in names + ["b"] { try job.write("equal", to: name) }
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: text.replacing("/a/", with: "/new/"))
    let (first, _) = try await job.run()
    #expect(first.stdout.contains("12 done"), "\(first.stdout)\(first.stderr)")
    try job.write(manifest: text.replacing("/b/", with: "/late/"))
    let (command, report) = try await job.run()
    #expect(report.item("b")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// The orphan belongs to an upload that is not part of the run. The file that the run delivers already had the same
  /// ID.
  @Test func `that an open file holds is not released after a run without the orphan's upload`() async throws
  {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/b/ids": Self.same, "/a/put/a": .init(status: 500),
      "/b/put/b": .init(status: 500), "/new/commit/a": Self.ok,
    ])
    let text = manifest(
      upload("a", at: server), upload("b", at: server).replacing("session: s", with: "session: t")
    ).replacing("sessions: {", with: "sessions: { t: {},")
    let job = try Workspace(text)
    for name in ["a", "b"] { try job.write("equal", to: name) }
    #expect(try await job.run().command.status == 5)
    #expect(try await job.ferry("cancel", "shared.t").status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("files/b"))
    try job.write(manifest: text.replacing("/a/", with: "/new/"))
    let (first, _) = try await job.run(["--only", "a"])
    #expect(first.status == 0, "\(first.stdout)\(first.stderr)")
    _ = try await job.run()
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
  }

  /// The server issues the ID of an orphan, which waits for its release, to another upload.
  @Test(arguments: [true, false])
  func `that another upload receives is not released`(isReleasedThere: Bool) async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/commit/a": .init(status: 403), "/ids/same": .init(status: 403),
      "/b/ids": Self.same, "/b/commit/b": Self.ok,
    ])
    let other = upload("b", at: server, isReleased: isReleasedThere)
    let job = try Workspace(manifest(upload("a", at: server), other))
    try job.write("equal", to: "a")
    #expect(try await job.run().command.status == 1)
    #expect(releases(server) == ["home DELETE /ids/same"])
    try job.write("equal", to: "b")
    let (command, _) = try await job.run()
    #expect(command.stdout.contains("upload b: succeeded, 1 done"), "\(command.stdout)\(command.stderr)")
    #expect(releases(server).count == 1, "\(server.lines)")
    let orphans = try await job.ferry("orphans")
    #expect(orphans.stdout.contains("the server may have used the ID"), "\(orphans.stdout)")
    // In a later run, the ID of the delivered file is still not released.
    try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
    #expect(try await job.run().command.status == 0)
    #expect(releases(server).count == 1)
  }

  /// The server had executed the commit, but its response did not show this.
  @Test func `that is in doubt remains so when the file gets it again`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/busy/ids": Self.same, "/busy/put/a": .init(status: 500),
      "/new/ids": Self.same, "/new/put/a": .init(status: 403),
    ])
    let job = try Workspace(manifest(upload("a", at: server)))
    try job.write("equal", to: "a")
    let (first, report) = try await job.run()
    #expect(report.item("a")?.state == "failed", "\(first.stdout)\(first.stderr)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
    try job.write("equal again", to: "a")
    try job.write(manifest: manifest(upload("a", at: server)).replacing("/a/", with: "/busy/"))
    #expect(try await job.run().command.status == 5)
    #expect(try await job.ferry("journal", "check").status == 0)
    try job.write(manifest: manifest(upload("a", at: server)).replacing("/a/", with: "/new/"))
    #expect(try await job.run().command.status == 1)
    #expect(server.lines.contains("home PUT /new/put/a"), "\(server.lines)")
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
  }

  /// The user has found on the server that the commit with this ID was executed.
  @Test func `of a file that a user resolved as done is not released`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/b/ids": Self.same, "/a/commit/a": .init(status: 500),
      "/b/put/b": .init(status: 500),
      "/new/commit/b": .init(status: 403),
    ])
    let job = try Workspace(manifest(upload("a", at: server), upload("b", at: server)))
    for name in ["a", "b"] { try job.write("equal", to: name) }
    let (first, report) = try await job.run()
    #expect(report.item("a")?.state == "ambiguous", "\(first.stdout)\(first.stderr)")
    #expect(try await job.ferry("resolve", "--all", "done", "--manifest", "job.yaml").status == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
    let edited = manifest(upload("a", at: server), upload("b", at: server)).replacing("/b/", with: "/new/")
    try job.write(manifest: edited)
    let (second, later) = try await job.run()
    #expect(later.item("b")?.state == "failed", "\(second.stdout)\(second.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// The run that delivered the other file has ended.
  @Test func `of a file that an earlier run delivered is not released`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/put/a1": .init(status: 500), "/a/commit/a2": Self.ok,
      "/new/commit/a1": .init(status: 403),
    ])
    let job = try Workspace(
      manifest(upload("a", at: server)).replacing(
        "max_connections_per_host: 1", with: "max_connections_per_host: 2"))
    for name in ["a1", "a2"] { try job.write("equal", to: name) }
    let (first, _) = try await job.run()
    #expect(first.status == 5 && first.stdout.contains("1 done"), "\(first.stdout)\(first.stderr)")
    #expect(try await job.ferry("journal", "check").status == 0)
    try job.write(manifest: manifest(upload("a", at: server)).replacing("/a/", with: "/new/"))
    let (second, report) = try await job.run()
    #expect(report.item("a1")?.state == "failed", "\(second.stdout)\(second.stderr)")
    #expect(server.requests.contains { $0.path == "/new/commit/a1" && $0.body.contains("same") })
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// In a run that cannot release the orphan, the server issues the orphan's ID again for another file.
  @Test(arguments: [true, false])
  func `that is issued again is not released by a later run`(isSelected: Bool) async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/commit/a": .init(status: 403), "/ids/same": .init(status: 403),
      "/b/ids": Self.same, "/b/commit/b": Self.ok,
    ])
    let whole = manifest(upload("a", at: server), upload("b", at: server))
    let job = try Workspace(whole)
    try job.write("equal", to: "a")
    #expect(try await job.run().command.status == 1)
    #expect(releases(server) == ["home DELETE /ids/same"])
    try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
    try job.write("equal", to: "b")
    if isSelected {
      // In this run, the manifest has no `abandon`.
      try job.write(
        manifest: manifest(
          upload("a", at: server, isReleased: false), upload("b", at: server, isReleased: false)))
    }
    let (second, _) = try await job.run(isSelected ? [] : ["--only", "b"])
    #expect(second.stdout.contains("upload b: succeeded, 1 done"), "\(second.stdout)\(second.stderr)")
    try job.write(manifest: whole)
    #expect(try await job.run().command.status == 0)
    #expect(releases(server).count == 1, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
  }

  /// `allocate` captures nothing. The response to the transfer names the stored content, which both files share.
  @Test func `that the response to the transfer names is not released`() async throws {
    let named = ScriptedServer.Response(status: 200, headers: ["Location": "{home}/held/same"])
    let server = try await ScriptedServer.start([
      "/put/a": named, "/put/b": named, "/commit/a": .init(status: 403),
    ])
    let job = try Workspace(
      """
      version: 1
      name: shared
      sessions: { s: { max_connections_per_host: 1 } }
      uploads:
        u:
          session: s
          files: { root: files }
          allocate: { request: { method: POST, url: "\(server.home)/start", json: {} } }
          transfer:
            request: { method: PUT, url: "\(server.home)/put/${file.name}" }
            capture: { at: { header: Location } }
          commit: { request: { method: POST, url: "\(server.home)/commit/${file.name}", json: {} } }
          abandon: { request: { method: DELETE, url: "${transfer.at}" } }
      """)
    for name in ["a", "b"] { try job.write("equal", to: name) }
    let (command, report) = try await job.run()
    #expect(report.item("a")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(server.lines.contains("home POST /commit/b"))
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// The upload of the other file is not part of the run that delivers.
  @Test func `of a file that another run delivered is not released`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/b/ids": Self.same, "/b/put/b": .init(status: 500), "/a/commit/a": Self.ok,
      "/new/commit/b": .init(status: 403),
    ])
    let job = try Workspace(manifest(upload("a", at: server, isReleased: false), upload("b", at: server)))
    try job.write("equal", to: "b")
    #expect(try await job.run().command.status == 5)
    try job.write("equal", to: "a")
    let (first, _) = try await job.run(["--only", "a"])
    #expect(first.stdout.contains("upload a: succeeded, 1 done"), "\(first.stdout)\(first.stderr)")
    let edited = manifest(upload("a", at: server, isReleased: false), upload("b", at: server))
      .replacing("/b/", with: "/new/")
    try job.write(manifest: edited)
    let (second, report) = try await job.run()
    #expect(report.item("b")?.state == "failed", "\(second.stdout)\(second.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// Pruning keeps the record of the delivered file, because another file has the same ID.
  @Test func `of a delivered file is remembered after pruning`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/put/a1": .init(status: 500), "/a/commit/a2": Self.ok,
      "/new/commit/a1": .init(status: 403),
    ])
    let job = try Workspace(
      manifest(upload("a", at: server)).replacing(
        "max_connections_per_host: 1", with: "max_connections_per_host: 2"))
    for name in ["a1", "a2"] { try job.write("equal", to: name) }
    #expect(try await job.run().command.status == 5)
    #expect(try await job.ferry("journal", "prune", "--delivered", "0s").status == 0)
    try job.write(manifest: manifest(upload("a", at: server)).replacing("/a/", with: "/new/"))
    let (command, report) = try await job.run()
    #expect(report.item("a1")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// The request that releases the ID names the file, which was delivered under another ID.
  @Test func `that is released by the file's name is not released after its delivery`() async throws {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/commit/a": .init(status: 403), "/new/ids": Self.other,
      "/new/commit/a": Self.ok,
    ])
    let plain = upload("a", at: server, isReleased: false)
    let job = try Workspace(manifest(plain))
    try job.write("first", to: "a")
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("orphans").stdout.contains("same"))
    try job.write(manifest: manifest(plain).replacing("/a/", with: "/new/"))
    #expect(try await job.run().command.status == 0)
    let named = "    abandon: { request: { method: DELETE, url: \"\(server.home)/files/${file.path}\" } }\n"
    try job.write(manifest: manifest(plain + named).replacing("/a/", with: "/new/"))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
  }

  /// The manifest had no commit, so the file was delivered as soon as it was sent.
  @Test func `whose transfer counted is not released after a commit was added to the manifest`() async throws
  {
    let server = try await ScriptedServer.start([
      "/a/ids": Self.same, "/a/put/a": .init(status: 500), "/new/put/a": .init(status: 400),
    ])
    let whole = manifest(upload("a", at: server))
    let start = try #require(whole.range(of: "    commit:"))
    let end = try #require(whole.range(of: "    abandon:"))
    let job = try Workspace(whole.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: ""))
    try job.write("text", to: "a")
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: whole.replacing("/a/", with: "/new/"))
    let (command, report) = try await job.run()
    #expect(report.item("a")?.state == "failed", "\(command.stdout)\(command.stderr)")
    #expect(releases(server).isEmpty, "\(server.lines)")
    #expect(try await job.ferry("orphans").stdout.contains("the server may have used the ID"))
  }
}
