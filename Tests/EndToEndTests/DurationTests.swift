import Foundation
import Testing

/// `--max-duration` over real sockets, and the kind of launch that the report contains.
@Suite struct `A run with a time limit` {
  private func workspace(_ receiver: ReceiverProcess, files count: Int) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2, JobText.puts, JobText.notes([("notify", "succeeded")])))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test func `exits with 10 when its time has passed, saves, and the next run resumes`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.3"])
    let job = try workspace(receiver, files: 100)
    let (command, report) = try await job.run("--max-duration", "6s")
    #expect(command.status == 10, "\(command.stderr)")
    #expect(command.stdout.contains("the run reached its time limit"), "\(command.stdout)")
    #expect(report.run.exitCode == 10)
    #expect(report.run.state == "ended")
    #expect(report.run.stop == "max_duration")
    #expect(!report.run.roundClosed)
    #expect(report.node("files")?.state == "waiting")
    let done = report.totals.items.done
    #expect((1..<100).contains(done))
    #expect(report.totals.items.waiting == 100 - done)
    let received = try await receiver.received()
    #expect(received.files.count == done, "what was under way had its grace")
    #expect(received.done.isEmpty)

    try await receiver.clearFaults()
    let second = try await job.run("--max-duration", "10m")
    #expect(second.command.status == 0)
    #expect(second.report.run.stop == nil)
    #expect(second.report.run.round == report.run.round)
    #expect(second.report.run.roundClosed)
    #expect(second.report.totals.itemsDoneInRun == 100 - done)
    #expect(try await receiver.received().files.allSatisfy { $0.puts == 1 })
  }

  @Test func `cancels requests that outlast the grace period, and reports them`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let job = try workspace(receiver, files: 3)
    let (command, report) = try await job.run("--max-duration", "6s")
    #expect(command.status == 10, "\(command.stderr)")
    #expect(report.totals.items.waiting == 3)
    // The run waited neither for the responses nor for the timeout of the requests.
    #expect(report.items.map(\.reason?.code) == ["max_duration", "max_duration"])
    #expect(report.node("files")?.state == "waiting")
  }

  @Test func `exits with 0 if everything completed in the grace period`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["done:delay=8"])
    let job = try workspace(receiver, files: 2)
    let (command, report) = try await job.run("--max-duration", "8s")
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.run.stop == nil)
    #expect(report.run.roundClosed)
    #expect(try await receiver.received().done.count == 1)
  }

  @Test func `continues under resume, whose manifests share the time limit`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, files: 3)
    let first = try await job.run("--max-duration", "0s")
    #expect(first.command.status == 10)
    #expect(first.report.node("files")?.reason?.code == "max_duration")
    #expect(first.report.totals.requests == 0 && !first.report.run.roundClosed)
    let none = try await job.ferry("resume", "--max-duration", "0s")
    #expect(none.status == 10)
    #expect(none.stderr.contains("job.yaml was not started"), "\(none.stderr)")
    #expect(try await receiver.received().requests == 0)
    #expect(try await job.ferry("resume", "--max-duration", "1m").status == 0)
    #expect(try await receiver.received().files.count == 3)
  }

  // MARK: Listing

  private func listing(_ receiver: ReceiverProcess, _ list: String) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, list: \(list) }")))
    try job.write("a", to: "a.txt")
    return job
  }

  @Test func `ends while it waits for standard input`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try listing(receiver, "'-'")
    let input = Pipe()
    try input.fileHandleForWriting.write(contentsOf: Data("a.txt\n".utf8))
    let run = try job.start(
      ["run", "job.yaml", "--report", "report.json", "--max-duration", "1s"], input: input)
    let command = try await run.end(within: .seconds(30))
    #expect(command.status == 10, "\(command.stderr)")
    let report = try job.report()
    #expect(report.run.stop == "max_duration" && !report.run.roundClosed)
    #expect(report.node("files")?.reason?.code == "max_duration")
    #expect(try await receiver.received().requests == 0)
    withExtendedLifetime(input) {}
  }

  @Test(arguments: ["a.txt", "gone.txt"])
  func `ends while it reads a long list`(_ line: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try listing(receiver, "list.txt")
    try job.folder.write(Data(String(repeating: "\(line)\n", count: 3_000_000).utf8), to: "list.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json", "--max-duration", "2s"])
    let command = try await run.end(within: .seconds(30))
    #expect(command.status == 10, "\(command.stderr)")
    #expect(try job.report().run.stop == "max_duration")
    try job.folder.write(Data("a.txt\n".utf8), to: "list.txt")
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().files.count == 1)
  }

  @Test func `leaves submitted files for the next run if it has no time to read them`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try listing(receiver, "list.txt")
    try job.folder.write(Data(), to: "list.txt")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/a.txt").status == 0)
    #expect(try await job.run("--max-duration", "0s").command.status == 10)
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().files.count == 1)
  }

  @Test func `does not hash a file for longer than timeout_for_resource`() async throws {
    let receiver = try await ReceiverProcess.start()
    let text = JobText.text(
      server: receiver.url, JobText.puts.replacing("${file.path}\"", with: "${file.path}?h=${file.sha256}\""))
    let job = try Workspace(
      text.replacing("kind: background", with: "kind: background\n    timeout_for_resource: 3s"))
    try job.write("a", to: "a.txt")
    try job.write("", to: "large")
    #expect(truncate(job.folder.path("files/large"), 1 << 42) == 0)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    let command = try await run.end(within: .seconds(60))
    #expect(command.status == 1, "\(command.stderr)")
    let report = try job.report()
    #expect(report.totals.items.done == 1 && report.totals.items.failed == 1)
    #expect(report.item("large")?.reason?.code == "resource_timeout")
  }

  @Test func `reports its kind of launch, which is background without a terminal`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, files: 1)
    #expect(try await job.run().report.run.launch == "background")
    for kind in ["foreground", "background", "fetch", "event", "continuous"] {
      let (command, report) = try await job.run("--launch", kind)
      #expect(command.status == 0)
      #expect(report.run.launch == kind)
    }
  }
}
