import Foundation
import Testing

/// Work that waits for another network or for power, and is sent later.
@Suite struct `A session with conditions` {
  private func job(_ receiver: ReceiverProcess, _ keys: String, top: String = "") throws -> Workspace {
    let text = JobText.text(server: receiver.url, JobText.puts)
      .replacing("kind: background", with: "kind: background\n    \(keys)")
    let job = try Workspace(text + top)
    try job.write("one", to: "1.txt")
    return job
  }

  @Test func `waits on battery, reports why, and completes once there is external power`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, "discretionary: true")
    let (waiting, report) = try await job.run("--power", "battery")
    #expect(waiting.status == 8)
    #expect(waiting.stdout.contains("waiting for external power: session 'uploads' is discretionary"))
    #expect(report.node("files")?.reason?.code == "power")
    #expect(report.totals.items.waiting == 1)
    #expect(try await receiver.received().requests == 0)
    #expect(try await job.run("--power", "battery", "--deferred-ok").command.status == 0)
    #expect(try await job.run("--power", "external").command.status == 0)
    #expect(try await receiver.received().files.map(\.puts) == [1])
  }

  @Test func `uses the network that the manifest gives, and the command line overrides it`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, "allows_cellular: false", top: "conditions: { network: cellular }\n")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.stdout.contains("cellular network, metered"))
    #expect(plan.stdout.contains("waiting for a network other than cellular"))
    #expect(try await job.run().command.status == 8)
    #expect(try await job.run("--network", "wifi").command.status == 0)
    #expect(try await job.run("--network", "wlan").command.status == 2)
  }

  @Test func `that has no condition uses every network, but does not run without one`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, "discretionary: false")
    #expect(try await job.run("--network", "none").command.status == 8)
    #expect(try await job.run("--network", "cellular", "--power", "battery").command.status == 0)
  }
}
