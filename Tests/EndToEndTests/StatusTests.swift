import Foundation
import Testing

/// The output of `ferry status` and `ferry explain ITEM`.
@Suite struct `The status` {
  struct Item: Decodable {
    struct Match: Decodable {
      struct UploadID: Decodable { var expiresAt: String? }
      var node: String
      var path: String?
      var state: String
      var next: String
      var reason: RunReport.Reason?
      var uploadId: UploadID?
      var handedOverAt: String?
      var deliveredAt: String?
      var attempts: [RunReport.Attempt]
      var pid: Int32?
      var interruptedRun: StatusReport.Session.InterruptedRun?
      var items: [String: Int]?
    }
    var version: Int
    var matches: [Match]
  }

  private func explain(_ job: Workspace, _ item: String, _ more: String...) async throws -> Item.Match {
    let command = try await job.start(
      ["explain", item, "--manifest", "job.yaml", "--format", "json"] + more
    ).end()
    let item = try command.json(Item.self)
    #expect(item.version == 1 && item.matches.count == 1)
    return try #require(item.matches.first)
  }

  @Test func `counts items by their state and shows why they wait`() async throws {
    let receiver = try await ReceiverProcess.start()
    let text = JobText.text(server: receiver.url, JobText.puts, JobText.notes([("notify", "always")]))
    let job = try Workspace(
      text.replacing("kind: background", with: "kind: background\n    discretionary: true"))
    #expect(try await job.ferry("status").stdout.hasPrefix("there are no sessions in "))
    try job.write("one", to: "1.txt")
    try job.write("two", to: "2.txt")
    #expect(try await job.run("--power", "battery").command.status == 8)
    let status = try await job.status("--power", "battery")
    #expect(status.version == 1)
    #expect(status.sessions.map(\.identifier) == ["e2e.quick", "e2e.uploads"])
    let session = try #require(status.session("e2e.uploads"))
    #expect(session.holder == nil && session.notes.isEmpty && session.delay == nil && !session.eventsPending)
    #expect(session.node("files")?.items?["queued"] == 2)
    #expect(session.node("files")?.items?["to_send"] == 2)
    #expect(session.node("files")?.reason?.code == "power")
    #expect(status.manifests.first?.round == 1)
    #expect(status.manifests.first?.roundClosedAt == nil)
    let people = try await job.ferry("status", "e2e.uploads", "--power", "battery")
    #expect(people.stdout.contains("session e2e.uploads: free\n"))
    #expect(people.stdout.contains("2 queued, 2 to send (waiting for external power"))
    #expect(!people.stdout.contains("e2e.quick"))

    #expect(try await job.run("--power", "external").command.status == 0)
    let done = try await job.status("--manifest", "job.yaml")
    #expect(done.session("e2e.uploads")?.node("files")?.items?["done"] == 2)
    #expect(done.manifests.first?.roundClosedAt != nil)

    let unknown = try await job.ferry("status", "nobody")
    #expect(unknown.status == 2)
    #expect(unknown.stderr.contains("help: the sessions in "))
    #expect(unknown.stderr.contains(": 'e2e.quick', 'e2e.uploads'"))
  }

