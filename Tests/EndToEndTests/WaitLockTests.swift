import Foundation
import Testing

/// `--wait-lock`, and messages about the process that holds a session.
@Suite struct `A session that another process holds` {
  /// Starts a run that holds the session until the test ends it, because its server never responds.
  private func held() async throws -> (job: Workspace, run: RunningCommand, receiver: ReceiverProcess) {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=300"])
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts)
        .replacing("timeout_for_request: 20s", with: "timeout_for_request: 5m"))
    try job.write("one", to: "1.txt")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 1, run.isRunning {
    }
    return (job, run, receiver)
  }

  @Test func `is named with its process, and since when`() async throws {
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    for arguments in [["run", "job.yaml"], ["resume"], ["reset", "e2e.uploads"]] {
      let began = ContinuousClock.now
      let command = try await job.start(arguments + ["--wait-lock", "50ms"]).end()
      #expect(command.status == 6, "\(arguments)")
      #expect(command.stderr.contains("in use by process \(run.pid), since 20"), "\(command.stderr)")
      #expect(began.duration(to: .now) < .seconds(45))
    }
    #expect(try await job.ferry("run", "job.yaml").status == 6)
    let reset = try await job.ferry("reset", "e2e.uploads").stderr
    #expect(
      reset.contains("or cancel its work with: ferry cancel e2e.uploads --state \(job.state)\n"), "\(reset)")
    #expect(try await job.ferry("run", "job.yaml", "--wait-lock", "50").status == 2)
    run.signal(SIGKILL)
    _ = await run.end()
  }

  /// A cleanup job, or a user who considers the lock file stale, may remove it.
  @Test func `is not run twice if its lock file was removed`() async throws {
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    try FileManager.default.removeItem(atPath: job.state + "/sessions/e2e.uploads.lock")
    let second = try await job.ferry("run", "job.yaml")
    #expect(second.status == 6 && second.stderr.contains("in use by process \(run.pid)"), "\(second.stderr)")
    run.signal(SIGKILL)
    _ = await run.end()
  }

  @Test func `does not block a manifest that now names another session`() async throws {
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    let manifest = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    #expect(manifest.contains("identifier: e2e.uploads"))
    try job.write(manifest: manifest.replacing("identifier: e2e.uploads", with: "identifier: e2e.other"))
    try await receiver.clearFaults()
    let other = try await job.ferry("run", "job.yaml")
    #expect(other.status == 0, "\(other.stderr)")
    run.signal(SIGKILL)
    _ = await run.end()
  }

  @Test func `is not waited for with 0s, nor for longer than a time limit leaves`() async throws {
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    let began = ContinuousClock.now
    let none = try await job.ferry("run", "job.yaml", "--wait-lock", "0s")
    #expect(none.status == 6 && !none.stderr.contains("waiting for the session"), "\(none.stderr)")
    let limited = try await job.ferry("run", "job.yaml", "--wait-lock", "10m", "--max-duration", "100ms")
    #expect(limited.status == 6, "\(limited.stderr)")
    #expect(limited.stderr.contains("waiting for the session"), "\(limited.stderr)")
    #expect(began.duration(to: .now) < .seconds(60))
    run.signal(SIGKILL)
    _ = await run.end()
  }

  @Test(arguments: [["run", "job.yaml"], ["resume"]])
  func `is waited for, and resumed as soon as its process is killed`(_ arguments: [String]) async throws {
    let (job, run, receiver) = try await held()
    let next = try job.start(arguments + ["--wait-lock", "60s"])
    while !next.stderr.contains("waiting for the session"), next.isRunning {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await receiver.clearFaults()
    let began = ContinuousClock.now
    run.signal(SIGKILL)
    _ = await run.end()
    let end = await next.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(30))
    #expect(try await receiver.received().files.map(\.name) == ["1.txt"])
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is released when it is cancelled, and the command can wait for that`() async throws {
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    let cancel = try await job.ferry("cancel", "e2e.uploads", "--wait-lock", "60s")
    #expect(cancel.status == 0, "\(cancel.stderr)")
    let released = "in use by process \(run.pid), which was asked to cancel, and has released the session"
    #expect(cancel.stdout.contains(released), "\(cancel.stdout)")
    _ = await run.end()
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
  }

  @Test func `is reported as released to a program that waited for it`() async throws {
    struct Cancelled: Decodable {
      struct Session: Decodable {
        var session: String
        var result: String
        var pid: Int32?
        var released: Bool?
      }
      var sessions: [Session]
    }
    let (job, run, receiver) = try await held()
    defer { withExtendedLifetime(receiver) {} }
    let cancel = try await job.ferry("cancel", "e2e.uploads", "--wait-lock", "60s", "--format", "json")
    let session = try #require(try cancel.json(Cancelled.self).sessions.first)
    #expect(session.result == "told" && session.pid == run.pid && session.released == true)
    _ = await run.end()
    // If the command did not wait for a lock, the key is absent.
    let free = try await job.ferry("cancel", "e2e.uploads", "--format", "json")
    #expect(try free.json(Cancelled.self).sessions.first?.released == nil)
  }
}
