import Foundation
import Testing

/// How `abandon` releases upload IDs, and how `ferry orphans` lists them.
@Suite struct `An upload ID that is not used` {
  struct Listed: Decodable {
    struct Orphan: Decodable {
      var session: String
      var id: Int
      var upload: String
      var path: String
      var captures: [String: String]
      var secrets: [String]?
      var reason: String
      var isInDoubt: Bool
      var isReleasedByNextRun: Bool
      var hindrance: String?
      var failure: RunReport.Reason?
    }

    var version: Int
    var orphans: [Orphan]
  }

  static let abandon = """

        abandon:
          session: quick
          request: { url: "${vars.api}/uploads/${allocate.id}" }
    """

  private func workspace(
    _ faults: [String], files count: Int = 1, abandon: String = abandon, connections: Int = 2,
    retry: String = JobText.retry, options: [String] = []
  ) async throws -> (job: Workspace, receiver: ReceiverProcess) {
    let receiver = try await ReceiverProcess.start(options, faults: faults)
    let job = try Workspace(
      JobText.text(server: receiver.url, connections: connections, JobText.uploadIDs(retry: retry) + abandon))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return (job, receiver)
  }

  private func orphans(_ job: Workspace) async throws -> [Listed.Orphan] {
    let command = try await job.ferry("orphans", "--format", "json")
    #expect(command.status == 0, "\(command.stderr)")
    return try command.json(Listed.self).orphans
  }

