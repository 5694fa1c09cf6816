import Foundation
import Testing

/// Signals, and pipes and terminals that close. In every case, the run saves its state and the next run resumes.
@Suite struct `A run that receives a signal` {
  private static let count = 40

  private func job(_ receiver: ReceiverProcess, _ nodes: String = JobText.puts) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, nodes))
    for index in 0..<Self.count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  /// Checks that the next run completes the remaining work and sends nothing else.
  private func finish(_ job: Workspace, _ receiver: ReceiverProcess) async throws {
    let done = try await RecordedItems.read(session: "e2e.uploads", of: job).names(.done)
    let before = try await receiver.received().puts
    try await receiver.clearFaults()
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.run.roundClosed)
    #expect(report.totals.itemsDoneInRun == Self.count - done.count)
    let after = try await receiver.received().puts
    #expect(after.count == Self.count)
    for name in done { #expect(after[name] == before[name], "\(name)") }
  }

  @Test(arguments: [
    (SIGTERM, Int32(143), "terminate"), (SIGINT, 130, "interrupt"), (SIGHUP, 143, "terminate"),
  ])
  func `starts nothing more, lets requests complete, saves and reports`(
    _ signal: Int32, code: Int32, cause: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.4"])
    let job = try job(receiver)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.files.count >= 3 }
    run.signal(signal)
    let end = await run.end()
    #expect(end.status == code, "\(end.stderr)")
    let report = try job.report()
    #expect(report.run.exitCode == code)
    #expect(report.run.stop == cause)
    // Requests in flight have completed, and no other request has started.
    let received = try await receiver.received()
    #expect(received.files.count == report.totals.items.done)
    #expect(received.files.count < 10)
    try await finish(job, receiver)
  }

  @Test func `stops at once at the second signal, and reports unfinished requests as ambiguous`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, JobText.posts)
    // Six requests get an immediate response, and the others get none.
    for fault in ["inbox:times=6,delay=0", "inbox:delay=60"] { try await receiver.add(spec: fault) }
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.inbox.count == 8 }
    let began = ContinuousClock.now
    run.signal(SIGINT)
    try await Task.sleep(for: .milliseconds(300))
    #expect(run.isRunning)
    run.signal(SIGINT)
    let end = await run.end()
    #expect(end.status == 130, "\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(4), "the grace is 5 seconds")
    let report = try job.report()
    #expect(report.totals.items.done == 6)
    #expect(report.totals.items.ambiguous == 2)

    try await receiver.clearFaults()
    let second = try await job.run()
    #expect(second.command.status == 1)
    #expect(second.report.run.roundClosed)
    let inbox = Dictionary(grouping: try await receiver.received().inbox, by: \.name)
    #expect(inbox.count == Self.count)
    #expect(inbox.values.allSatisfy { $0.count == 1 })
  }

  @Test func `continues after SIGHUP if it is ignored, as under nohup`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.05"])
    let job = try job(receiver)
    let run = try job.start(
      ["-c", "trap '' HUP; exec \"$FERRY\" run job.yaml"], program: "/bin/sh",
      environment: ["FERRY": Product.path("ferry")])
    _ = try await receiver.received { $0.files.count >= 3 }
    run.signal(SIGHUP)
    let end = await run.end()
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try await receiver.received().files.count == Self.count)
  }

  @Test(arguments: [
    "sleep 0.3 | \"$FERRY\" run job.yaml 2>errors | true; exit ${PIPESTATUS[1]}",
    "sleep 0.3 | \"$FERRY\" run job.yaml --report - 2>errors | true; exit ${PIPESTATUS[1]}",
    "{ sleep 0.3; exec \"$FERRY\" run job.yaml; } 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}",
    "exec \"$FERRY\" run job.yaml >&- 2>&-",
  ])
  func `does its work if nothing reads its output`(_ line: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.01"])
    let job = try job(receiver)
    // After a killed run, the next run prints a message on standard error before it begins.
    let killed = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 3 }
    killed.signal(SIGKILL)
    _ = await killed.end()
    let end = await
      (try job.start(
        ["-c", line], program: "/bin/bash", environment: ["FERRY": Product.path("ferry")])).end()
    #expect(end.status == 0, "\(end.stderr)\(job.folder.text("errors"))")
    #expect(try await receiver.received().files.count == Self.count)
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")
  }

  /// The run has its own terminal, which closes during the run.
  @Test(arguments: [("hears of it", Int32(143)), ("does not hear of it", 0)])
  func `loses nothing when its terminal is closed`(_ what: String, code: Int32) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.05"])
    let job = try job(receiver)
    let script = """
      import os, pty, signal, sys, time
      pid, terminal = pty.fork()
      if pid == 0:
        if \(code == 0 ? "True" : "False"): signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.execv(sys.argv[1], [sys.argv[1], "run", "job.yaml"])
      shown = b""
      while b" items" not in shown: shown += os.read(terminal, 4096)
      os.close(terminal)
      _, status = os.waitpid(pid, 0)
      sys.exit(os.waitstatus_to_exitcode(status) % 256)
      """
    let end = await (try job.start(["-c", script, Product.path("ferry")], program: "python3")).end()
    #expect(end.status == code, "\(end.stdout)\(end.stderr)")
    if code == 0 {
      #expect(try await receiver.received().files.count == Self.count)
    } else {
      try await finish(job, receiver)
    }
  }

  @Test func `continues after it was suspended, and sends nothing twice`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02"])
    let job = try job(receiver)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 3 }
    run.signal(SIGSTOP)
    try await Task.sleep(for: .milliseconds(1500))
    let meanwhile = try await receiver.received().files.count
    run.signal(SIGCONT)
    let end = await run.end()
    #expect(end.status == 0, "\(end.stderr)")
    #expect(meanwhile < Self.count)
    let files = try await receiver.received().files
    #expect(files.count == Self.count)
    #expect(files.allSatisfy { $0.puts == 1 })
  }

  @Test func `does not start a file that waits for its digest`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(
        server: receiver.url, JobText.posts.replacing("${file.path}", with: "${file.path}&d=${file.sha256}")))
    try job.write("", to: "large")
    #expect(truncate(job.folder.path("files/large"), 64 << 30) == 0)
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 1 {}
    let began = ContinuousClock.now
    run.signal(SIGINT)
    #expect(await run.end().status == 130)
    #expect(began.duration(to: .now) < .seconds(4), "the grace is 5 seconds")
    let report = try job.report()
    #expect(report.totals.items.ambiguous == 0 && report.totals.items.waiting == 1)
    #expect(try await receiver.received().inbox.isEmpty)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `stops while it lists files, and writes its report`(_ signal: Int32) async throws {
    let code = 128 + signal
    let receiver = try await ReceiverProcess.start()
    let job = try job(
      receiver, JobText.puts.replacing("{ root: files }", with: "{ root: files, list: \"-\" }"))
    // The pipe stays open until the run has ended.
    let input = Pipe()
    let run = try RunningCommand(
      Product.path("ferry"), ["run", "job.yaml", "--report", "report.json"],
      environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret], in: job.folder.url,
      input: input)
    try input.fileHandleForWriting.write(contentsOf: Data("0.txt\n1.txt\n".utf8))
    while try await job.status().session("e2e.uploads")?.holder == nil {}
    // ferry installs its signal handlers soon after it has locked the session, and before it reads the list.
    try await Task.sleep(for: .milliseconds(500))
    run.signal(signal)
    #expect(await run.end().status == code)
    let report = try job.report()
    #expect(report.run.exitCode == code && !report.run.roundClosed)
    #expect(try await receiver.received().requests == 0)
    try input.fileHandleForWriting.close()
  }

  /// Nobody reads from this pipe. A terminal after Control-S behaves in the same way.
  @Test func `is not blocked by messages that cannot be written`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    // ferry reports each of these links, which lead out of the root, on standard error.
    for index in 0..<20 {
      try FileManager.default.createSymbolicLink(
        atPath: job.folder.path("files/link \(index)"), withDestinationPath: "/etc/hostname")
    }
    let run = try RunningCommand(
      "sh",
      [
        "-c",
        """
        mkfifo full; exec 3<>full; dd if=/dev/zero of=full oflag=nonblock bs=4096 2>/dev/null
        exec "$0" run job.yaml 2>&3
        """,
        Product.path("ferry"),
      ],
      environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret], in: job.folder.url)
    let end = try await run.end(within: .seconds(60))
    #expect(end.status == 0)
    #expect(end.stdout.contains("40 done"))
    #expect(try await receiver.received().puts.count == Self.count)
  }
}
