import Foundation
import Testing

/// Commits whose responses are lost, with the settings by which the manifest recognizes them.
@Suite struct `A commit` {
  private static let key = "idempotency_key: { header: Idempotency-Key }"
  private static let noRetry = "retry: { limit: 0, initial: 10ms, max: 10ms }"

  private func workspace(
    _ receiver: ReceiverProcess, files count: Int = 5, retry: String = JobText.retry, recognized: String
  ) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2, JobText.uploadIDs(retry: retry, recognized: recognized)))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test(arguments: ["drop=after", "drop=after,cut=close", "drop=before", "drop=before,cut=close"])
  func `with an idempotency key is repeated and executed once`(_ fault: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:every=3,\(fault)"])
    let job = try workspace(receiver, recognized: Self.key)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.count == 5)
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.allocations == 1 })
  }

  @Test func `has the same idempotency key in every launch`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after"])
    let job = try workspace(receiver, files: 1, retry: Self.noRetry, recognized: Self.key)
    #expect(try await job.run().command.status == 5)
    try await receiver.clearFaults()
    // With another key, the server would respond with 409, which the manifest does not accept.
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let upload = try await receiver.received().byName["0.txt"]
    #expect(upload?.commits == 1)
    #expect(upload?.contents == 1)
    #expect(upload?.allocations == 1)
  }

  @Test(arguments: ["drop=after", "drop=after,cut=close", "drop=before", "drop=before,cut=close"])
  func `with a probe is checked, and sent again only if it was not executed`(
    _ fault: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: [
      "commit:every=3,\(fault)", "state:every=2,status=503",
    ])
    let job = try workspace(receiver, recognized: JobText.probe)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.count == 5)
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.allocations == 1 })
    #expect(!receiver.log.contains { $0.hasSuffix("/commit 409") })
    #expect(report.items.contains { $0.attempts.contains { $0.step == "commit" } })
  }

  @Test func `with a probe is checked by the launch that finds it sent`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after", "state:status=503"])
    let job = try workspace(receiver, files: 2, retry: Self.noRetry, recognized: JobText.probe)
    #expect(try await job.run().command.status == 5)
    try await receiver.clearFaults()
    #expect(try await job.run().command.status == 0)
    let received = try await receiver.received()
    #expect(received.commits == 2)
    #expect(receiver.log.filter { $0.contains("/commit ") && $0.hasSuffix(" 409") }.isEmpty)
  }

  @Test func `with a probe that is refused is ambiguous`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after", "state:status=403"])
    let job = try workspace(receiver, files: 1, recognized: JobText.probe)
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.items.first?.state == "ambiguous")
    #expect(report.items.first?.reason?.code == "answer_lost")
    #expect(report.items.first?.ambiguity?.step == "commit")
    #expect(report.items.first?.ambiguity?.origin == receiver.url)
  }
}
