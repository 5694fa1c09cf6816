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

  /// The record of the other manifest's delivered files is kept.
  @Test(arguments: ["e2e.uploads", "./job.yaml"], [true, false])
  func `is kept while another manifest in it does not request its removal`(
    _ wish: String, _ isRunning: Bool
  ) async throws {
    let (receiver, other) = try await (
      ReceiverProcess.start(faults: ["file:delay=300"]), ReceiverProcess.start()
    )
    let job = try Workspace(
      "force_quit: remove_session\n" + JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    let text = JobText.text(server: other.url, JobText.puts).replacing("name: e2e\n", with: "name: other\n")
    try job.folder.write(Data(text.utf8), to: "other.yaml")
    #expect(try await job.ferry("run", "other.yaml").status == 0)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { !$0.files.isEmpty }
    if !isRunning {
      run.signal(SIGTERM)
      _ = await run.end()
    }
    let command = try await job.ferry("cancel", wish)
    #expect(command.status == 0 && !command.stdout.contains("removed"), "\(command.stdout)\(command.stderr)")
    if isRunning {
      let end = await run.end()
      #expect(
        end.status == 1 && end.stdout.contains("canceled by ferry cancel"), "\(end.stdout)\(end.stderr)")
      #expect(try job.report().item("1.txt")?.reason?.code == "cancelled")
    }
    let again = try await job.ferry("run", "other.yaml")
    #expect(again.status == 0 && again.stdout.contains("1 item unchanged"), "\(again.stdout)\(again.stderr)")
  }

  /// The manifest may have come from a pipe. Nothing waits for a writer.
  @Test func `is cancelled although another manifest in it is now a pipe`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(
      "force_quit: remove_session\n" + JobText.text(server: receiver.url, JobText.puts))
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.folder.write(Data(text.replacing("name: e2e\n", with: "name: other\n").utf8), to: "other.yaml")
    #expect(try await job.ferry("run", "other.yaml").status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("other.yaml"))
    #expect(mkfifo(job.folder.path("other.yaml"), 0o600) == 0)
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    _ = try await receiver.received { !$0.files.isEmpty }
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    #expect(await run.end().status == 1)
    #expect(try await job.ferry("status").status == 0)
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
      #expect(command.stdout.contains("round 1 of e2e closed"), "\(command.stdout)")
      #expect(try await job.status().session("e2e.uploads")?.notes.isEmpty == true)
    }
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
