import Foundation
import Testing

/// `ferry cancel` and `ferry reset` after a run was killed while the server handled a request that must not be repeated.
/// Only the journal shows that the server may have executed it.
@Suite("A request that a killed run may have sent")
struct UnansweredRequestTests {
  private static let files = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        transfer: { request: { method: POST, url: "${vars.api}/inbox?name=${file.name}" } }

    """

  private static let request = """
    requests:
      notify:
        session: quick
        request: { method: POST, url: "${vars.api}/inbox?name=notify" }

    """

  /// An upload that keeps the round open.
  private static let waiting = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        retry: { limit: 0 }
        transfer: { request: { url: "http://127.0.0.1:1/${file.name}" } }

    """

  private static let removesSession = "force_quit: remove_session\n"

  private let receiver: ReceiverProcess

  init() async throws {
    receiver = try await ReceiverProcess.start(faults: ["inbox:delay=300", "file:delay=300"])
  }

  private func workspace(_ nodes: String..., top: String = "") throws -> Workspace {
    let job = try Workspace(top + JobText.text(server: receiver.url, nodes.joined(separator: "\n")))
    try job.write("one", to: "1.txt")
    return job
  }

  /// Runs a manifest, and kills ferry when the server has the POST. Later requests get a response at once.
  private func kill(_ job: Workspace, _ manifest: String = "job.yaml", awaitsFile: Bool = false) async throws
  {
    let run = try job.start(["run", manifest])
    _ = try await receiver.received { !$0.inbox.isEmpty && !(awaitsFile && $0.files.isEmpty) }
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
  }

