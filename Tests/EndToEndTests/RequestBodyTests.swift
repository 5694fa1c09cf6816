import Foundation
import Testing

/// `body` and `multipart` of requests that are not transfers.
@Suite struct `The body of a request` {
  private static func manifest(
    _ server: String, _ request: String, needs: String = "[]", extra: String = ""
  ) -> String {
    """
    version: 1
    name: notes
    secrets: { key: { env: E2E_SECRET } }
    sessions: { s: {} }
    \(extra)
    requests:
      note:
        session: s
        needs: \(needs)
        request: { url: "\(server)/forms", \(request) }
        retry: { limit: 0 }
    """
  }

  /// Runs a manifest, and returns the request that the server received.
  private func sent(_ request: String, file: Data? = nil) async throws -> ScriptedServer.Request {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(Self.manifest(server.home, request))
    if let file { try job.folder.write(file, to: "status.json") }
    let command = try await job.run().command
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    return try #require(server.requests.first)
  }

  @Test func `is a text, with its references replaced, and is not encoded`() async throws {
    let request = try await sent(#"body: "a=b & ${secrets.key}\n", method: PUT"#)
    #expect(request.method == "PUT" && request.headers["content-type"] == "text/plain; charset=utf-8")
    let bytes = try #require(request.body.data(using: .isoLatin1))
    #expect(String(decoding: bytes, as: UTF8.self) == "a=b & \(Workspace.secret)\n")
    let typed = try await sent(#"body: "<a/>", headers: { Content-Type: application/xml }"#)
    #expect(typed.method == "POST" && typed.body == "<a/>")
    #expect(typed.headers["content-type"] == "application/xml")
  }

  @Test func `is the content of a file`() async throws {
    let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let request = try await sent("body: { file: status.json }", file: content)
    #expect(request.method == "POST" && request.headers["content-type"] == "application/octet-stream")
    #expect(request.headers["content-length"] == "300000")
    #expect(request.body.data(using: .isoLatin1) == content)
  }

  @Test func `is read after the fetch that writes its file`() async throws {
    let server = try await ScriptedServer.start(["/catalog": .init(status: 200, body: "fresh")])
    let job = try Workspace(
      Self.manifest(
        server.home, "body: { file: catalog.json }", needs: "[catalog]",
        extra: """
          fetches:
            catalog: { session: s, request: { url: "\(server.home)/catalog" }, save_to: catalog.json }
          """))
    let command = try await job.run().command
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(server.requests.last?.body == "fresh")
  }

  @Test func `fails if its file is missing, is a folder, or is a link to another folder`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(Self.manifest(server.home, "body: { file: status.json }"))
    let missing = try await job.run()
    #expect(missing.command.status == 1 && server.requests.isEmpty)
    #expect(missing.report.node("note")?.reason?.code == "source_missing")
    _ = try job.folder.makeFolder("status.json")
    let folder = try await job.run("--fresh")
    #expect(folder.report.node("note")?.reason?.code == "source_unreadable")
    try FileManager.default.removeItem(atPath: job.folder.path("status.json"))
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("status.json"), withDestinationPath: "/etc/hostname")
    let link = try await job.run("--fresh")
    #expect(link.report.node("note")?.reason?.code == "source_unreadable")
    #expect(server.requests.isEmpty)
  }

  /// The rule is that for listed files. The folder may be shared, and the link may lead to a private file in it.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func `fails if its file is the link of another user`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(Self.manifest(server.home, "body: { file: status.json }"))
    try job.folder.write(Data("private".utf8), to: "key")
    #expect(symlink("key", job.folder.path("status.json")) == 0)
    #expect(lchown(job.folder.path("status.json"), 65534, 65534) == 0)
    let foreign = try await job.run()
    #expect(foreign.report.node("note")?.reason?.message.contains("symbolic link of user 65534") == true)
    #expect(foreign.command.status == 1 && server.requests.isEmpty)
    #expect(lchown(job.folder.path("status.json"), geteuid(), getegid()) == 0)
    #expect(try await job.run("--fresh").command.status == 0)
    #expect(server.requests.last?.body == "private")
  }

  /// The rule is that for lists, secrets and netrc files.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: ["forged", "link", "theirs/own", "way/own"])
  func `fails if its path has an entry of another user in a world-writable folder`(_ name: String)
    async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(Self.manifest(server.home, "body: { file: shared/\(name) }"))
    for name in ["forged", "own", "theirs/own"] { try job.folder.write(Data("x".utf8), to: "shared/\(name)") }
    #expect(symlink("own", job.folder.path("shared/link")) == 0)
    #expect(symlink("../shared", job.folder.path("shared/way")) == 0)
    for name in ["forged", "link", "theirs", "way"] {
      #expect(lchown(job.folder.path("shared/\(name)"), 65534, 65534) == 0)
    }
    #expect(chmod(job.folder.path("shared"), 0o1777) == 0)
    let before = server.requests.count
    let (command, report) = try await job.run("--fresh")
    #expect(command.status == 1 && server.requests.count == before, "\(command.stdout)\(command.stderr)")
    let reason = report.node("note")?.reason
    #expect(reason?.code == "source_unreadable")
    #expect(
      reason?.message.contains("user 65534, in a world-writable folder") == true,
      "\(String(describing: reason))")
    try job.write(manifest: Self.manifest(server.home, "body: { file: shared/own }"))
    #expect(try await job.run("--fresh").command.status == 0)
  }

  @Test(.enabled(if: FormServer.python != nil, "python3-aiohttp is needed: scripts/setup test"))
  func `can be a form with several parts, which aiohttp reads`() async throws {
    let server = try await FormServer.start()
    let part = #"file: { path: files/report.html, field: document, content_type: text/html }"#
    let fields = #"fields: { title: "wöchentlich ${run.id}" }"#
    let after = #"fields_after: [{ name: "tag[]", value: "a\"b" }]"#
    let job = try Workspace(Self.manifest(server.url, "multipart: { \(part), \(fields), \(after) }"))
    try job.write("<p>1</p>", to: "report.html")
    let command = try await job.run().command
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let form = try #require(try server.forms.first)
    #expect(form.method == "POST" && form.parts.map(\.name) == ["title", "document", "tag[]"])
    #expect(form.parts.first?.value?.hasPrefix("wöchentlich ") == true)
    #expect(form.parts.last?.value == "a\"b")
    #expect(form.file?.filename == "report.html" && form.file?.contentType == "text/html")
    #expect(form.file?.size == 8)

    try job.write(manifest: Self.manifest(server.url, "multipart: { fields: { a: b, c: \"\" } }"))
    #expect(try await job.run("--fresh").command.status == 0)
    let second = try #require(try server.forms.last)
    #expect(second.parts.map(\.name) == ["a", "c"] && second.parts.map(\.value) == ["b", ""])
    #expect(second.boundary != form.boundary)
  }
}
