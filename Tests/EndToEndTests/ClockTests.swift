import Foundation
import Testing

/// The clock is set between launches or during one. Faults/clock.c shows ferry a changed clock.
@Suite(
  .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere }
) struct `A clock that is set by a day` {
  private static let count = 40

  private func job(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, connections: 2, JobText.uploadIDs(validFor: "1h")))
    for index in 0..<Self.count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  private func set(_ job: Workspace, shift: Int) throws {
    try Data("\(shift)".utf8).write(to: URL(filePath: job.folder.path("clock")), options: .atomic)
  }

  private func start(_ job: Workspace, shift: Int) async throws -> RunningCommand {
    try set(job, shift: shift)
    return try job.start(
      ["run", "job.yaml", "--report", "report.json"],
      environment: try await StateFaults.environment(clock: job.folder.path("clock")))
  }

  /// The clock shows years outside the range of ferry's times: after 2262 or before 1677, or a time before 1970. Some
  /// requests have to be sent again.
  @Test(arguments: [9_000_000_000, 99_999_999_999_999, -1_900_000_000, -20_000_000_000])
  func `or by centuries causes no crash, and the files are delivered`(_ shift: Int) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:every=5,status=503"])
    let job = try job(receiver)
    try set(job, shift: shift)
    let environment = try await StateFaults.environment(clock: job.folder.path("clock"))
    let next = try await job.ferry("next", "job.yaml", environment: environment)
    #expect(next.status == 0 && next.stdout == "now\n", "\(next.stdout)\(next.stderr)")
    let end = await (try await start(job, shift: shift)).end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(try await receiver.received().uploads.count == Self.count)
  }

  @Test(arguments: [-86_400, 86_400])
  func `delays nothing in the next launch, and nothing is repeated`(_ shift: Int) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["any:delay=0.03"])
    let job = try job(receiver)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.commits >= 3 }
    run.signal(SIGKILL)
    _ = await run.end()
    try await receiver.clearFaults()

    let began = ContinuousClock.now
    let end = await (try await start(job, shift: shift)).end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(120))
    let uploads = try await receiver.received().uploads
    #expect(uploads.count == Self.count)
    #expect(uploads.allSatisfy { $0.commits == 1 })

    // When the clock is correct again, no work remains.
    let requests = try await receiver.received().requests
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    #expect(try await receiver.received().requests == requests)
  }

  @Test(arguments: [-86_400, 86_400])
  func `changes nothing in a running launch`(_ shift: Int) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:every=5,status=503", "any:delay=0.03"])
    let job = try job(receiver)
    let run = try await start(job, shift: 0)
    _ = try await receiver.received { $0.commits >= 3 }
    try set(job, shift: shift)
    let began = ContinuousClock.now
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(120))
    let uploads = try await receiver.received().uploads
    #expect(uploads.count == Self.count)
    // ferry considered no upload ID expired, and extended no wait by a day.
    #expect(uploads.allSatisfy { $0.commits == 1 && $0.allocations == 1 })
    #expect(try job.report().totals.idsExpired == 0)
  }

  @Test func `repeats a fetch whose recorded time is in the future`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.catalog("interval: { minimum: 15m }")))
    let first = await (try await start(job, shift: 86_400)).end()
    #expect(first.status == 0, "\(first.stderr)")
    let second = try await job.run()
    #expect(second.command.status == 0, "\(second.command.stderr)")
    #expect(
      second.report.node("catalog")?.result != nil, "\(String(describing: second.report.node("catalog")))")
  }
}
