import Foundation
import Testing

/// `ferry cancel` of items that the server has received completely, while no process holds the session.
@Suite struct `A commit that is cancelled by the journal alone` {
  struct Cancelled: Decodable {
    struct Session: Decodable {
      var items: Int
      var ambiguous: Int
    }
    var sessions: [Session]
  }

  private func cancel(_ job: Workspace) async throws -> Cancelled.Session? {
    try await job.ferry("cancel", "e2e.uploads", "--format", "json").json(Cancelled.self).sessions.first
  }

  @Test(arguments: [
    "already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }", JobText.probe,
  ])
  func `is ambiguous if it may have been executed, and is then committed once`(_ recognized: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["commit:delay=60"])
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.uploadIDs(recognized: recognized)))
    try job.write("one", to: "a.txt")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.commits == 1 }
    run.signal(SIGKILL)
    _ = await run.end()
    let cancelled = try await cancel(job)
    #expect(cancelled?.items == 0 && cancelled?.ambiguous == 1)
    try await receiver.clearFaults()
    // The item is not sent again until a user resolves it.
    #expect(try await job.run().command.status == 1)
    #expect(try await receiver.received().contents == 1)
    #expect(try await job.ferry("resolve", "--all", "retry", "--manifest", "job.yaml").status == 0)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.commits == 1 && received.contents == 1 && received.uploads.count == 1)
  }

  @Test func `is reported as ambiguous, with the command that explains how to decide`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:delay=60"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs(recognized: "")))
    try job.write("one", to: "a.txt")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.commits == 1 }
    run.signal(SIGKILL)
    _ = await run.end()
    let command = try await job.ferry("cancel", "e2e.uploads")
    #expect(command.stdout.contains("0 items canceled, 1 ambiguous"), "\(command.stdout)")
    let hint =
      "\n  to list them with the commands that resolve them, run: ferry status e2e.uploads --state \(job.state)\n"
    #expect(command.stdout.hasSuffix(hint), "\(command.stdout)")
    #expect(try await job.ferry("status", "e2e.uploads").stdout.contains("ferry resolve files/a.txt done"))
  }

  @Test func `is cancelled if it was not sent, and the next round sends its file`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["commit:status=501"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.uploadIDs(retry: "retry: { limit: 6, initial: 1h, max: 1h }", recognized: "")))
    try job.write("one", to: "a.txt")
    // An overloaded server rejected the commit, so ferry may send the commit again. The journal records that
    // the upload ID must be kept.
    #expect(try await job.run("--max-duration", "2s").command.status == 10)
    let recorded = try await RecordedItems.read(session: "e2e.uploads", of: job)
    #expect(recorded.names(.transferred) == ["a.txt"] && recorded.intents == ["a.txt"])
    let cancelled = try await cancel(job)
    #expect(cancelled?.items == 1 && cancelled?.ambiguous == 0)
    try await receiver.clearFaults()
    let (command, report) = try await job.run()
    #expect(command.status == 0 && report.run.round == 2, "\(command.stderr)")
    #expect(try await receiver.received().commits == 1)
  }
}
