import Foundation
import Testing

/// How a run behaves, and what it reports, if its state is lost, damaged or unreachable.
@Suite struct `State that is lost` {
  /// A job with a completed request, and with files that are sent in each round. One of the files fails.
  private func job(_ receiver: ReceiverProcess) throws -> Workspace {
    let puts = JobText.puts.replacing(JobText.retry, with: "deliver: every_run\n    retry: { limit: 0 }")
    let job = try Workspace(
      JobText.text(server: receiver.url, connections: 1, puts, JobText.notes([("note", "always")])))
    for name in ["a", "x"] { try job.write(name, to: "\(name).txt") }
    return job
  }

  @Test(arguments: [true, false])
  func `such as ferry db makes the next round follow those that the journals name`(isOld: Bool) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=2,times=1,status=403"])
    let job = try job(receiver)
    let history = job.state + "/ferry.db"
    let copy = job.folder.path("old.db")
    if isOld {
      #expect(try await job.run("--limit", "0").report.run.round == 1)
      try FileManager.default.copyItem(atPath: history, toPath: copy)
    }
    let first = try await job.run()
    #expect(first.command.status == 1 && first.report.run.round == 1, "\(first.command.stdout)")
    let second = try await job.run()
    #expect(second.command.status == 0 && second.report.run.round == 2, "\(second.command.stdout)")
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: history + suffix) }
    if isOld { try FileManager.default.copyItem(atPath: copy, toPath: history) }
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("unknown_round"), "\(check.stdout)")
    let plan = try await job.ferry("plan", "job.yaml", "--format", "json")
    #expect(plan.stdout.contains("\"round\" : 3"), "\(plan.stdout.prefix(400))")
    let third = try await job.run()
    #expect(third.command.status == 0 && third.report.run.round == 3, "\(third.command.stdout)")
    #expect(third.report.totals.itemsDoneInRun == 2)
    #expect(try await receiver.received().done.count == 3)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `such as the journal of a session that sent something is reported by the check`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
    try FileManager.default.removeItem(atPath: job.state + "/sessions/e2e.uploads.db")
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("journal_missing"), "\(check.stdout)")
    let run = try await job.ferry("run", "job.yaml")
    #expect(run.status == 70 && run.stderr.contains("the session previously had one"), "\(run.stderr)")
  }

  @Test func `such as the bytes of a journal that sent something stops the run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    let file = job.state + "/sessions/e2e.uploads.db"
    #expect(truncate(file, 0) == 0)
    let run = try await job.ferry("run", "job.yaml")
    #expect(run.status == 70 && run.stderr.contains("the file is empty"), "\(run.stderr)")
    #expect(run.stderr.contains("ferry journal accept-loss e2e.uploads"), "\(run.stderr)")
    #expect(try await receiver.received().files.map(\.puts) == [1])
    try FileManager.default.removeItem(atPath: file)
    #expect(try await job.ferry("run", "job.yaml").status == 70)
    #expect(try await job.ferry("journal", "accept-loss", "e2e.uploads").status == 0)
    #expect(try await job.run().command.status == 0)
  }

  /// If a command recreated the journal, the next run would send all files again.
  @Test(arguments: [false, true])
  func `such as the bytes of a journal that sent something is recreated by no command`(hasLog: Bool)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    let file = job.journal(ofSession: "e2e.uploads")
    #expect(truncate(file, 0) == 0)
    if hasLog { try Data(repeating: 7, count: 4096).write(to: URL(filePath: file + "-wal")) }
    for command in Self.changing {
      let end = try await job.start(command).end()
      #expect(end.status == 70, "\(command): \(end.stdout)\(end.stderr)")
      #expect(
        (end.stdout + end.stderr).contains("the file is empty"), "\(command): \(end.stdout)\(end.stderr)")
      #expect(try Data(contentsOf: URL(filePath: file)).isEmpty, "\(command)")
    }
    #expect(try await job.ferry("run", "job.yaml").status == 70)
    #expect(try await receiver.received().files.map(\.puts) == [1])
  }

  @Test func `such as a whole journal stops every command that would recreate it`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    let file = job.journal(ofSession: "e2e.uploads")
    try FileManager.default.removeItem(atPath: file)
    for command in Self.changing {
      let end = try await job.start(command).end()
      #expect(end.status == 70, "\(command): \(end.stdout)\(end.stderr)")
      let words = "the session previously had one"
      #expect((end.stdout + end.stderr).contains(words), "\(command): \(end.stdout)\(end.stderr)")
      #expect(!FileManager.default.fileExists(atPath: file), "\(command)")
    }
    #expect(try await job.ferry("run", "job.yaml").status == 70)
    #expect(try await receiver.received().files.map(\.puts) == [1])
  }

  /// Commands that write to a session's journal, one for each way to specify the session.
  private static let changing = [
    ["journal", "prune", "--delivered", "365d"], ["journal", "prune", "--delivered", "365d", "e2e.uploads"],
    ["reset", "e2e.uploads"], ["cancel", "e2e.uploads"], ["cancel", "./job.yaml"],
    ["resolve", "--all", "done", "--manifest", "job.yaml"],
    ["resolve", "--all", "done", "--session", "e2e.uploads"],
    ["orphans", "e2e.uploads", "--forget", "all"],
  ]

  @Test func `in a session of another manifest does not stop a run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    let file = job.state + "/sessions/e2e.uploads.db"
    let descriptor = open(file, O_WRONLY)
    #expect(ftruncate(descriptor, 5000) == 0)
    close(descriptor)
    try job.write(manifest: JobText.text(server: receiver.url, name: "other", JobText.puts))
    let other = try await job.run()
    #expect(other.command.status == 0, "\(other.command.stderr)")
    #expect(other.command.stderr.contains("e2e.uploads.db"), "\(other.command.stderr)")
    // The upload now has queued items, so ferry does not search the other sessions.
    #expect(try await job.run().command.stderr.contains("e2e.uploads.db") == false)
    // A run of the session to which the journal belongs reports the remedy.
    try job.write(manifest: JobText.text(server: receiver.url, JobText.puts))
    let own = try await job.ferry("run", "job.yaml")
    #expect(own.status == 70 && own.stderr.contains("ferry journal check"), "\(own.stderr)")
    #expect(own.stderr.contains("resends all files"), "\(own.stderr)")
  }

  @Test func `or only unreachable does not count as empty`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    // A file in place of the folder causes an error even for root, who can read every folder.
    let sessions = job.state + "/sessions"
    try FileManager.default.moveItem(atPath: sessions, toPath: sessions + ".away")
    try Data().write(to: URL(filePath: sessions))
    for command in [
      ["status"], ["journal", "check"], ["journal", "export"], ["journal", "prune", "--delivered", "1d"],
      ["resolve", "--all", "done", "--manifest", "job.yaml"], ["reset", "e2e.uploads"],
    ] {
      let end = try await job.start(command).end()
      #expect(end.status == 70 && end.stderr.contains(sessions), "\(command): \(end.stdout)\(end.stderr)")
      #expect(end.stderr.contains("help: "))
    }
  }

  @Test func `in one of several sessions prevents a reset from dropping anything`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:status=503"])
    let puts = JobText.puts.replacing(JobText.retry, with: "retry: { limit: 0 }")
    let job = try Workspace(JobText.text(server: receiver.url, name: "one", puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: JobText.text(server: receiver.url, name: "two", puts))
    #expect(try await job.run().command.status == 5)
    func migrate(to version: Int) async throws -> Int32 {
      let edit = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(sys.argv[2])"
      let file = job.state + "/sessions/two.uploads.db"
      return try await Command.run("python3", ["-c", edit, file, "PRAGMA user_version = \(version)"]).status
    }
    #expect(try await migrate(to: 99) == 0)
    let refused = try await job.ferry("reset", "one.uploads", "two.uploads")
    #expect(refused.status == 70 && refused.stderr.contains("two.uploads.db"), "\(refused.stderr)")
    let export = try await job.ferry("journal", "export", "one.uploads")
    #expect(export.stdout.contains("\"record\":\"item\""), "\(export.stdout)")
  }

  @Test func `does not include the pending action of a delivered file after pruning`() async throws {
    let receiver = try await ReceiverProcess.start()
    let text = JobText.text(server: receiver.url, JobText.puts).replacing(
      "files: { root: files }", with: "files: { root: files }\n    after: { move_to: sent/ }")
    let job = try Workspace(text)
    try job.write("a", to: "a.txt")
    // Another file has the destination name, so the file is not moved.
    try job.write("older", to: "sent/a.txt")
    #expect(try await job.run().command.status == 5)
    let pruned = try await job.ferry("journal", "prune", "--delivered", "0s")
    #expect(pruned.stdout.contains("0 delivered items deleted"), "\(pruned.stdout)")
    #expect(try await job.run().command.status == 5)
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }
}