  /// Moves the journal of the session of the request away.
  ///
  /// - Returns: a function that restores it.
  private func setAside(_ job: Workspace) throws -> () throws -> Void {
    let (sessions, aside) = (job.state + "/sessions", job.state + "-aside")
    try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: false)
    let names = try FileManager.default.contentsOfDirectory(atPath: sessions).filter {
      $0.hasPrefix("e2e.quick.db")
    }
    func move(from folder: String, to other: String) throws {
      for name in names {
        try FileManager.default.moveItem(atPath: "\(folder)/\(name)", toPath: "\(other)/\(name)")
      }
    }
    try move(from: sessions, to: aside)
    return { try move(from: aside, to: sessions) }
  }

  /// Gives the request another session or server.
  private func edit(_ job: Workspace, _ edit: String, _ other: ReceiverProcess) throws {
    var edited = JobText.text(server: receiver.url, Self.request + Self.waiting)
    switch edit {
    case "session": edited.replace("session: quick\n    request", with: "session: uploads\n    request")
    case "ephemeral": edited.replace("quick: {", with: "quick: { kind: ephemeral,")
    default: edited.replace("${vars.api}/inbox", with: "\(other.url)/inbox")
    }
    try job.folder.write(Data(edited.utf8), to: "job.yaml")
  }

  /// The next run reports the request, and does not send it.
  private func expectAmbiguous(_ job: Workspace, _ manifest: String = "job.yaml") async throws {
    let run = try await job.start(["run", manifest, "--report", "report.json"]).end()
    #expect(run.status == 1, "\(run.stdout)\(run.stderr)")
    #expect(run.stdout.contains("ambiguous"), "\(run.stdout)\(run.stderr)")
    #expect(try await receiver.received().inbox.count == 1)
  }

  // MARK: an edited manifest

  /// The next run reports the request although it has another session or server, and does not send it.
  @Test(arguments: ["session", "ephemeral", "origin"], [false, true])
  func `is not sent again after an edit in the same round`(_ edit: String, _ isCancelled: Bool) async throws {
    let job = try workspace(Self.request, Self.waiting)
    try await kill(job)
    if isCancelled { #expect(try await job.ferry("cancel", "e2e.quick").status == 0) }
    let other = try await ReceiverProcess.start()
    try self.edit(job, edit, other)
    let plan = try await job.ferry("plan", "job.yaml").stdout
    #expect(plan.contains("request notify") && plan.contains("ambiguous"), "\(plan)")
    try await expectAmbiguous(job)
    try await expectAmbiguous(job)
    #expect(try await other.received().inbox.isEmpty)
    // The commands refer to the server to which the request was sent.
    let ambiguity = try #require(try job.report().node("notify")?.ambiguity)
    #expect(ambiguity.origin == receiver.url)
    let session = edit == "session" ? "e2e.uploads" : "e2e.quick"
    #expect(ambiguity.resolve.allSatisfy { $0.contains("--session \(session) ") }, "\(ambiguity.resolve)")
    let status = try await job.status().sessions.flatMap(\.nodes).filter { $0.name == "notify" }
    #expect(status.count { $0.state == "ambiguous" } == 1, "\(status)")
  }

  /// The server of the edited manifest was already tried in this round.
  @Test func `is not sent again after its former server has been restored`() async throws {
    let former = JobText.text(
      server: receiver.url,
      Self.request.replacing("${vars.api}", with: "http://127.0.0.1:1").replacing(
        "session: quick", with: "session: quick\n    retry: { limit: 0 }"))
    let job = try Workspace(former)
    #expect(try await job.run().command.status == 5)
    let edited = JobText.text(server: receiver.url, Self.request)
    try job.folder.write(Data(edited.utf8), to: "job.yaml")
    try await kill(job)
    try job.folder.write(Data(former.utf8), to: "job.yaml")
    try await expectAmbiguous(job)
    #expect(try job.report().node("notify")?.ambiguity?.origin == receiver.url)
  }

  @Test func `is not sent again after an edit of its session was undone`() async throws {
    let job = try workspace(Self.request, Self.waiting)
    try await kill(job)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    let edited = text.replacing("session: quick\n    request", with: "session: uploads\n    request")
    #expect(edited != text)
    for manifest in [edited, text, edited] {
      try job.folder.write(Data(manifest.utf8), to: "job.yaml")
      try await expectAmbiguous(job)
    }
    #expect(try await job.ferry("resolve", "notify", "done", "--manifest", "job.yaml").status == 0)
    #expect(try await job.run().command.status == 5)
    #expect(try await receiver.received().inbox.count == 1)
  }

  /// The outcome cannot be recorded while another process holds the former session.
  @Test func `waits for its former session after an edit`() async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.folder.write(
      Data(text.replacing("session: quick\n    request", with: "session: uploads\n    request").utf8),
      to: "job.yaml")
    let slow = try await ReceiverProcess.start(faults: ["inbox:delay=300"])
    let other = JobText.text(server: slow.url, Self.request)
      .replacing("name: e2e\n", with: "name: other\n").replacing(
        "quick: {", with: "quick: { identifier: e2e.quick,")
    try job.folder.write(Data(other.utf8), to: "other.yaml")
    let holder = try job.start(["run", "other.yaml"])
    _ = try await slow.received { !$0.inbox.isEmpty }
    let (waiting, report) = try await job.run()
    #expect(waiting.status == 5 && report.run.roundClosed == false, "\(waiting.stdout)\(waiting.stderr)")
    #expect(waiting.stdout.contains("which another process uses"), "\(waiting.stdout)")
    holder.signal(SIGKILL)
    _ = await holder.end()
    try await expectAmbiguous(job)
    #expect(try await job.ferry("resolve", "notify", "done", "--manifest", "job.yaml").status == 0)
  }

  @Test(arguments: ["session", "ephemeral", "origin"], [("done", 0), ("retry", 1)])
  func `follows the decision about it after an edit`(_ edit: String, _ decision: (String, Int)) async throws {
    let job = try workspace(Self.request, Self.waiting)
    try await kill(job)
    let other = try await ReceiverProcess.start()
    try self.edit(job, edit, other)
    try await expectAmbiguous(job)
    let commands = try #require(try job.report().node("notify")?.ambiguity?.resolve)
    let command = try #require(commands.first { $0.contains(" \(decision.0) ") })
    let words = command.split(separator: " ").dropFirst().map(String.init)
    #expect(try await Command.run(Product.path("ferry"), words).status == 0)
    for _ in 0..<2 { #expect(try await job.run().command.status == 5) }
    #expect(try job.report().node("notify")?.state == "succeeded")
    // An ephemeral session does not store that the request was sent.
    let count = decision.1 * (edit == "ephemeral" ? 2 : 1)
    #expect(try await receiver.received().inbox.count + other.received().inbox.count == 1 + count)
  }

  @Test(arguments: ["request_gone", "other_name", "other_session"])
  func `is reported if the edited manifest has another one or none`(_ code: String) async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let other = try await ReceiverProcess.start()
    let text = JobText.text(server: receiver.url, Self.request + JobText.puts)
    let edited =
      switch code {
      case "request_gone": JobText.text(server: receiver.url, JobText.puts)
      case "other_name": text.replacing("name: e2e\n", with: "name: other\n")
      default:
        text.replacing("session: quick\n    request", with: "session: uploads\n    request")
          .replacing("${vars.api}/inbox", with: "\(other.url)/inbox")
      }
    try job.folder.write(Data(edited.utf8), to: "job.yaml")
    let (run, report) = try await job.run()
    #expect(
      run.stderr.contains("notify: 1 request that may have been executed: "), "\(run.stderr)")
    #expect(report.run.edits?.contains { $0.code == code && $0.upload == "notify" } == true)
    let status = try await job.ferry("status", "e2e.quick").stdout
    #expect(status.contains("request notify of e2e") && status.contains("resolve notify done"), "\(status)")
  }

  /// The request to the former server has succeeded, and its result does not apply to the one that was killed.
  @Test func `is reported if the manifest again has a server whose request has succeeded`() async throws {
    let former = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: former.url, Self.request + Self.waiting))
    try job.write("one", to: "1.txt")
    #expect(try await job.run().command.status == 5)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.folder.write(Data(text.replacing(former.url, with: receiver.url).utf8), to: "job.yaml")
    try await kill(job)
    try job.folder.write(Data(text.utf8), to: "job.yaml")
    let (run, report) = try await job.run()
    #expect(run.stderr.contains("request 'notify' previously used \(receiver.url)"), "\(run.stderr)")
    #expect(
      report.run.edits?.contains { $0.code == "other_origin" && $0.upload == "notify" } == true,
      "\(String(describing: report.run.edits))")
    #expect(report.node("notify")?.state == "succeeded")
    #expect(try await receiver.received().inbox.count + former.received().inbox.count == 2)
  }

  // MARK: cancel

  @Test func `keeps its session under force_quit remove_session until it has been resolved`() async throws {
    let job = try workspace(Self.files, top: Self.removesSession)
    try await kill(job)
    let text = try await job.ferry("cancel", "e2e.uploads").stdout
    #expect(
      text.contains(
        "0 items canceled, 1 ambiguous, the session was kept because 1 request may have been executed; cancel it again after ferry resolve has recorded the decision"
      ), "\(text)")
    #expect(text.contains("to list them with the commands that resolve them, run: ferry status e2e.uploads"))
    try await expectAmbiguous(job)
    #expect(try await job.ferry("resolve", "1.txt", "done", "--manifest", "job.yaml").status == 0)
    let removed = try await job.ferry("cancel", "e2e.uploads", "--format", "json")
      .json(`The queue of a session`.Cancelled.self)
    #expect(removed.sessions.first?.result == "removed" && removed.sessions.first?.undecided == nil)
  }

  @Test func `keeps its session if it was sent by a process that is asked to cancel`() async throws {
    let job = try workspace(Self.files, top: Self.removesSession)
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

  @Test func `keeps its session if another manifest of the session is canceled`() async throws {
    let job = try workspace(Self.files, top: Self.removesSession)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.folder.write(Data(text.replacing("name: e2e", with: "name: other").utf8), to: "other.yaml")
    try await kill(job, "other.yaml")
    let cancelled = try await job.ferry("cancel", "./job.yaml", "--format", "json")
      .json(`The queue of a session`.Cancelled.self)
    #expect(cancelled.sessions.allSatisfy { $0.result != "removed" })
    try await expectAmbiguous(job, "other.yaml")
  }

  /// The round remains open because another session has work in it.
  @Test(arguments: ["cancel_tasks", "remove_session"])
  func `ends as ambiguous if its session is canceled`(_ forceQuit: String) async throws {
    let job = try workspace(Self.request, JobText.puts, top: "force_quit: \(forceQuit)\n")
    try await kill(job, awaitsFile: true)
    let text = try await job.ferry("cancel", "e2e.quick").stdout
    #expect(text.contains("0 items canceled, 1 ambiguous"), "\(text)")
    #expect(text.contains("the session was kept") == (forceQuit == "remove_session"), "\(text)")
    try await expectAmbiguous(job)
    #expect(try await job.ferry("resolve", "notify", "done", "--manifest", "job.yaml").status == 0)
  }

  @Test func `keeps the round open if another session is canceled`() async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let command = try await job.ferry("cancel", "e2e.uploads")
    #expect(command.status == 0 && !command.stdout.contains("closed"), "\(command.stdout)\(command.stderr)")
    try await expectAmbiguous(job)
  }

  /// The journal may be restored later.
  @Test(arguments: [false, true])
  func `keeps the round open if another session is canceled while its own journal is missing`(
    _ isManifestMissing: Bool
  ) async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let restore = try setAside(job)
    let manifest = job.folder.path("job.yaml")
    if isManifestMissing { try FileManager.default.moveItem(atPath: manifest, toPath: manifest + ".aside") }
    let command = try await job.ferry("cancel", "e2e.uploads")
    #expect(command.status == 0 && !command.stdout.contains("closed"), "\(command.stdout)\(command.stderr)")
    try restore()
    if isManifestMissing { try FileManager.default.moveItem(atPath: manifest + ".aside", toPath: manifest) }
    try await expectAmbiguous(job)
  }

  // MARK: reset

  @Test func `prevents a reset of another session of its manifest`() async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 2, "\(refused.stdout)\(refused.stderr)")
    #expect(refused.stderr.contains("notify of e2e, session e2e.quick: its request"), "\(refused.stderr)")
    try await expectAmbiguous(job)
  }

  /// The journal may be restored later.
  @Test func `prevents a reset of another session while its own journal is missing`() async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let restore = try setAside(job)
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 70, "\(refused.stdout)\(refused.stderr)")
    try restore()
    #expect(try await job.ferry("reset", "e2e.uploads").status == 2)
    try await expectAmbiguous(job)
  }

  /// The journal of the other session does not contain the manifest yet.
  @Test func `prevents a reset of a session with files submitted to its manifest`() async throws {
    let job = try workspace(Self.request)
    try await kill(job)
    let edited = JobText.text(server: receiver.url, Self.request + JobText.puts)
    try job.folder.write(Data(edited.utf8), to: "job.yaml")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/1.txt").status == 0)
    let refused = try await job.ferry("reset", "e2e.uploads")
    #expect(refused.status == 2, "\(refused.stdout)\(refused.stderr)")
    try await expectAmbiguous(job)
  }

  /// An edit has moved the request to another session since it was sent.
  @Test func `prevents a reset although the manifest no longer uses its session`() async throws {
    let job = try workspace(Self.request, JobText.puts)
    try await kill(job, awaitsFile: true)
    let moved = JobText.text(
      server: receiver.url, Self.request.replacing("session: quick", with: "session: uploads"), JobText.puts)
    try job.folder.write(Data(moved.utf8), to: "job.yaml")
    #expect(try await job.ferry("reset", "e2e.uploads").status == 2)
  }
}
