import Foundation
import Testing

/// How `ferry cancel`, `ferry reset` and `ferry submit` change a queue.
@Suite struct `The queue of a session` {
  struct Cancelled: Decodable {
    struct Session: Decodable {
      struct Round: Decodable {
        var manifest: String
        var round: Int
      }
      var session: String
      var result: String
      var items: Int
      var ambiguous: Int
      var undecided: Int?
      var submitted: Int
      var closedRounds: [Round]
      var pid: Int32?
    }
    var version: Int
    var sessions: [Session]
  }

  struct Reset: Decodable {
    struct Session: Decodable {
      var session: String
      var items: Int
      var uploadIds: Int
      var unanswered: Int
      var notes: Int
      var closedRounds: [Cancelled.Session.Round]
    }
    var version: Int
    var sessions: [Session]
  }

  struct Receipt: Decodable {
    var version: Int
    var upload: String
    var session: String
    var files: Int
    var bytes: Int
    var round: Int?
  }

  /// Queues two files of an upload that wait for power.
  private func waiting(
    _ receiver: ReceiverProcess, top: String = "", _ nodes: String = JobText.puts
  ) async throws -> Workspace {
    let text = JobText.text(server: receiver.url, nodes)
      .replacing("kind: background", with: "kind: background\n    discretionary: true")
    let job = try Workspace(text + top)
    try job.write("one", to: "1.txt")
    try job.write("two", to: "2.txt")
    #expect(try await job.run("--power", "battery").command.status == 8)
    return job
  }

  // MARK: cancel

