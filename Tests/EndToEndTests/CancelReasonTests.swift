import Foundation
import Testing

/// `ferry cancel --reason`, and other reasons why queued files are not sent.
@Suite struct `The reason of a cancellation` {
  private static let text = "disk is full \u{2013} see \"OPS-7\""
  private static let message = "canceled by ferry cancel: " + text

  private struct Explained: Decodable {
    struct Match: Decodable {
      var state: String
      var next: String
      var reason: RunReport.Reason?
      var cancellation: RunReport.Reason?
    }
    var matches: [Match]
  }

  private func explain(_ item: String, _ job: Workspace) async throws -> Explained.Match {
    let command = try await job.ferry("explain", item, "--manifest", "job.yaml", "--format", "json")
    return try #require(try command.json(Explained.self).matches.first, "\(command.stderr)")
  }

  /// Queues two files that wait for power.
  private func waiting(_ receiver: ReceiverProcess, top: String = "") async throws -> Workspace {
    let text = JobText.text(server: receiver.url, JobText.puts)
      .replacing("kind: background", with: "kind: background\n    discretionary: true")
    let job = try Workspace(text + top)
    try job.write("one", to: "1.txt")
    try job.write("two", to: "2.txt")
    #expect(try await job.run("--power", "battery").command.status == 8)
    return job
  }

