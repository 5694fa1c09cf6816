import Foundation
import Testing

/// Listed paths whose files ferry has delivered and then deleted or moved.
@Suite struct `A list that names files which ferry has taken away` {
  /// - Parameters:
  ///   - path: the first path segment of the URLs.
  ///   - isFetched: whether a fetch writes the list.
  private func manifest(
    _ server: ScriptedServer, path: String = "put", after: String, isFetched: Bool = false
  ) -> String {
    let fetch = """
      fetches:
        wanted: { session: quick, request: { url: "\(server.home)/wanted" }, save_to: ./list.txt }

      """
    return """
      version: 1
      name: lists
      sessions: { quick: {}, uploads: { kind: background } }
      \(isFetched ? fetch : "")uploads:
        files:
          session: uploads
          \(isFetched ? "needs: [wanted]" : "deliver: when_changed")
          files: { root: files, list: list.txt }
          transfer: { request: { url: "\(server.home)/\(path)/${file.path}" } }
          after: \(after)
          retry: { limit: 1, initial: 5m }
      requests:
        last:
          session: quick
          needs: [files]
          request: { method: POST, url: "\(server.home)/last" }

      """
  }

  private func exists(_ job: Workspace, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: job.folder.path("files/\(name)"))
  }

  @Test(arguments: ["delete", "{ move_to: sent }"])
  func `is completed by the run after a kill, without failures`(_ after: String) async throws {
    // The third file waits for a retry until the run is killed.
    let server = try await ScriptedServer.start(["/put/c": .init(status: 503)])
    let job = try Workspace(manifest(server, after: after))
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    try job.folder.write(Data("a\nb\nc\n".utf8), to: "list.txt")
    let killed = try job.start(["run", "job.yaml"])
    while exists(job, "a") || exists(job, "b") || !server.lines.contains("home PUT /put/c") {
      try #require(killed.isRunning)
      try await Task.sleep(for: .milliseconds(10))
    }
    killed.signal(SIGKILL)
    #expect(await killed.end().status == 137)
    #expect(exists(job, "c"))

    try job.write(manifest: manifest(server, path: "again", after: after))
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.status == 0 && !plan.stdout.contains("not listed"), "\(plan.stdout)")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("files")?.problems == nil && report.totals.items.failed == 0)
    #expect(report.node("last")?.state == "succeeded" && report.run.roundClosed)
    #expect(
      server.lines.sorted() == [
        "home POST /last", "home PUT /again/c", "home PUT /put/a", "home PUT /put/b", "home PUT /put/c",
      ])
  }

  @Test(arguments: [false, true])
  func `is not a failure in a later round either`(isFetched: Bool) async throws {
    let server = try await ScriptedServer.start(["/wanted": .init(status: 200, body: "a\nb\nnever\n")])
    let job = try Workspace(manifest(server, after: "delete", isFetched: isFetched))
    for name in ["a", "b"] { try job.write(name, to: name) }
    try job.folder.write(Data("a\nb\n".utf8), to: "list.txt")
    _ = try await job.run()
    #expect(!exists(job, "a") && !exists(job, "b"))
    try job.folder.write(Data("a\nb\nnever\n".utf8), to: "list.txt")
    let submission = try await job.ferry("submit", "job.yaml", "files")
    #expect(submission.status == 0)
    #expect(submission.stderr == "ferry: files: never: it does not exist\n")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(report.node("files")?.problems?.map(\.path) == ["never"])
    #expect(server.lines.count { $0.contains(" PUT ") } == 2)
  }

  /// The list grows while the first upload sends its files. The second upload reads it when the first has ended.
  @Test(
    arguments: [
      "{ root: files, list: list.txt }", "{ root: files }", #"{ root: ., include: ["files/*"] }"#,
      "{ root: files, list: other.txt }",
    ])
  func `does not remove files that a needed upload has not sent`(_ files: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=3"])
    let uploads = """
      uploads:
        first:
          session: uploads
          files: \(files)
          transfer: { request: { url: "${vars.api}/files/first-${file.name}" } }
        second:
          session: uploads
          needs: [first]
          files: { root: files, list: list.txt }
          transfer: { request: { url: "${vars.api}/files/second-${file.path}" } }
          after: delete
      """
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, uploads))
    for name in ["a", "b"] { try job.write(name, to: name) }
    for list in ["list.txt", "other.txt"] { try job.folder.write(Data("a\nb\n".utf8), to: list) }
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 1 }
    try job.write("late", to: "late")
    try job.write("changed", to: "a")
    for list in ["list.txt", "other.txt"] { try job.folder.write(Data("a\nb\nlate\n".utf8), to: list) }
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(
      end.stderr.contains(
        "second: 2 files will be sent by the next run, because first has not sent this version of them yet"),
      "\(end.stderr)")
    #expect(exists(job, "late") && exists(job, "a") && !exists(job, "b"))

    for list in ["list.txt", "other.txt"] { try job.folder.write(Data("a\nlate\n".utf8), to: list) }
    #expect(try await job.run().command.status == 0)
    #expect(!exists(job, "late") && !exists(job, "a"))
    let sent = try await receiver.received().files
    for file in ["first-late", "second-late", "first-a", "second-a"] {
      #expect(sent.first { $0.name == file }?.size == (file.hasSuffix("a") ? 7 : 4), "\(file)")
    }
  }

  /// The second upload sends what the first has moved, and its list names a file through a link to a folder.
  @Test func `removes a file that a needed upload never lists, but not one that it lists under another name`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let uploads = """
      uploads:
        first:
          session: uploads
          files: { root: files, include: ["in/**"] }
          transfer: { request: { url: "${vars.api}/files/first-${file.name}" } }
          after: { move_to: sent }
        second:
          session: uploads
          needs: [first]
          files: { root: files/sent, list: sent.txt }
          transfer: { request: { url: "${vars.api}/files/second-${file.name}" } }
          after: delete
        third:
          session: uploads
          needs: [first]
          files: { root: files, list: linked.txt }
          transfer: { request: { url: "${vars.api}/files/third-${file.name}" } }
          after: delete
      """
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, uploads))
    try job.write("moved", to: "sent/in/a")
    try job.write("new", to: "in/b")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("files/link"), withDestinationPath: "in")
    try job.folder.write(Data("in/a\n".utf8), to: "sent.txt")
    try job.folder.write(Data("link/late\n".utf8), to: "linked.txt")
    try await receiver.add(fault: #"{"route": "file", "delay": 3}"#)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.files.isEmpty }
    try job.write("late", to: "in/late")
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("third: 1 file will be sent by the next run"), "\(end.stderr)")
    #expect(!exists(job, "sent/in/a") && exists(job, "in/late"))
    #expect(try await receiver.received().files.map(\.name).sorted() == ["first-b", "second-a"])
  }

  /// The first upload names the files through links, which its globs follow. It never lists files in folders that it
  /// reaches only through a link.
  @Test func `compares the files of two uploads, not their names`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=3"])
    let uploads = """
      uploads:
        first:
          session: uploads
          files: { root: files, include: ["**"], exclude: ["store/**", "releases/**"] }
          transfer: { request: { url: "${vars.api}/files/first-${file.name}" } }
        second:
          session: uploads
          needs: [first]
          files: { root: files, list: list.txt }
          transfer: { request: { url: "${vars.api}/files/second-${file.name}" } }
          after: delete
      """
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, uploads))
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: job.folder.path("files/\(name)"), withDestinationPath: target)
    }
    for name in ["store/a", "store/b", "releases/1/app", "in/other"] { try job.write("first", to: name) }
    for name in ["a", "b"] { try link("in/\(name)", to: "../store/\(name)") }
    try link("current", to: "releases/1")
    try job.folder.write(Data("store/a\nstore/b\nstore/late\ncurrent/app\n".utf8), to: "list.txt")
    let run = try job.start(["run", "job.yaml"])
    // The receiver has received in/a, and the response is delayed.
    _ = try await receiver.received { $0.files.count >= 1 }
    try job.write("changed", to: "store/a")
    try job.write("late", to: "store/late")
    try link("in/late", to: "../store/late")
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("second: 2 files will be sent by the next run"), "\(end.stderr)")
    #expect(exists(job, "store/a") && exists(job, "store/late"))
    #expect(!exists(job, "store/b") && !exists(job, "releases/1/app"))

    try job.folder.write(Data("store/a\nstore/late\n".utf8), to: "list.txt")
    #expect(try await job.run().command.status == 0)
    #expect(!exists(job, "store/a") && !exists(job, "store/late"))
    let sent = try await receiver.received().files
    for name in ["first-a", "second-a"] { #expect(sent.first { $0.name == name }?.size == 7, "\(name)") }
    for name in ["first-late", "second-late"] { #expect(sent.contains { $0.name == name }, "\(name)") }
  }

  @Test func `reports a delivered file that someone else has removed`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(manifest(server, after: "keep"))
    try job.write("a", to: "a")
    try job.folder.write(Data("a\n".utf8), to: "list.txt")
    #expect(try await job.run().command.status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.node("files")?.problems?.map(\.path) == ["a"])
  }
}