  @Test func `is cancelled, its round is closed, and the next one sends its files`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(receiver)
    let command = try await job.ferry("cancel", "e2e.uploads", "--format", "json")
    let cancelled = try command.json(Cancelled.self)
    #expect(command.status == 0 && cancelled.version == 1)
    let session = try #require(cancelled.sessions.first)
    #expect(session.result == "cancelled" && session.items == 2)
    #expect(session.closedRounds.map(\.round) == [1])
    #expect(try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] == 0)
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
    #expect(try await receiver.received().requests == 0)
    let (run, report) = try await job.run("--power", "external")
    #expect(run.status == 0 && report.run.round == 2 && report.totals.itemsDoneInRun == 2)
    #expect(try await job.ferry("cancel", "nobody").status == 2)
  }

  @Test func `leaves a round open in which another session has work`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(
      receiver, JobText.puts + "\n" + JobText.notes([("notify", "always"), ("cheer", "succeeded")]))
    let one = try await job.ferry("cancel", "e2e.uploads", "--format", "json").json(Cancelled.self)
    #expect(one.sessions.first?.closedRounds.isEmpty == true)
    // When both sessions are canceled, no work remains.
    let both = try await job.ferry("cancel", "job.yaml", "--finish", "--format", "json").json(Cancelled.self)
    #expect(both.sessions.map(\.session) == ["e2e.quick", "e2e.uploads"])
    #expect(both.sessions.flatMap(\.closedRounds).map(\.manifest) == ["e2e"])
  }

  @Test func `is removed with its journal under force_quit remove_session`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(receiver, top: "force_quit: remove_session\n")
    #expect(try await job.ferry("check", "job.yaml").stdout.contains("job.yaml: ok\n"))
    let cancelled = try await job.ferry("cancel", "e2e.uploads", "--format", "json").json(Cancelled.self)
    #expect(cancelled.sessions.first?.result == "removed")
    #expect(cancelled.sessions.first?.closedRounds.map(\.round) == [1])
    let files = try FileManager.default.contentsOfDirectory(atPath: job.state + "/sessions")
    #expect(!files.contains { $0.hasPrefix("e2e.uploads.db") })
    #expect(try await job.run("--power", "external").report.totals.itemsDoneInRun == 2)
  }

  private static let posts = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        transfer: { request: { method: POST, url: "${vars.api}/inbox?name=${file.name}" } }

    """

  /// Only the journal shows that the file may have been delivered.
  @Test func `is kept under force_quit remove_session while it has an ambiguous item`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300"])
    let job = try Workspace("force_quit: remove_session\n" + JobText.text(server: receiver.url, Self.posts))
    try job.write("one", to: "1.txt")
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let text = try await job.ferry("cancel", "e2e.uploads").stdout
    #expect(
      text.contains(
        "0 items canceled, 1 ambiguous, the session was kept because 1 request may have been executed; cancel it again after ferry resolve has recorded the decision"
      ), "\(text)")
    #expect(text.contains("to list them with the commands that resolve them, run: ferry status e2e.uploads"))
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("resolve", "1.txt", "done", "--manifest", "job.yaml").status == 0)
    let removed = try await job.ferry("cancel", "e2e.uploads", "--format", "json").json(Cancelled.self)
    #expect(removed.sessions.first?.result == "removed" && removed.sessions.first?.undecided == nil)
    #expect(try await receiver.received().inbox.count == 1)
  }

  /// The round remains open because another session has work in it.
  @Test(arguments: ["cancel_tasks", "remove_session"])
  func `ends requests that may have been executed as ambiguous`(_ forceQuit: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300", "file:delay=300"])
    let request = """
      requests:
        notify:
          session: quick
          request: { method: POST, url: "${vars.api}/inbox?name=notify" }

      """
    let job = try Workspace(
      "force_quit: \(forceQuit)\n" + JobText.text(server: receiver.url, request + JobText.puts))
    try job.write("one", to: "1.txt")
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty && !$0.files.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let text = try await job.ferry("cancel", "e2e.quick").stdout
    #expect(text.contains("0 items canceled, 1 ambiguous"), "\(text)")
    #expect(text.contains("the session was kept") == (forceQuit == "remove_session"), "\(text)")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("notify")?.state == "ambiguous")
    #expect(try await receiver.received().inbox.count == 1)
    #expect(
      try await job.ferry("resolve", "notify", "done", "--manifest", "job.yaml").status == 0)
  }

  /// The next run must report the request of the other session as ambiguous.
  @Test(arguments: [["cancel", "e2e.uploads"], ["reset", "e2e.uploads"]])
  func `keeps the round open if another session has a request that may have been executed`(
    _ words: [String]
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300", "file:delay=300"])
    let request = """
      requests:
        notify:
          session: quick
          request: { method: POST, url: "${vars.api}/inbox?name=notify" }

      """
    let job = try Workspace(JobText.text(server: receiver.url, request + JobText.puts))
    try job.write("one", to: "1.txt")
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty && !$0.files.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let command = try await job.start(words).end()
    #expect(command.status == (words[0] == "reset" ? 2 : 0), "\(command.stdout)\(command.stderr)")
    #expect(!command.stdout.contains("closed"), "\(command.stdout)\(command.stderr)")
    let (run, report) = try await job.run()
    #expect(run.status == 1, "\(run.stdout)\(run.stderr)")
    #expect(report.node("notify")?.state == "ambiguous")
    #expect(try await receiver.received().inbox.count == 1)
  }

  /// The journal may be restored later, and then shows that the request may have been executed.
  @Test func `is not reset while the journal of another session of its manifest is missing`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300", "file:delay=300"])
    let request = """
      requests:
        notify:
          session: quick
          request: { method: POST, url: "${vars.api}/inbox?name=notify" }

      """
    let job = try Workspace(JobText.text(server: receiver.url, request + JobText.puts))
    try job.write("one", to: "1.txt")
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty && !$0.files.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let (sessions, aside) = (job.state + "/sessions", job.state + "-aside")
    try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: false)
    let names = try FileManager.default.contentsOfDirectory(atPath: sessions).filter {
      $0.hasPrefix("e2e.quick.db")
    }
    for name in names {
      try FileManager.default.moveItem(atPath: "\(sessions)/\(name)", toPath: "\(aside)/\(name)")
    }
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 70, "\(refused.stdout)\(refused.stderr)")
    for name in names {
      try FileManager.default.moveItem(atPath: "\(aside)/\(name)", toPath: "\(sessions)/\(name)")
    }
    #expect(try await job.ferry("reset", "e2e.uploads").status == 2)
    #expect(try await job.run().command.status == 1)
    #expect(try await receiver.received().inbox.count == 1)
  }

  /// The session's journal does not know the manifest whose round would be closed.
  @Test func `is not reset if a request of a manifest with submitted files may have been executed`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300"])
    let request = """
      requests:
        notify:
          session: quick
          request: { method: POST, url: "${vars.api}/inbox?name=notify" }

      """
    let job = try Workspace(JobText.text(server: receiver.url, request))
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    try job.folder.write(
      Data(JobText.text(server: receiver.url, request + JobText.puts).utf8), to: "job.yaml")
    try job.write("one", to: "1.txt")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/1.txt").status == 0)
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 2, "\(refused.stdout)\(refused.stderr)")
    #expect(try await job.run().command.status == 1)
    #expect(try await receiver.received().inbox.count == 1)
  }

  /// A session cannot be used while its journal is damaged. The others can.
  @Test func `is cancelled or reset although the journal of another session cannot be read`() async throws {
    let receiver = try await ReceiverProcess.start()
    for words in [["cancel"], ["reset"]] {
      let job = try await waiting(receiver, top: "")
      try job.write("two", to: "submitted")
      #expect(try await job.ferry("submit", "job.yaml", "files", "files/submitted").status == 0)
      try Data("hello".utf8).write(to: URL(filePath: job.state + "/sessions/zzz.db"))
      let command = try await job.start(words + ["e2e.uploads"]).end()
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
      #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
    }
  }

  /// The next run of the other manifest must know that its file may have been delivered.
  @Test func `is kept under force_quit remove_session for another manifest`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300"])
    let text = "force_quit: remove_session\n" + JobText.text(server: receiver.url, Self.posts)
    let job = try Workspace(text)
    try job.folder.write(Data(text.replacing("name: e2e", with: "name: other").utf8), to: "other.yaml")
    try job.write("one", to: "1.txt")
    let killed = try job.start(["run", "other.yaml"])
    _ = try await receiver.received { !$0.inbox.isEmpty }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let cancelled = try await job.ferry("cancel", "./job.yaml", "--format", "json").json(Cancelled.self)
    #expect(cancelled.sessions.allSatisfy { $0.result != "removed" })
    #expect(try await job.start(["run", "other.yaml"]).end().status == 1)
    #expect(try await receiver.received().inbox.count == 1)
  }

  @Test func `is kept by the process that holds it while it has an ambiguous item`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300"])
    let job = try Workspace("force_quit: remove_session\n" + JobText.text(server: receiver.url, Self.posts))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { !$0.inbox.isEmpty }
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    let end = await run.end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    #expect(
      end.stderr.contains(
        "session e2e.uploads was kept because 1 request may have been executed; cancel it again"),
      "\(end.stderr)")
    #expect(try job.report().item("1.txt")?.state == "ambiguous")
    #expect(try await job.ferry("resolve", "1.txt", "retry", "--manifest", "job.yaml").status == 0)
    try await receiver.clearFaults()
    #expect(try await job.run().command.status == 0)
  }

  @Test func `is cancelled by the process that holds it`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 1, run.isRunning {
    }
    let command = try await job.ferry("cancel", "e2e.uploads")
    #expect(command.status == 0)
    #expect(
      command.stdout == "session e2e.uploads: in use by process \(run.pid), which was asked to cancel\n")
    let end = await run.end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    #expect(end.stdout.contains("upload files: canceled, 1 canceled\n"), "\(end.stdout)")
    #expect(end.stdout.contains("\n  1 item was canceled by ferry cancel\n"), "\(end.stdout)")
    #expect(!end.stdout.contains("failed"))
    #expect(try job.report().item("1.txt")?.state == "cancelled")
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `is cancelled by the process that holds it, which exits with 0 under cancelled-ok`() async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--cancelled-ok", "--report", "report.json"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 1, run.isRunning {
    }
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(end.stdout.contains("\n  1 item was canceled by ferry cancel\n"), "\(end.stdout)")
    #expect(try job.report().run.exitCode == 0)
  }

  @Test func `is cancelled as a whole by a process that runs one of its manifests`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try await waiting(receiver)
    func items(_ manifest: String) async throws -> [String: Int]? {
      try await job.status().session("e2e.uploads")?.nodes.first { $0.manifest == manifest }?.items
    }
    let other = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
      .replacing("name: e2e\n", with: "name: other\n")
    try job.folder.write(Data(other.utf8), to: "other.yaml")
    let run = try job.start(["run", "other.yaml", "--quiet", "--power", "external"])
    while try await items("other")?["queued"] != 2, run.isRunning {}
    let command = try await job.ferry("cancel", "e2e.uploads")
    #expect(command.stdout.contains("was asked to cancel"), "\(command.stdout)\(command.stderr)")
    let end = await run.end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    for manifest in ["e2e", "other"] {
      let items = try await items(manifest)
      #expect(items?["cancelled"] == 2, "\(manifest): \(items ?? [:])")
    }
  }

  // MARK: reset

  @Test func `is dropped, and the next run begins a new round`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:status=425"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url, JobText.uploadIDs(retry: "retry: { limit: 0, initial: 10ms, max: 20ms }")))
    try job.write("one", to: "1.txt")
    #expect(try await job.run().command.status == 5)
    #expect(try await job.ferry("submit", "job.yaml", "files").status == 0)
    let command = try await job.ferry("reset", "e2e.uploads", "--format", "json")
    let reset = try #require(try command.json(Reset.self).sessions.first)
    #expect(reset.items == 1 && reset.uploadIds == 1 && reset.unanswered == 0 && reset.notes == 1)
    #expect(reset.closedRounds.map(\.round) == [1])
    let again = try await job.ferry("reset", "e2e.uploads")
    #expect(again.stdout == "session e2e.uploads: 0 items dropped, 0 upload IDs, 0 unanswered steps\n")
    try await receiver.clearFaults()
    let (run, report) = try await job.run()
    #expect(run.status == 0 && report.run.round == 2)
    #expect(try await receiver.received().byName["1.txt"]?.allocations == 2)
    #expect(try await job.ferry("reset", "nobody").status == 2)
  }

  // MARK: submit

  @Test func `takes files that are submitted, which the next run sends`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, include: [\"*.jpg\"] }")))
    try job.write("one", to: "1.txt")
    try job.write("two", to: "sub/2.txt")
    let command = try await job.ferry(
      "submit", "../job.yaml", "files", "1.txt", job.folder.path("files/sub/2.txt"), "--format", "json",
      in: job.folder.url.appending(path: "files"))
    let receipt = try command.json(Receipt.self)
    #expect(command.status == 0 && receipt.files == 2 && receipt.bytes == 6 && receipt.round == 1)
    #expect(receipt.session == "e2e.uploads")
    let note = try #require(try await job.status().session("e2e.uploads")?.notes.first)
    #expect(note.kind == "submit" && note.manifest == "e2e" && note.node == "files")
    #expect(note.files == 2 && note.paths == ["1.txt", "sub/2.txt"])
    #expect(try await job.ferry("next", "job.yaml").stdout == "now\n")
    #expect(try await receiver.received().requests == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await receiver.received().puts == ["1.txt": 1, "sub/2.txt": 1])
    #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
  }

  @Test func `takes a list from the standard input`() async throws {
    let job = try Workspace(JobText.text(server: "http://127.0.0.1:9", JobText.puts))
    try job.write("one", to: "1.txt")
    try job.write("two", to: "2 2.txt")
    for (text, more) in [("files/1.txt\nfiles/2 2.txt\n", []), ("files/1.txt\0files/2 2.txt\0", ["--null"])] {
      let input = Pipe()
      let running = try RunningCommand(
        Product.path("ferry"), ["submit", "job.yaml", "files", "--list", "-"] + more,
        environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret], in: job.folder.url,
        input: input)
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
      let command = await running.end()
      #expect(command.stdout.hasPrefix("files: 2 files (6 B) queued in session 'e2e.uploads'"))
    }
    let notes = try await job.status().session("e2e.uploads")?.notes ?? []
    #expect(notes.map(\.paths) == [["1.txt", "2 2.txt"], ["1.txt", "2 2.txt"]])
    // `ferry cancel` also drops the submitted files.
    let cancelled = try await job.ferry("cancel", "job.yaml", "--format", "json").json(Cancelled.self)
    #expect(cancelled.sessions.reduce(0) { $0 + $1.submitted } == 4)
    #expect(cancelled.sessions.flatMap(\.closedRounds).count == 1)
  }

  @Test func `rejects anything but a file inside the upload's root`() async throws {
    let job = try Workspace(JobText.text(server: "http://127.0.0.1:9", JobText.puts))
    try job.write("one", to: "1.txt")
    let root = job.folder.path("files")
    for (file, problem) in [
      ("job.yaml", "is not inside \(root), the root of upload 'files'"), ("files", "not"),
      ("files/3.txt", "it does not exist"),
    ] {
      let command = try await job.ferry("submit", "job.yaml", "files", file)
      #expect(command.status == 2 && command.stdout == "")
      #expect(command.stderr.contains(problem), "\(command.stderr)")
    }
    let unknown = try await job.ferry("submit", "job.yaml", "photos")
    #expect(unknown.status == 2 && unknown.stderr.contains("help: its uploads are 'files'"))
    #expect(try await job.status().sessions.isEmpty)
  }
}
