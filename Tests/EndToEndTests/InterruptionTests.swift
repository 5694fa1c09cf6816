import Foundation
import Testing

/// Runs that are stopped or killed, simultaneous runs, and `ferry resume`.
@Suite struct `A run in progress` {
  /// The receiver delays the response to every upload, so that the test has time to interrupt a run.
  private func slowReceiver() async throws -> ReceiverProcess {
    try await ReceiverProcess.start(faults: ["file:delay=0.3"])
  }

  private func workspace(_ receiver: ReceiverProcess, files count: Int = 200) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, JobText.puts))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test(arguments: [(SIGTERM, Int32(143)), (SIGINT, Int32(130))])
  func `saves everything at a signal, and resumes later`(_ signal: Int32, code: Int32) async throws {
    let receiver = try await slowReceiver()
    let job = try workspace(receiver, files: 200)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 4 }
    run.signal(signal)
    let end = await run.end()
    #expect(end.status == code, "\(end.stderr)")
    let report = try job.report()
    #expect(report.run.exitCode == code)
    #expect(report.run.state == "ended")
    #expect(!report.run.roundClosed)
    let done = report.totals.items.done
    #expect((1..<200).contains(done))

    try await receiver.clearFaults()
    let second = try await job.run()
    #expect(second.command.status == 0)
    #expect(second.report.run.round == report.run.round)
    #expect(second.report.totals.itemsDoneInRun == 200 - done)
    #expect(second.report.run.roundClosed)
  }

  @Test func `is closed as interrupted after SIGKILL, and resumed from any folder`() async throws {
    let receiver = try await slowReceiver()
    let job = try workspace(receiver)
    let nothing = try await job.ferry("resume", in: URL(filePath: "/"))
    #expect(nothing.status == 0)
    #expect(nothing.stdout == "nothing to resume\n")

    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 6 }
    run.signal(SIGKILL)
    _ = await run.end()
    let recorded = try await RecordedItems.read(session: "e2e.uploads", of: job)
    let done = recorded.states.filter { $0.value == .done }.map(\.key)
    #expect(!done.isEmpty)
    let before = try await receiver.received().puts

    try await receiver.clearFaults()
    let resumed = try await job.ferry("resume", in: URL(filePath: "/"))
    #expect(resumed.status == 0, "\(resumed.stderr)")
    let after = try await receiver.received().puts
    #expect(after.count == 200)
    for name in done { #expect(after[name] == before[name], "\(name)") }
    let reports = try job.stateFiles().filter { $0.key.hasSuffix("report.json") }
      .map { try RunReport.decode($0.value) }
    #expect(Set(reports.map(\.run.state)) == ["interrupted", "ended"])
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
    #expect(try await job.ferry("resume", "e2e.uploads").stdout == "nothing to resume\n")
    let unknown = try await job.ferry("resume", "e2e.upload")
    #expect(unknown.status == 2 && unknown.stdout == "")
    #expect(
      unknown.stderr.contains("help: the sessions in ") && unknown.stderr.contains(": 'e2e."),
      "\(unknown.stderr)")
  }

  @Test func `has its session to itself, and another run exits with 6 and reports its pid`() async throws {
    let receiver = try await slowReceiver()
    let job = try workspace(receiver, files: 100)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests >= 1 }
    let other = try await job.ferry("run", "job.yaml")
    #expect(other.status == 6)
    #expect(other.stderr.contains("process \(run.pid)"), "\(other.stderr)")
    #expect(other.stderr.contains("e2e.uploads"))
    let skipping = try await job.ferry("run", "job.yaml", "--skip-if-running")
    #expect(skipping.status == 0)
    #expect(skipping.stdout + skipping.stderr == "")

    // A run of another session is not affected.
    let text = JobText.text(server: receiver.url, name: "other", JobText.catalog())
    try job.folder.write(Data(text.utf8), to: "other.yaml")
    #expect(try await job.ferry("run", "other.yaml").status == 0)
    #expect(run.isRunning)

    try await receiver.clearFaults()
    #expect(await run.end().status == 0)
    #expect(try await receiver.received().files.allSatisfy { $0.puts == 1 })
  }
}
