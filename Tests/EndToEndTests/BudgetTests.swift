import Foundation
import Testing

/// Budgets that several processes share, over real sockets.
@Suite("A budget of a real network")
struct BudgetTests {
  private static let size = 100_000

  private func job(
    _ receiver: ReceiverProcess, name: String, limit: String, cutoff: String = "hard", files: Int
  )
    throws -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: \(name)
      conditions: { network: wifi, power: external }
      budgets: { wifi: { limit: \(limit), per: month, cutoff: \(cutoff) } }
      sessions:
        uploads: { kind: background, discretionary: true, max_connections_per_host: 3 }
      uploads:
        files:
          session: uploads
          files: { root: files }
          transfer: { request: { url: "\(receiver.url)/files/\(name)-${file.path}" } }

      """)
    for index in 0..<files { try job.write(String(repeating: "x", count: Self.size), to: "\(index).txt") }
    return job
  }

  @Test func `that two processes share is exceeded at most by header fields and responses`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.01"])
    let first = try job(receiver, name: "first", limit: "4MB", files: 40)
    let second = try job(receiver, name: "second", limit: "4MB", files: 40)
    let environment = ["FERRY_STATE": first.state]
    let runs = try [first, second].map {
      try $0.start(["run", "job.yaml", "--report", "report.json"], environment: environment)
    }
    for run in runs { #expect(await run.end().status == 8) }
    let files = try await receiver.received().files
    let bytes = files.count * Self.size
    // What remains of the budget is smaller than a file, or was leased by the other process.
    #expect(bytes <= 4_000_000 && bytes >= 2_900_000, "\(files.count) files")
    let used = try [first, second].map { try $0.report().run.budgets?.first?.usedBytesAfter ?? 0 }.max() ?? 0
    let overhead = 1024 * files.count
    #expect(used >= bytes && used <= 4_000_000 + overhead, "\(used)")
    // The budget has no room for the third job.
    let third = try job(receiver, name: "third", limit: "4MB", files: 11)
    let run = try await third.ferry("run", "job.yaml", environment: environment)
    #expect(run.status == 8)
    #expect(run.stdout.contains("waiting for the budget of wifi networks"), "\(run.stdout)")
    #expect(try await receiver.received().files.count * Self.size <= 4_000_000)
  }

  @Test func `counts the lease of a killed process`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, name: "killed", limit: "2MB", files: 30)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 1 }
    run.signal(SIGKILL)
    _ = await run.end()
    let sent = try await receiver.received().files.count * Self.size
    try await receiver.clearFaults()
    let (second, report) = try await job.run()
    #expect(second.status == 8 || second.status == 0)
    let budget = try #require(report.run.budgets?.first)
    // The killed run never returned the unused part of its lease.
    #expect(budget.usedBytesBefore > sent && budget.usedBytesBefore >= 1_000_000, "\(budget), \(sent)")
    #expect(budget.usedBytesAfter <= 2_000_000 + 20_480, "\(budget)\n\(report.totals)\n\(second.stderr)")
  }

  @Test func `sends smaller files if a larger one does not fit, and reports each`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, name: "mixed", limit: "150kB", cutoff: "cautious", files: 0)
    try job.write(String(repeating: "a", count: 100_000), to: "a.txt")
    try job.write(String(repeating: "b", count: 100_000), to: "b.txt")
    try job.write("small", to: "c.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 8)
    #expect(Set(try await receiver.received().files.map(\.name)) == ["mixed-a.txt", "mixed-c.txt"])
    #expect(report.node("files")?.reason?.code == "budget")
    #expect(report.run.deferredUntil != nil)
  }

  @Test func `limits a single request that sends a file`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:status=503"])
    let job = try Workspace(
      """
      version: 1
      name: single
      conditions: { network: wifi, power: external }
      budgets: { any: { limit: 250kB, per: month, cutoff: hard } }
      sessions: { s: {} }
      requests:
        small:
          session: s
          retry: { limit: 9, initial: 10ms, max: 10ms }
          request: { method: PUT, url: "\(receiver.url)/files/small", multipart: { file: { path: files/small } } }
        large: { session: s, request: { method: PUT, url: "\(receiver.url)/files/large", body: { file: files/large } } }

      """)
    try job.write(String(repeating: "s", count: Self.size), to: "small")
    try job.write(String(repeating: "l", count: 3 * Self.size), to: "large")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)")
    // The body and the form around it fit twice.
    #expect(report.node("small")?.reason?.code == "budget")
    #expect(report.totals.requests == 2)
    #expect((100_000..<250_000).contains(report.totals.bytes.sent ?? 0), "\(report.totals)")
    #expect(report.node("large")?.reason?.code == "budget_never")
  }

  @Test(arguments: ["wired", "any"])
  func `binds a session that is not discretionary`(_ scope: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, name: "plain", limit: "250kB", cutoff: "cautious", files: 4)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
      .replacing("network: wifi, power: external", with: "network: wired")
      .replacing("budgets: { wifi:", with: "budgets: { \(scope):")
      .replacing("discretionary: true, ", with: "")
    try Data(text.utf8).write(to: URL(fileURLWithPath: job.folder.path("job.yaml")))
    let (command, report) = try await job.run()
    #expect(command.status == 8)
    #expect(try await receiver.received().files.count == 2)
    #expect(report.node("files")?.reason?.code == "budget")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.stdout.contains("\(scope): 20"), "\(plan.stdout)")
  }

  @Test func `does not bind a foreground launch of the ios profile`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, name: "front", limit: "150kB", cutoff: "cautious", files: 3)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(
      manifest: text.replacing("discretionary: true, ", with: "").replacing(
        "name: front", with: "name: front\nprofile: ios"))
    #expect(try await job.run("--launch", "background").command.status == 8)
    #expect(try await job.run("--launch", "foreground").command.status == 0)
    #expect(try await receiver.received().files.count == 3)
  }
}