  @Test func `names the process that holds a session, until that process is killed`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while try await job.status().session("e2e.uploads")?.holder == nil, run.isRunning {}
    #expect(try await job.status().session("e2e.uploads")?.holder?.pid == run.pid)
    #expect(try await explain(job, "1.txt").next == "running")
    #expect(try await explain(job, "1.txt").pid == run.pid)
    let reset = try await job.ferry("reset", "e2e.uploads")
    #expect(reset.status == 6)
    #expect(reset.stderr.contains("is in use by process \(run.pid), since "))
    #expect(reset.stderr.contains("; nothing was dropped"))
    run.signal(SIGKILL)
    let end = await run.end()
    #expect(end.status == 128 + SIGKILL, "\(end.stdout)\(end.stderr)")
    // The lock file still contains the text of its holder, which must be ignored.
    #expect(try await job.status().session("e2e.uploads")?.holder == nil)
  }

  @Test func `of a run that was killed shows that it was interrupted, and how to continue it`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=6,delay=300"])
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, JobText.puts))
    for number in 1...8 { try job.write("text", to: "\(number).txt") }
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["done"] != 5, run.isRunning {}
    func people(_ arguments: String...) async throws -> String {
      let command = try await job.start(arguments).end()
      return command.stdout + command.stderr
    }
    // During the run, other processes cannot determine which file it is sending.
    let busy = try await people("explain", "6.txt", "--manifest", "job.yaml")
    #expect(busy.contains("process \(run.pid) is running its session\n"), "\(busy)")
    #expect(
      busy.contains("  last recorded state queued in round 1; the process may be sending it, session"),
      "\(busy)")
    let running = try await people("report")
    #expect(running.contains("has no report yet: it is still running; it began 2"), "\(running)")
    #expect(running.contains(" as process \(run.pid)\n"), "\(running)")
    run.signal(SIGKILL)
    _ = await run.end()

    let session = try #require(try await job.status().session("e2e.uploads"))
    let interrupted = try #require(session.interruptedRun)
    #expect(session.holder == nil && interrupted.pid == run.pid)
    let status = try await job.ferry("status").stdout
    // The text output shows local times with fewer fractional digits, or with none.
    #expect(status.contains("session e2e.uploads: interrupted: run \(interrupted.run) began "), "\(status)")
    #expect(status.contains(" as process \(run.pid), which no longer exists\n"), "\(status)")
    #expect(!status.contains("free"))
    #expect(status.contains("\n  to resume it, run: \(interrupted.resume)\n"), "\(status)")

    let item = try await people("explain", "6.txt", "--manifest", "job.yaml")
    #expect(item.contains("\n  last recorded state queued in round 1, session e2e.uploads\n"), "\(item)")
    #expect(item.contains("\n  interrupted: run \(interrupted.run) began "), "\(item)")
    #expect(item.contains("which no longer exists; it may have been sending this item\n"), "\(item)")
    let upload = try await people("explain", "files", "--manifest", "job.yaml")
    #expect(upload.contains("\n  3 queued, 5 done in round 1, session e2e.uploads\n"), "\(upload)")
    let node = try await explain(job, "files")
    #expect(node.items?["done"] == 5 && node.items?["queued"] == 3 && node.interruptedRun?.pid == run.pid)
    // The interruption does not affect a delivered file.
    #expect(try await explain(job, "1.txt").interruptedRun == nil)

    let report = try await job.ferry("report")
    #expect(report.status == 2)
    #expect(
      report.stderr.contains("ferry: run \(interrupted.run) was interrupted and has no report: it began"))
    #expect(
      report.stderr.contains(
        "help: to resume its work and write its report, run: \(interrupted.resume)\n"))

    try await receiver.clearFaults()
    #expect(try await job.ferry("resume").status == 0)
    #expect(try await job.status().session("e2e.uploads")?.interruptedRun == nil)
    #expect(try await job.ferry("status").stdout.contains("session e2e.uploads: free\n"))
    let closed = try await people("explain", "files", "--manifest", "job.yaml")
    #expect(
      closed.contains("\n  no items in round 2, 8 done in earlier rounds, session e2e.uploads\n"), "\(closed)"
    )
    #expect(try await job.ferry("report", interrupted.run).stdout.contains("interrupted with exit code 5"))
  }

  @Test func `does not promise to resume a killed run whose work was cancelled`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    _ = try await receiver.received { $0.requests >= 1 }
    run.signal(SIGKILL)
    _ = await run.end()
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    #expect(try await job.status().session("e2e.uploads")?.interruptedRun == nil)
    let report = try await job.ferry("report")
    #expect(
      report.stderr.contains(
        "help: there is nothing to resume; the next run closes this run and writes its report\n")
    )
  }

  @Test func `works without the manifest if it is gone`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("one", to: "1.txt")
    #expect(try await job.run().command.status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("job.yaml"))
    let status = try await job.status()
    #expect(status.manifests.first?.problem?.contains("cannot be read") == true)
    #expect(status.session("e2e.uploads")?.node("files")?.items?["done"] == 1)
  }

  @Test func `shows the other sessions if the journal of one is damaged`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts, JobText.notes([("notify", "always")])))
    try job.write("one", to: "1.txt")
    #expect(try await job.run().command.status == 0)
    try job.damage(journalOf: "e2e.quick")
    let command = try await job.ferry("status", "--format", "json")
    #expect(command.status == 70, "\(command.stderr)")
    let status = try command.json(StatusReport.self)
    #expect(status.sessions.map(\.identifier) == ["e2e.quick", "e2e.uploads"])
    let problem = try #require(status.session("e2e.quick")?.problem)
    #expect(problem.contains("the journal is damaged") && problem.contains("help: "), "\(problem)")
    #expect(status.session("e2e.uploads")?.problem == nil)
    #expect(status.session("e2e.uploads")?.node("files")?.items?["done"] == 1)
    let text = try await job.ferry("status")
    #expect(text.status == 70)
    #expect(text.stdout.contains("session e2e.quick: \(job.journal(ofSession: "e2e.quick")): the journal is"))
    #expect(text.stdout.contains("session e2e.uploads: free\n"), "\(text.stdout)")
    let orphans = try await job.ferry("orphans")
    #expect(orphans.status == 70 && orphans.stdout.hasPrefix("session e2e.quick: "), "\(orphans.stdout)")
    #expect(
      orphans.stdout.contains("help: ") && orphans.stdout.hasSuffix("there are no orphaned upload IDs\n"))
    // An intact session is reported as usual.
    #expect(try await job.ferry("status", "e2e.uploads").status == 0)
  }

  @Test func `lists a hundred ambiguous items, and counts the rest`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:drop=before"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    for number in 1...102 { try job.write("text", to: "\(number).txt") }
    #expect(try await job.run().command.status == 1)
    let text = try await job.ferry("status").stdout
    #expect(text.components(separatedBy: " may have been executed").count == 1 + 100)
    #expect(text.contains("\n    and 2 more\n"), "\(text)")
    #expect(try await job.ferry("resolve", "1.txt", "2.txt", "done", "--manifest", "job.yaml").status == 0)
    #expect(try await !job.ferry("status").stdout.contains(" more\n"))
  }

  @Test func `of an item shows its state and why it waits`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:status=500"])
    let text = JobText.text(
      server: receiver.url, JobText.uploadIDs(retry: "retry: { limit: 1, initial: 10ms, max: 20ms }"))
    let job = try Workspace(
      text.replacing("kind: background", with: "kind: background\n    discretionary: true"))
    try job.write("one", to: "1.txt")
    let new = try await explain(job, "1.txt")
    #expect(new.state == "new" && new.next == "begins")
    let waiting = try await explain(job, "files/1.txt", "--power", "battery")
    #expect(waiting.next == "waits" && waiting.reason?.code == "power")
    #expect(try await explain(job, "files", "--power", "battery").reason?.code == "power")

    #expect(try await job.run("--power", "external").command.status == 5)
    let sent = try await explain(job, job.folder.path("files/1.txt"), "--power", "external")
    #expect(sent.state == "transferred" && sent.uploadId?.expiresAt != nil && sent.handedOverAt != nil)
    #expect(sent.path == "1.txt" && sent.next == "begins")
    #expect(sent.attempts.first?.step == "commit" && sent.attempts.first?.status == 500)

    try await receiver.clearFaults()
    #expect(try await job.run("--power", "external").command.status == 0)
    let done = try await explain(job, "1.txt")
    #expect(done.state == "done" && done.next == "nothing" && done.deliveredAt != nil)
    #expect(done.uploadId == nil)
    let people = try await job.ferry("explain", "1.txt", "--manifest", "job.yaml")
    #expect(
      people.stdout.hasPrefix("upload files/1.txt, 3 B: it is delivered, and no action is pending\n"))

    let unknown = try await job.ferry("explain", "nothing.txt", "--manifest", "job.yaml")
    #expect(unknown.status == 2 && unknown.stdout == "")
    #expect(unknown.stderr.contains("has no item 'nothing.txt'"))
    // A diagnostic code is still explained as such.
    let code = try await job.ferry("explain", "F0201", "--manifest", "job.yaml")
    #expect(code.stdout.hasPrefix("F0201 (error): "))
    let item = try await job.ferry("explain", "1.txt")
    #expect(item.status == 2 && item.stderr.contains("an item requires --manifest FILE"))
  }
}
