import Foundation
import Testing

/// A process of a shard that is stopped for longer than its lease, while another one takes the shard over.
@Suite struct `A shard that has been taken over` {
  private static let files = 30
  private static let arguments = ["run", "job.yaml", "--shard", "1/1", "--lease", "2s", "--quiet"]

  private func job(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, JobText.uploadIDs()))
    for number in 0..<Self.files { try job.write("content \(number)", to: "f\(number).txt") }
    return job
  }

  /// Whether a process holds a lock on the bytes of a file that SQLite locks. Such a lock keeps other processes from
  /// using the journal.
  private func holdsFile(_ pid: Int32) throws -> Bool {
    try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
      .contains { $0.contains("POSIX") && $0.contains(" \(pid) ") }
  }

  /// Stops a process while it is not in a transaction.
  private func stop(_ process: RunningCommand) async throws {
    for _ in 0..<200 {
      process.signal(SIGSTOP)
      // The kernel stops each thread at its next return to user space.
      try await Task.sleep(for: .milliseconds(20))
      guard try holdsFile(process.pid) else { return }
      process.signal(SIGCONT)
      try await Task.sleep(for: .milliseconds(7))
    }
    throw CommandFailure(description: "the process is always in a transaction")
  }

  @Test func `gets no more requests from the process that was stopped, and each file is committed once`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=0.2"])
    let job = try job(receiver)
    let old = try job.start(Self.arguments)
    _ = try await receiver.received { $0.commits >= 3 }
    try await stop(old)
    let next = try await job.start(Self.arguments).end()
    #expect(next.status == 0, "\(next.stderr)")
    let before = try await receiver.received()
    #expect(before.commits == Self.files && before.uploads.allSatisfy { $0.commits == 1 })
    let log = receiver.log
    old.signal(SIGCONT)
    let ended = try await old.end(within: .seconds(60))
    #expect(ended.status == 70 && ended.stderr.contains("no longer owns the journal"), "\(ended.stderr)")
    #expect(receiver.log == log)
    let merged = try await job.ferry("report", "merge", job.state)
    #expect(merged.status == 0 && merged.stdout.contains("\(Self.files) done"), "\(merged.stdout)")
  }

  /// The process that has taken the shard over runs without the session's lock, which the stopped process keeps.
  @Test func `is locked by its new process when the stopped one is killed`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=0.2"])
    let job = try job(receiver)
    let old = try job.start(Self.arguments)
    _ = try await receiver.received { $0.commits >= 3 }
    try await stop(old)
    try await receiver.clearFaults()
    try await receiver.add(spec: "content:delay=300")
    let uploads = try await receiver.received().uploads.count
    let next = try job.start(Self.arguments)
    _ = try await receiver.received { $0.uploads.count > uploads }
    old.signal(SIGKILL)
    _ = await old.end()
    let lock = job.state + "/shards/e2e/1-of-1/sessions/e2e.uploads.lock"
    let deadline = ContinuousClock.now + .seconds(60)
    while try !String(contentsOfFile: lock, encoding: .utf8).contains("pid \(next.pid)\n"), .now < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
    let reset = try await job.start(
      ["reset", "e2e.uploads", "--drop-unanswered", "--state", job.state + "/shards/e2e/1-of-1"]
    ).end()
    #expect(reset.status == 6 && reset.stderr.contains("process \(next.pid)"), "\(reset.stderr)")
    next.signal(SIGKILL)
    _ = await next.end()
  }

  /// A command such as `ferry reset` has no lease. A process without `use` is a run of an older version of ferry.
  @Test(arguments: ["use command", "use run", nil])
  func `runs although a stopped run holds its session, but not while a command does`(use: String?)
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    #expect(try await job.start(Self.arguments).end().status == 0)
    let lock = job.state + "/shards/e2e/1-of-1/sessions/e2e.uploads.lock"
    let script = """
      import fcntl, os, signal, struct, sys
      file = os.open(sys.argv[1], os.O_RDWR)
      fcntl.fcntl(file, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
      os.pwrite(file, f"pid {os.getpid()}\\n{sys.argv[2]}\\n".encode(), 0)
      print("holds it", flush=True)
      signal.pause()
      """
    let holder = try RunningCommand("python3", ["-c", script, lock, use ?? ""], in: job.folder.url)
    _ = try await holder.line(after: "holds ")
    let run = try await job.start(Self.arguments).end()
    #expect(run.status == (use == "use command" ? 6 : 0), "\(run.stderr)")
    holder.signal(SIGKILL)
    _ = await holder.end()
  }

  @Test func `is not taken over from a process that is alive`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=300"])
    let job = try job(receiver)
    let old = try job.start(Self.arguments)
    _ = try await receiver.received { !$0.uploads.isEmpty }
    let next = try await job.start(Self.arguments).end()
    #expect(next.status == 6 && next.stderr.contains("in use by process \(old.pid)"), "\(next.stderr)")
    #expect(old.isRunning)
    old.signal(SIGKILL)
    _ = await old.end()
    // The owner's process no longer exists on this machine, so its lease need not expire.
    try await receiver.clearFaults()
    let again = try await job.start(Self.arguments).end()
    #expect(again.status == 0, "\(again.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.allSatisfy { $0.commits == 1 } && received.commits == Self.files)
  }

  /// `FERRY_SOAK_TAKEOVERS=200` runs 200 trials, each at a different moment.
  @Test func `gets no more requests from it, whatever the moment at which it is stopped`() async throws {
    let trials = ProcessInfo.processInfo.environment["FERRY_SOAK_TAKEOVERS"].flatMap { Int($0) } ?? 2
    var random = SystemRandomNumberGenerator()
    var stopped = 0
    for trial in 0..<trials {
      let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=0.05"])
      let job = try job(receiver)
      let old = try job.start(Self.arguments)
      _ = try await receiver.received { !$0.uploads.isEmpty }
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...500, using: &random)))
      old.signal(SIGSTOP)
      // If the process was stopped during a transaction, the engine starts the shard again until the process
      // has ended.
      var next = try await job.start(Self.arguments).end()
      try await Task.sleep(for: .milliseconds(2500))
      let log = receiver.log
      old.signal(SIGCONT)
      let ended = try await old.end(within: .seconds(60))
      let isOver = ended.status == 0
      stopped += isOver ? 0 : 1
      // If the process was stopped between its check of the lease and the system call that sends a request, it sends this
      // request when it continues (delivery.md, Shards).
      let more = receiver.log.dropFirst(log.count)
      #expect(isOver || more.count <= 1, "trial \(trial): \(more) \(ended.stderr)")
      #expect(isOver || ended.status == 70, "trial \(trial): \(ended.stderr)")
      if next.status == 6 { next = try await job.start(Self.arguments).end() }
      #expect(next.status == 0, "trial \(trial): \(next.stderr)")
      let received = try await receiver.received()
      #expect(
        received.commits == Self.files && received.uploads.allSatisfy { $0.commits == 1 }, "trial \(trial)")
    }
    #expect(stopped > 0, "every process had ended before it was stopped")
  }
}
