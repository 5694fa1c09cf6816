import Foundation
import Testing

/// Notes for a session that a run holds, or that the next one takes.
@Suite("A session that others leave notes for")
struct NoteTests {
  private func job(_ receiver: ReceiverProcess, files: Int) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2,
        JobText.puts.replacing("{ root: files }", with: "{ root: files, include: [\"*.txt\"] }")))
    for index in 0..<files { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test func `takes submitted files into the run that is at work`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 30)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    try job.write("extra", to: "extra.bin")
    let submit = try await job.ferry("submit", "job.yaml", "files", "files/extra.bin")
    #expect(submit.status == 0, "\(submit.stderr)")
    try await receiver.clearFaults()
    #expect(await run.end().status == 0)
    #expect(try job.report().totals.items.done == 31)
    #expect(try await receiver.received().files.contains { $0.name == "extra.bin" && $0.puts == 1 })
    // The note is done with.
    let again = try await job.run()
    #expect(again.command.status == 0 && again.report.totals.itemsDoneInRun == 0)
  }

  @Test func `takes submitted files into the next run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, files: 1)
    try job.write("extra", to: "extra.bin")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/extra.bin").status == 0)
    #expect(try await job.ferry("resume").status == 0)
    #expect(Set(try await receiver.received().files.map(\.name)) == ["0.txt", "extra.bin"])
  }

  @Test func `ends at once when it is cancelled, and stays for the next round`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 60)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    let cancel = try await job.ferry("cancel", "e2e.uploads")
    #expect(cancel.status == 0, "\(cancel.stderr)")
    _ = await run.end()
    let report = try job.report()
    #expect(report.totals.items.done < 60)
    #expect(report.items.contains { $0.state == "cancelled" && $0.reason?.code == "cancelled" })
    #expect(report.run.roundClosed)
    try await receiver.clearFaults()
    let next = try await job.run()
    #expect(next.command.status == 0)
    #expect(try await receiver.received().files.count == 60)
  }

  @Test func `finishes what runs when it is cancelled with --finish`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=1"])
    let job = try job(receiver, files: 60)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 2 }
    #expect(try await job.ferry("cancel", "e2e.uploads", "--finish").status == 0)
    try await receiver.clearFaults()
    _ = await run.end()
    let report = try job.report()
    let done = report.totals.items.done
    #expect(done >= 2 && done < 60, "\(done)")
    #expect(try await receiver.received().files.count == done)
  }
}