/// Files that are submitted although they were delivered, because their `after` action was still pending.
@Suite struct `A submitted file that ferry has taken away` {
  /// A manifest whose file was delivered, but could not be moved.
  private func delivered(_ server: ScriptedServer) async throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: taken
      sessions: { uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files, include: ["in/**"] }
          transfer: { protocol: post, request: { url: "\(server.home)/${file.path}" } }
          after: { move_to: sent }

      """)
    try job.write("a", to: "in/a")
    // The folder cannot be created.
    try job.write("", to: "sent")
    let (command, report) = try await job.run()
    #expect(command.status != 0 && report.totals.items.done == 1, "\(command.stderr)")
    try FileManager.default.removeItem(atPath: job.folder.path("files/sent"))
    return job
  }

  @Test func `is not reported as missing, and is not sent again`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try await delivered(server)
    #expect(try await job.ferry("submit", "job.yaml", "files").status == 0)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.failed == 0)
    #expect(FileManager.default.fileExists(atPath: job.folder.path("files/sent/in/a")))
    // The journal still knows that this version was delivered.
    try FileManager.default.moveItem(
      atPath: job.folder.path("files/sent/in/a"), toPath: job.folder.path("files/in/a"))
    #expect(try await job.run().command.status == 0)
    #expect(server.lines == ["home POST /in/a"])
  }

  @Test func `is reported as missing if it was changed before, and someone else removed it`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try await delivered(server)
    try job.write("another version", to: "in/a")
    #expect(try await job.ferry("submit", "job.yaml", "files").status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("files/in/a"))
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.items.map(\.reason?.code) == ["source_missing"])
    #expect(server.lines == ["home POST /in/a"])
  }
}

/// Files that only `ferry submit` names, and of which another version has not ended.
@Suite struct `A submitted file that replaces another version` {
  private func job(_ server: ScriptedServer, _ steps: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: versions
      sessions: { uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files, include: ["none*"] }
          retry: { limit: 0 }
      \(steps)
      """)
    try job.write("1", to: "in/a")
    return job
  }

  private func submit(_ job: Workspace) async throws {
    let command = try await job.ferry("submit", "job.yaml", "files", "files/in/a")
    #expect(command.status == 0, "\(command.stderr)")
  }

  @Test func `is sent by the run after the one that completes the other version`() async throws {
    let server = try await ScriptedServer.start([
      "/ids": .init(status: 200, body: #"{"id":"u1"}"#, next: [.init(status: 200, body: #"{"id":"u2"}"#)]),
      "/u1/commit": .init(status: 500, next: [.init(status: 200)]),
    ])
    let job = try job(
      server,
      """
          allocate:
            request: { url: "\(server.home)/ids", json: { name: "${file.path}" } }
            capture: { id: { json: /id } }
          transfer: { request: { url: "\(server.home)/${allocate.id}/content" } }
          commit:
            request: { url: "\(server.home)/${allocate.id}/commit" }
            idempotency_key: { header: Idempotency-Key }
      """)
    try await submit(job)
    #expect(try await job.ferry("run", "job.yaml").status != 0)
    try job.write("second", to: "in/a")
    try job.write("b", to: "in/b")
    let files = ["files/in/a", "files/in/b"]
    #expect(try await job.start(["submit", "job.yaml", "files"] + files).end().status == 0)
    let first = try await job.ferry("run", "job.yaml")
    #expect(first.status == 0, "\(first.stderr)")
    #expect(
      first.stderr.contains(
        "versions/files: 1 file submitted to this run will be sent by the next run: another version was queued before"
      ), "\(first.stderr)")
    // Only the file that this run has not sent remains.
    #expect(try await job.status().session("versions.uploads")?.notes.map(\.paths) == [["in/a"]])
    #expect(try await job.ferry("resume").status == 0)
    #expect(server.requests.filter { $0.path.hasSuffix("/content") }.map(\.body) == ["1", "b", "second"])
    #expect(try await job.status().session("versions.uploads")?.notes.isEmpty == true)
  }

  @Test func `is sent after a decision about the other version, if that is ambiguous`() async throws {
    let server = try await ScriptedServer.start([
      "/in/a": .init(status: 500, next: [.init(status: 200)])
    ])
    let job = try job(
      server, #"    transfer: { protocol: post, request: { url: "\#(server.home)/${file.path}" } }"#)
    try await submit(job)
    #expect(try await job.run().report.totals.items.ambiguous == 1)
    try job.write("second", to: "in/a")
    try await submit(job)
    // A file of the same submission that can be sent is not kept.
    try job.write("c", to: "in/c")
    #expect(
      try await job.start(["submit", "job.yaml", "files", "files/in/c", "files/in/a"]).end().status == 0)
    for _ in 1...2 {
      let run = try await job.ferry("run", "job.yaml")
      #expect(run.stderr.contains("1 submitted file will be sent after you have decided"), "\(run.stderr)")
    }
    #expect(try await job.ferry("resolve", "in/a", "done", "--manifest", "job.yaml").status == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(server.requests.map(\.body) == ["1", "c", "second"])
    #expect(try await job.status().session("versions.uploads")?.notes.isEmpty == true)
  }

  /// The file was replaced again before the run that read it.
  @Test func `is not sent again after a decision about a later version`() async throws {
    let server = try await ScriptedServer.start(["/in/a": .init(status: 500, next: [.init(status: 200)])])
    let job = try job(
      server,
      #"""
          deliver: every_run
          transfer: { protocol: post, request: { url: "\#(server.home)/${file.path}" } }
      """#)
    try await submit(job)
    try job.write("later version", to: "in/a")
    #expect(try await job.run().report.totals.items.ambiguous == 1)
    #expect(try await job.ferry("resolve", "in/a", "done", "--manifest", "job.yaml").status == 0)
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    #expect(server.requests.map(\.body) == ["later version"])
  }

  @Test func `is sent again in the same round with deliver every_run`() async throws {
    let server = try await ScriptedServer.start(["/in/b": .init(status: 429)])
    let job = try job(
      server,
      #"""
          deliver: every_run
          transfer: { request: { url: "\#(server.home)/${file.path}" } }
      """#)
    try job.write("b", to: "in/b")
    let files = ["files/in/a", "files/in/b"]
    #expect(try await job.start(["submit", "job.yaml", "files"] + files).end().status == 0)
    #expect(try await job.ferry("run", "job.yaml").status != 0)
    try job.write("second", to: "in/a")
    try await submit(job)
    #expect(try await job.ferry("run", "job.yaml").status != 0)
    #expect(server.requests.filter { $0.path == "/in/a" }.map(\.body) == ["1", "second"])
  }
}