  private func isSound(_ job: Workspace) async throws {
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 0, "\(check.stdout)")
  }

  /// A server determines the length of an ID. 700 IDs of 60 kB are more than the 32 MiB that a run holds.
  @Test func `is released by a later run if all of them are too large for the memory`() async throws {
    let server = try await PythonServer(
      """
      import http.server, json, sys
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def respond(self):
          body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
          step, name = self.path.strip("/").split("/")
          if step == "release" and json.loads(body)["id"].startswith(name + "-"):
            sys.stdout.write("released " + name + "\\n")
          content = json.dumps({"id": name + "-" + "x" * 60_000, "zone": "z1"}).encode() if step == "allocate" else b"{}"
          self.send_response_only(400 if step == "put" else 200)
          self.send_header("Content-Length", str(len(content)))
          self.end_headers()
          self.wfile.write(content)
        do_POST = do_PUT = do_DELETE = respond
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """)
    let job = try Workspace(
      """
      version: 1
      name: large
      sessions: { s: { kind: background } }
      uploads:
        files:
          session: s
          files: { root: files }
          allocate: { request: { url: "\(server.url)/allocate/${file.name}" }, capture: { id: { json: /id }, zone: { json: /zone } } }
          transfer: { request: { url: "\(server.url)/put/${file.name}" } }
          abandon: { request: { url: "\(server.url)/release/${file.name}", json: { id: "${allocate.id}" } } }

      """)
    for index in 0..<700 { try job.write("x", to: "f\(index)") }
    func released() -> [String] {
      server.stdout.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("released ") }.map(String.init)
    }
    let first = try await job.run()
    let node = try #require(first.report.node("files")?.orphans)
    // 60 kB and the names.
    #expect((550...559).contains(node.released) && node.released + node.failed == 700, "\(node)")
    #expect(node.reason?.message.contains("the next run releases this one") == true, "\(node)")
    #expect(released().count == node.released)
    for index in 0..<700 { try FileManager.default.removeItem(atPath: job.folder.path("files/f\(index)")) }
    let second = try await job.run().report.node("files")?.orphans
    #expect(second?.released == node.failed, "\(String(describing: second))")
    let isEach = Set(released()) == Set((0..<700).map { "released f\($0)" })
    let rest = try await orphans(job).count
    #expect(isEach && rest == 0)
    try await isSound(job)
  }

  @Test func `is released in the run in which its item fails`() async throws {
    let (job, receiver) = try await workspace(["content:times=1,status=403"], files: 8)
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect((report.totals.idsOrphaned, report.totals.idsReleased) == (1, 1))
    let node = try #require(report.node("files")?.orphans)
    #expect((node.dropped, node.released, node.failed) == (1, 1, 0))
    #expect(command.stdout.contains("upload IDs: 1 dropped, 1 released"), "\(command.stdout)")
    let received = try await receiver.received()
    #expect(received.open == 0 && received.commits == 7)
    // The release was the last request.
    #expect(receiver.log.last?.hasPrefix("DELETE /uploads/") == true)
    #expect(try await orphans(job).isEmpty)
    #expect(try await job.ferry("orphans").stdout == "there are no orphaned upload IDs\n")
    try await isSound(job)
  }

  @Test func `is listed if the manifest does not say how to release it`() async throws {
    let (job, receiver) = try await workspace(["content:status=403"], abandon: "")
    #expect(try await job.run().command.status == 1)
    let orphan = try #require(try await orphans(job).first)
    #expect((orphan.session, orphan.upload, orphan.path) == ("e2e.uploads", "files", "0.txt"))
    #expect(orphan.reason == "failed" && !orphan.isInDoubt && !orphan.isReleasedByNextRun)
    #expect(orphan.hindrance == "upload 'files' has no 'abandon'")
    let id = try #require(orphan.captures["id"])
    let text = try await job.ferry("orphans", "e2e.uploads").stdout
    #expect(text.contains("1. files/0.txt of e2e: id \(id) at \(receiver.url)"), "\(text)")
    #expect(text.contains("not released: upload 'files' has no 'abandon'"))
    #expect(try await job.ferry("status").stdout.contains("1 orphaned upload ID"))
    let export = try await job.ferry("journal", "export").stdout
    #expect(export.contains("\"record\":\"orphan\"") && export.contains(id), "\(export)")
    // The field is exported only if it is true.
    #expect(!export.contains("in_doubt"))
    // When `abandon` is added to the manifest, the next run releases the ID.
    try await receiver.clearFaults()
    let manifest = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: manifest.trimmingCharacters(in: .newlines) + Self.abandon + "\n")
    #expect(try await orphans(job).first?.isReleasedByNextRun == true)
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains("1 upload ID to release"))
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.totals.idsReleased == 1)
    #expect(try await receiver.received().open == 0)
    try await isSound(job)
  }

  @Test func `is not shown if it is a secret`() async throws {
    let (job, receiver) = try await workspace(["content:status=403"], abandon: "")
    defer { withExtendedLifetime(receiver) {} }
    let manifest = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: manifest.replacing("{ json: /id }", with: "{ json: /id, secret: true }"))
    let command = try await job.run().command
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    let orphan = try #require(try await orphans(job).first)
    #expect(orphan.captures.isEmpty && orphan.secrets == ["id"])
    #expect(try await job.ferry("orphans").stdout.contains("id ***"))
    #expect(try await !job.ferry("journal", "export").stdout.contains("allocate.id"))
  }

  @Test func `whose commit may have been executed is never released`() async throws {
    // The responses to the commit and to libcurl's repetition of it are lost. After that, the server rejects every
    // commit.
    let (job, receiver) = try await workspace(
      ["commit:times=2,drop=after"], retry: "retry: { limit: 6, initial: 1s, jitter: 0 }")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.commits == 1 }
    try await receiver.add(fault: #"{"route": "commit", "status": 403}"#)
    let command = await run.end()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(try await job.run().command.status == 1)
    // The ID belongs to the ambiguous item, which a user has to resolve.
    #expect(try await orphans(job).isEmpty)
    #expect(!receiver.log.contains { $0.hasPrefix("DELETE") })
    let upload = try await receiver.received().byName["0.txt"]
    #expect(upload?.commits == 1 && upload?.allocations == 1)
    // If a user decides that the commit was not executed, its ID may become unused.
    #expect(try await job.ferry("resolve", "--all", "retry", "--manifest", "job.yaml").status == 0)
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    #expect(try await orphans(job).count == 1)
    try await isSound(job)
  }

  @Test(arguments: [404, 410]) func `that the server no longer knows is released`(
    _ status: Int
  ) async throws {
    let (job, receiver) = try await workspace(["content:status=403", "abandon:status=\(status)"])
    defer { withExtendedLifetime(receiver) {} }
    let (command, report) = try await job.run()
    #expect(report.totals.idsReleased == 1, "\(command.stdout)\(command.stderr)")
    #expect(try await orphans(job).isEmpty)
  }

  @Test(arguments: [403, 500]) func `that cannot be released fails no run, and stays listed`(
    _ status: Int
  ) async throws {
    let (job, receiver) = try await workspace(
      ["content:times=1,status=403", "abandon:status=\(status)"], files: 3)
    #expect(try await job.run().command.status == 1)
    try await receiver.clearFaults()
    try await receiver.add(fault: "{\"route\": \"abandon\", \"status\": \(status)}")
    // The next round contains only the file that failed.
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.run.roundClosed && report.run.exitCode == 0)
    #expect(report.node("files")?.state == "succeeded")
    #expect(report.node("files")?.orphans?.failed == 1)
    #expect(report.node("files")?.orphans?.reason?.status == status)
    let orphan = try #require(try await orphans(job).first)
    #expect(orphan.failure?.status == status && orphan.isReleasedByNextRun)
    try await receiver.clearFaults()
    #expect(try await job.run().report.totals.idsReleased == 1)
    #expect(try await receiver.received().open == 0)
    try await isSound(job)
  }

  @Test func `is released by the next run if this one is killed during the release`() async throws {
    let (job, receiver) = try await workspace(
      ["content:status=403", "abandon:times=2,delay=20"], files: 6)
    let run = try job.start(["run", "job.yaml"])
    // The kill comes after every file has failed and while the first IDs are being released.
    _ = try await receiver.received { $0.uploads.count == 6 && $0.requests >= 6 * 2 + 1 }
    try await Task.sleep(for: .milliseconds(300))
    run.signal(SIGKILL)
    #expect(await run.end().status == 128 + SIGKILL)
    let left = try await orphans(job)
    #expect(!left.isEmpty)
    try await receiver.clearFaults()
    // The run resumes the round in which the files failed.
    #expect(try await job.run().command.status == 1)
    #expect(try await receiver.received().open == 0)
    #expect(try await orphans(job).isEmpty)
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().uploads.allSatisfy { $0.commits == 1 && $0.open == 0 })
    try await isSound(job)
  }

  @Test(arguments: ["cancel", "reset"]) func `is released by the next run after a cancel or reset`(
    _ word: String
  ) async throws {
    let (job, receiver) = try await workspace(["content:status=500"], files: 4, retry: "retry: { limit: 0 }")
    #expect(try await job.run().command.status == 5)
    let held = try await receiver.received().open
    #expect(held > 0)
    #expect(try await job.ferry(word, "e2e.uploads").status == 0)
    let listed = try await orphans(job)
    #expect(listed.count == held && listed.allSatisfy { $0.isReleasedByNextRun })
    #expect(listed.allSatisfy { $0.reason == (word == "cancel" ? "cancelled" : "reset") })
    try await receiver.clearFaults()
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.totals.idsReleased == held)
    let received = try await receiver.received()
    #expect(received.open == 0 && received.commits == 4)
    try await isSound(job)
  }

  @Test func `of a file that has changed is released in the run that sends the file again`() async throws {
    let (job, receiver) = try await workspace(["content:status=500"], retry: "retry: { limit: 0 }")
    #expect(try await job.run().command.status == 5)
    try job.write("another text", to: "0.txt")
    try await receiver.clearFaults()
    let plan = try await job.ferry("plan", "job.yaml").stdout
    #expect(plan.contains("1 upload ID to release"), "\(plan)")
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.totals.idsReleased == 1, "\(command.stdout)")
    #expect(report.totals.idsOrphaned == 1)
    let received = try await receiver.received()
    #expect(received.open == 0 && received.commits == 1)
    try await isSound(job)
  }

  @Test func `of a file that has vanished is released`() async throws {
    let (job, receiver) = try await workspace(["content:status=500"], retry: "retry: { limit: 0 }")
    #expect(try await job.run().command.status == 5)
    try FileManager.default.removeItem(atPath: job.folder.path("files/0.txt"))
    try await receiver.clearFaults()
    let (_, report) = try await job.run()
    #expect(report.totals.idsReleased == 1)
    #expect(try await receiver.received().open == 0)
    try await isSound(job)
  }

  @Test func `because it was too old is released`() async throws {
    let (job, receiver) = try await workspace(["content:status=500"], retry: "retry: { limit: 0 }")
    let manifest = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: manifest.replacing("valid_for: 1h", with: "valid_for: 2s"))
    #expect(try await job.run().command.status == 5)
    // Shifting ferry's clock is not enough, because the server's clock must advance, too.
    try await Task.sleep(for: .seconds(2))
    try await receiver.clearFaults()
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.totals.idsExpired == 1 && report.totals.idsReleased >= 1)
    #expect(try await receiver.received().open == 0)
    try await isSound(job)
  }

  @Test func `can be forgotten by a user`() async throws {
    let (job, receiver) = try await workspace(["content:status=403"], files: 3, abandon: "")
    #expect(try await job.run().command.status == 1)
    let requests = try await receiver.received().requests
    #expect(try await orphans(job).map(\.id) == [1, 2, 3])
    let unnamed = try await job.ferry("orphans", "--forget", "1")
    #expect(unnamed.status == 2 && unnamed.stderr.contains("\nhelp: for example 'ferry orphans SESSION"))
    let nine = try await job.ferry("orphans", "e2e.uploads", "--forget", "9")
    #expect(nine.status == 2)
    #expect(nine.stderr.contains("list the orphans with: ferry orphans e2e.uploads --state \(job.state)\n"))
    let word = try await job.ferry("orphans", "e2e.uploads", "--forget", "x")
    #expect(word.status == 2 && word.stderr.contains("listed by: ferry orphans --state \(job.state)\n"))
    #expect(try await job.ferry("orphans", "nobody").status == 2)
    let one = try await job.ferry("orphans", "e2e.uploads", "--forget", "2")
    #expect(one.stdout == "session e2e.uploads: 1 orphan removed from the list\n")
    #expect(try await orphans(job).map(\.id) == [1, 3])
    let all = try await job.ferry("orphans", "e2e.uploads", "--forget", "all", "--format", "json")
    #expect(all.stdout.contains("\"forgotten\" : 2"), "\(all.stdout)")
    #expect(try await orphans(job).isEmpty)
    #expect(try await receiver.received().requests == requests)
    try await isSound(job)
  }

  @Test func `is not released at another server`() async throws {
    let (job, receiver) = try await workspace(["content:status=403"])
    try await receiver.add(fault: #"{"route": "abandon", "status": 403}"#)
    #expect(try await job.run().command.status == 1)
    try await receiver.clearFaults()
    let manifest = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: manifest.replacing("127.0.0.1", with: "localhost"))
    #expect(try await orphans(job).first?.hindrance?.contains("now goes to a different server") == true)
    #expect(try await job.run().command.status == 0)
    #expect(!receiver.log.contains { $0.hasPrefix("DELETE") && $0.hasSuffix(" 204") })
    #expect(try await receiver.received().open == 1)
  }
}