  /// Starts a run that is sending one file while another file waits for its connection.
  private func running(_ receiver: ReceiverProcess, top: String = "") async throws -> (
    Workspace, RunningCommand
  ) {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, JobText.puts) + top)
    try job.write("one", to: "1.txt")
    try job.write("two", to: "2.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 2, run.isRunning {
    }
    return (job, run)
  }

  @Test func `is kept by the process that holds the session, in its report and for later`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let (job, run) = try await running(receiver)
    run.signal(SIGSTOP)
    let command = try await job.ferry("cancel", "e2e.uploads", "--reason", Self.text)
    #expect(command.status == 0, "\(command.stderr)")
    #expect(try await job.status().session("e2e.uploads")?.notes.map(\.reason) == [Self.text])
    #expect(try await job.ferry("status").stdout.contains(": cancel, added "))
    run.signal(SIGCONT)
    let end = await run.end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    #expect(end.stdout.contains("\n  2 items were \(Self.message)\n"), "\(end.stdout)")
    let report = try job.report()
    #expect(report.item("1.txt")?.reason?.code == "cancelled")
    #expect(report.item("1.txt")?.reason?.message == Self.message)
    #expect(
      report.node("files")?.cancellations == [.init(code: "cancelled", message: Self.message, items: 2)])
    let node = try #require(try await job.status().session("e2e.uploads")?.node("files"))
    #expect(node.cancellations == [.init(code: "cancelled", message: Self.message, items: 2)])
    let status = try await job.ferry("status")
    #expect(status.stdout.contains("\n    2 \(Self.message)\n"), "\(status.stdout)")
    // The second file has never been sent.
    for name in ["1.txt", "2.txt"] {
      let match = try await explain(name, job)
      #expect(match.state == "cancelled" && match.cancellation?.code == "cancelled")
      #expect(match.cancellation?.message == Self.message)
    }
    let explained = try await job.ferry("explain", "2.txt", "--manifest", "job.yaml")
    #expect(explained.stdout.contains(Self.message), "\(explained.stdout)")
    #expect(try await job.ferry("report").stdout.contains("2 items were \(Self.message)\n"))
  }

  @Test func `is kept in the journal and in the summary of its round if no process holds the session`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let text = JobText.text(
      server: receiver.url,
      JobText.puts + "\n" + JobText.notes([("notify", "always"), ("cheer", "succeeded")])
    ).replacing("kind: background", with: "kind: background\n    discretionary: true")
    let job = try Workspace(text)
    try job.write("one", to: "1.txt")
    #expect(try await job.run("--power", "battery").command.status == 8)
    #expect(try await job.ferry("cancel", "e2e.uploads", "--reason", Self.text).status == 0)
    let match = try await explain("1.txt", job)
    #expect(match.state == "cancelled" && match.next == "nothing" && match.reason?.message == Self.message)
    let node = try #require(try await job.status().session("e2e.uploads")?.node("files"))
    #expect(node.cancellations == [.init(code: "cancelled", message: Self.message, items: 1)])
    // The requests keep the round open, so the run's summary still contains the reason.
    let (run, report) = try await job.run("--power", "battery")
    #expect(run.status == 1, "\(run.stdout)\(run.stderr)")
    #expect(run.stdout.contains("\n  1 item was \(Self.message)\n"), "\(run.stdout)")
    #expect(report.node("files")?.cancellations?.map(\.message) == [Self.message])
  }

  @Test func `is optional, and invalid text is rejected`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(receiver)
    for (text, problem) in [
      (" ", "it is empty"), (String(repeating: "x", count: 201), "it has 201 characters"),
      ("a\nb", #"--reason "a\nb" is not accepted: it must be one line without"#),
      ("\u{1B}[2J", #""\033[2J""#), ("a\u{202E}b", #""a\342\200\256b""#),
    ] {
      let command = try await job.ferry("cancel", "e2e.uploads", "--reason", text)
      #expect(command.status == 2 && command.stderr.contains(problem), "\(command.stderr)")
      #expect(!command.stderr.contains("\u{1B}") && !command.stderr.contains("\u{202E}"))
    }
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    let node = try #require(try await job.status().session("e2e.uploads")?.node("files"))
    #expect(node.cancellations == [.init(code: "cancelled", message: "canceled by ferry cancel", items: 2)])
    #expect(!(try await job.ferry("status").stdout.contains("by ferry cancel")))
    // The next round will send the file. Until then, the reason remains visible.
    let explained = try await job.ferry("explain", "1.txt", "--manifest", "job.yaml", "--power", "external")
    #expect(
      explained.stdout.contains(
        "  state canceled in round 1 (canceled by ferry cancel), session e2e.uploads\n"),
      "\(explained.stdout)")
  }

  // MARK: A removed session

  @Test func `is kept with a session that is removed, until it is used again`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(receiver, top: "force_quit: remove_session\n")
    #expect(try await job.ferry("cancel", "e2e.uploads", "--reason", Self.text).status == 0)
    let message = "canceled by ferry cancel under force_quit: remove_session: \(Self.text)"
    let removed = try await job.status().session("e2e.uploads")?.removed
    #expect(removed?.code == "session_removed" && removed?.message == message && removed?.items == 2)
    for words in [["status"], ["status", "e2e.uploads"]] {
      let status = try await job.start(words).end()
      #expect(status.stdout.contains(": 2 items \(message)\n"), "\(status.stdout)\(status.stderr)")
    }
    #expect(try await job.run("--power", "external").command.status == 0)
    #expect(try await job.status().session("e2e.uploads")?.removed == nil)
  }

  @Test func `is kept in the report of the run whose session is removed`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let (job, run) = try await running(receiver, top: "force_quit: remove_session\n")
    #expect(try await job.ferry("cancel", "e2e.uploads").status == 0)
    let end = await run.end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    let message = "canceled by ferry cancel under force_quit: remove_session"
    #expect(end.stdout.contains("\n  2 items were \(message)\n"), "\(end.stdout)")
    let report = try job.report()
    #expect(report.item("1.txt")?.state == "cancelled")
    #expect(report.item("1.txt")?.reason?.code == "session_removed")
    #expect(
      report.node("files")?.cancellations == [.init(code: "session_removed", message: message, items: 2)])
    let removed = try await job.status().session("e2e.uploads")?.removed
    #expect(removed?.code == "session_removed" && removed?.items == 2)
    let files = try FileManager.default.contentsOfDirectory(atPath: job.state + "/sessions")
    #expect(!files.contains { $0.hasPrefix("e2e.uploads.db") })
  }

  // MARK: A root that was moved

  @Test func `does not apply to files whose root is moved while they are sent`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=2"])
    let (job, run) = try await running(receiver)
    try FileManager.default.moveItem(atPath: job.folder.path("files"), toPath: job.folder.path("away"))
    try await receiver.clearFaults()
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(try await receiver.received().puts.keys.sorted() == ["1.txt", "2.txt"])
  }

  @Test func `of a root that was moved is kept with its upload until the root is back`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await waiting(receiver)
    let (root, away) = (job.folder.path("files"), job.folder.path("away"))
    try FileManager.default.moveItem(atPath: root, toPath: away)
    let run = try await job.ferry("run", "job.yaml", "--power", "external")
    #expect(run.status == 2 && run.stderr.contains("cannot list \(root): No such file"), "\(run.stderr)")
    let message =
      "cannot list \(root): No such file or directory; the folder was moved or removed, or its file system is "
      + "not mounted"
    let node = try #require(try await job.status().session("e2e.uploads")?.node("files"))
    #expect(node.reason?.code == "root_missing" && node.reason?.message == message)
    #expect(node.items?["queued"] == 2)
    #expect(try await job.ferry("status").stdout.contains(" (\(message))\n"))
    let export = try await job.ferry("journal", "export")
    #expect(export.stdout.contains("root_missing"), "\(export.stdout)")
    #expect(try await job.ferry("journal", "check").status == 0)
    try FileManager.default.moveItem(atPath: away, toPath: root)
    // Once the root is back, the reason no longer applies.
    #expect(try await job.status("--power", "external").session("e2e.uploads")?.node("files")?.reason == nil)
    #expect(try await job.run("--power", "external").report.totals.itemsDoneInRun == 2)
    #expect(try await job.ferry("journal", "export").stdout.contains("root_missing") == false)
  }
}
