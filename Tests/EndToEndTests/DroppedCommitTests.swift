import Foundation
import Testing

/// `ferry reset` and `ferry run --fresh` after a kill during commits whose responses were not recorded.
@Suite struct `Commits that are dropped` {
  private func killed(_ receiver: ReceiverProcess, files: Int = 3) async throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.uploadIDs(recognized: "")))
    for index in 0..<files { try job.write("\(index)", to: "f\(index)") }
    try await receiver.add(spec: "commit:delay=60")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    _ = try await receiver.received { $0.commits == files }
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()
    return job
  }

  @Test(arguments: [["run", "job.yaml", "--fresh"], ["reset", "e2e.uploads"]])
  func `are named, and nothing is dropped without --drop-unanswered`(_ command: [String]) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await killed(receiver)
    let refused = try await job.start(command).end()
    #expect(refused.status == 2, "\(refused.stdout)\(refused.stderr)")
    for name in ["f0", "f1", "f2"] {
      let line = "files/\(name) of e2e, session e2e.uploads: its commit"
      #expect(refused.stderr.contains(line), "\(refused.stderr)")
    }
    #expect(refused.stderr.contains("--drop-unanswered"), "\(refused.stderr)")
    #expect(try await receiver.received().byName.values.allSatisfy { $0.commits == 1 })
    // In a run without `--fresh`, the commits become ambiguous and are not sent again.
    let run = try await job.run()
    #expect(run.command.status == 1 && run.report.totals.items.ambiguous == 3, "\(run.command.stderr)")
    #expect(try await receiver.received().byName.values.allSatisfy { $0.commits == 1 })
  }

  @Test func `with --drop-unanswered are sent again`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try await killed(receiver)
    let run = try await job.ferry("run", "job.yaml", "--fresh", "--drop-unanswered")
    #expect(run.status == 0, "\(run.stderr)")
    #expect(run.stderr.contains("--fresh dropped 3 items"), "\(run.stderr)")
    #expect(try await receiver.received().byName.values.allSatisfy { $0.commits == 2 })
  }

  @Test func `and were not sent need no flag`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:status=503"])
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.uploadIDs(retry: "retry: { limit: 0 }", recognized: "")))
    try job.write("a", to: "a")
    #expect(try await job.run().command.status == 5)
    let reset = try await job.ferry("reset", "e2e.uploads")
    #expect(reset.status == 0 && reset.stdout.contains("1 item dropped"), "\(reset.stdout)\(reset.stderr)")
  }

  @Test func `are handled by --fresh in the same way`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    #expect(try await job.ferry("run", "job.yaml", "--drop-unanswered").status == 2)
  }
}
