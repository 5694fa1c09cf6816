import Foundation
import Testing

/// Uploads with `compare: content`.
@Suite struct `A file that is compared by its content` {
  private static let content = "compare: content"

  private func text(_ receiver: ReceiverProcess, _ lines: String...) -> String {
    JobText.text(
      server: receiver.url, ([JobText.puts] + lines.map { "    \($0)" }).joined(separator: "\n"))
  }

  /// Runs the job to its end, and returns how often each file has been sent so far.
  private func puts(_ job: Workspace, _ receiver: ReceiverProcess, status: Int32 = 0) async throws -> [String:
    Int]
  {
    let (command, _) = try await job.run()
    #expect(command.status == status, "\(command.stderr)")
    return try await receiver.received().puts
  }

  private func planned(_ job: Workspace) async throws -> String {
    let plan = try await job.ferry("plan", "job.yaml").stdout
    return plan.split(separator: "\n").first { $0.contains(" items, ") || $0.contains(" item, ") }.map(
      String.init) ?? plan
  }

  @Test func `is not sent again if only its time differs, and its new time is recorded`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, Self.content))
    try job.write("one", to: "a.txt")
    #expect(try await puts(job, receiver) == ["a.txt": 1])
    try FileTimes.touch(job.folder.path("files/a.txt"), seconds: 1_500_000_000)
    #expect(try await planned(job).hasSuffix("0 items, 0 B, 1 unchanged"))
    #expect(try await puts(job, receiver) == ["a.txt": 1])
    #expect(try job.report().totals.items.unchanged == 1)
    // The journal now has the new time, so the file also counts as unchanged without `compare: content`.
    try job.write(manifest: text(receiver))
    #expect(try await planned(job).hasSuffix("0 items, 0 B, 1 unchanged"))
    #expect(try await puts(job, receiver) == ["a.txt": 1])
  }

  @Test(arguments: [true, false])
  func `is sent again if one byte differs, even with the same size and time`(_ comparesContent: Bool)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, comparesContent ? Self.content : "compare: modification"))
    try job.write("one", to: "a.txt")
    try job.write("two", to: "b.txt")
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 1])
    try FileTimes.change(job.folder.path("files/a.txt"), byte: 1)
    let again = comparesContent ? 1 : 0
    #expect(
      try await planned(job).hasSuffix(
        "\(again) \(again == 1 ? "item" : "items"), \(3 * again) B, \(2 - again) unchanged"))
    for _ in 0..<2 { #expect(try await puts(job, receiver) == ["a.txt": 1 + again, "b.txt": 1]) }
  }

  @Test func `may be large, and is sent again if its last byte differs`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, Self.content))
    let size = 4 << 20
    try job.folder.write(Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 251) }), to: "files/a.bin")
    #expect(try await puts(job, receiver) == ["a.bin": 1])
    try FileTimes.touch(job.folder.path("files/a.bin"), seconds: 1_500_000_000)
    #expect(try await puts(job, receiver) == ["a.bin": 1])
    try FileTimes.change(job.folder.path("files/a.bin"), byte: UInt64(size - 1))
    #expect(try await puts(job, receiver) == ["a.bin": 2])
  }

  @Test func `is the only one of many that is sent again if only it has changed`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, Self.content))
    let names = (0..<300).map { "\($0).txt" }
    for name in names { try job.write("file \(name)", to: name) }
    #expect(try await puts(job, receiver).count == 300)
    for name in names { try FileTimes.touch(job.folder.path("files/\(name)"), seconds: 1_500_000_000) }
    try FileTimes.change(job.folder.path("files/137.txt"), byte: 2)
    #expect(try await planned(job).hasSuffix("1 item, 12 B, 299 unchanged"))
    let puts = try await puts(job, receiver)
    #expect(puts.filter { $0.value != 1 } == ["137.txt": 2])
  }

  @Test func `counts as delivered if the delivered file has no digest and its time is the same`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver))
    for name in ["a.txt", "b.txt"] { try job.write(name, to: name) }
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 1])
    try FileTimes.touch(job.folder.path("files/b.txt"), seconds: 1_500_000_000)
    try job.write(manifest: text(receiver, Self.content))
    #expect(try await planned(job).hasSuffix("1 item, 5 B, 1 unchanged"))
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 2])
    // Now the journal has digests of both files.
    for name in ["a.txt", "b.txt"] {
      try FileTimes.touch(job.folder.path("files/\(name)"), seconds: 1_400_000_000)
    }
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 2])
    try FileTimes.change(job.folder.path("files/a.txt"), byte: 0)
    #expect(try await puts(job, receiver) == ["a.txt": 2, "b.txt": 2])
  }

  /// What the server has is known, although its response is not: the whole body had been sent.
  @Test(arguments: [
    ("drop=after", 3, false), ("drop=after", 4 << 20, false), ("drop=after", 3, true),
    ("drop=after", 4 << 20, true), ("delay=60", 4 << 20, false),
  ])
  func `is compared with what was sent if its transfer was resolved as executed`(
    _ fault: String, _ size: Int, _ isConnectionReused: Bool
  ) async throws {
    let every = isConnectionReused ? 2 : 1
    let receiver = try await ReceiverProcess.start(faults: ["inbox:every=\(every),times=2,\(fault)"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 1,
        """
        uploads:
          files:
            session: uploads
            files: { root: files }
            compare: content
            transfer: { protocol: post, request: { url: "${vars.api}/inbox?name=${file.name}" } }
        """
      ).replacing("timeout_for_request: 20s", with: "timeout_for_request: 2s"))
    let others = isConnectionReused ? ["a", "d"] : []
    for name in ["changed", "touched"] + others {
      try job.folder.write(Data(repeating: 7, count: size), to: "files/\(name)")
    }
    #expect(try await job.run().command.status == 1)
    #expect(try await job.ferry("resolve", "--all", "done", "--manifest", "job.yaml").status == 0)
    try FileTimes.change(job.folder.path("files/changed"), byte: UInt64(size - 1))
    try FileTimes.touch(job.folder.path("files/touched"), seconds: 1_500_000_000)
    #expect(try await job.run().command.status == 0)
    #expect(try job.report().totals.items.unchanged == 1 + others.count)
    #expect(try await job.run().report.totals.items.unchanged == 2 + others.count)
    let sent = try await Dictionary(grouping: receiver.received().inbox, by: \.name).mapValues(\.count)
    #expect(sent["changed"] == 2 && sent["touched"] == 1, "\(sent)")
  }

  @Test func `is committed again under the same key only if its content is the same`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.uploadIDs(recognized: "idempotency_key: { header: Idempotency-Key }") + "\n    "
          + Self.content))
    try job.write("one", to: "a.txt")
    for (run, contents) in [(1, 1), (2, 1)] {
      #expect(try await job.run().command.status == 0)
      #expect(try await receiver.received().contents == contents, "run \(run)")
      try FileTimes.touch(job.folder.path("files/a.txt"), seconds: 1_500_000_000)
    }
    try FileTimes.change(job.folder.path("files/a.txt"), byte: 0)
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().commits == 2)
  }

  @Test func `is compared in the running run that it is submitted to`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, Self.content))
    for name in ["a.txt", "b.txt"] { try job.write(name, to: name) }
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 1])
    try job.write("slow", to: "c.txt")
    try await receiver.add(spec: "file:times=1,delay=5")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.puts["c.txt"] == 1 }
    try FileTimes.change(job.folder.path("files/a.txt"), byte: 0)
    try FileTimes.touch(job.folder.path("files/b.txt"), seconds: 1_500_000_000)
    #expect(
      try await job.ferry("submit", "job.yaml", "files", "files/a.txt", "files/b.txt").status == 0)
    #expect(await run.end().status == 0)
    #expect(try await receiver.received().puts == ["a.txt": 2, "b.txt": 1, "c.txt": 1])
  }

  @Test func `is counted but not read by status`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(text(receiver, Self.content))
    for name in ["a.txt", "b.txt"] { try job.write(name, to: name) }
    #expect(try await puts(job, receiver) == ["a.txt": 1, "b.txt": 1])
    try FileTimes.touch(job.folder.path("files/a.txt"), seconds: 1_500_000_000)
    let status = try await job.ferry("status").stdout
    #expect(status.contains("2 to compare by content") && !status.contains("to send"), "\(status)")
    #expect(try await job.status().session("e2e.uploads")?.node("files")?.items?["to_compare"] == 2)
  }

  // MARK: Interrupted comparisons

  private static let size: UInt64 = 8 << 30

  /// Changes the size of the delivered file `large.bin` in the journal and on disk, where the file becomes sparse.
  private func resize(_ job: Workspace, to size: UInt64) async throws {
    let path = job.folder.path("files/large.bin")
    let times = try FileTimes(of: path)
    #expect(truncate(path, off_t(size)) == 0)
    try times.restore()
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.execute("UPDATE item SET size = ? WHERE path = ?", (int(sys.argv[2]), b"large.bin"))
      db.commit()
      """
    let command = try await Command.run(
      "python3", ["-c", script, job.state + "/sessions/e2e.uploads.db", "\(size)"])
    #expect(command.status == 0, "\(command.stderr)")
  }

  /// Creates a job with a delivered file of 8 GiB, and starts a run that reads the file, which takes seconds.
  private func reading(
    _ receiver: ReceiverProcess, _ options: String...
  ) async throws -> (job: Workspace, run: RunningCommand) {
    let job = try Workspace(text(receiver, Self.content))
    try job.write("large", to: "large.bin")
    #expect(try await puts(job, receiver) == ["large.bin": 1])
    try await resize(job, to: Self.size)
    try job.write("new", to: "new.txt")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"] + options)
    let folder = "/proc/\(run.pid)/fd"
    while run.isRunning {
      let open = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let files = open.compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
      }
      if files.contains(where: { $0.hasSuffix("/large.bin") }) { break }
      // The test polls, because no event shows that the file is open and being read.
      try await Task.sleep(for: .milliseconds(5))
    }
    return (job, run)
  }

  /// Restores the file's size, so that the next run finds the delivered content.
  private func finish(_ job: Workspace, _ receiver: ReceiverProcess) async throws {
    #expect(try await receiver.received().puts == ["large.bin": 1])
    try await resize(job, to: 5)
    #expect(try await puts(job, receiver) == ["large.bin": 1, "new.txt": 1])
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is read again after a kill, and nothing is lost or sent twice`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, run) = try await reading(receiver)
    run.signal(SIGKILL)
    #expect(await run.end().status == 128 + SIGKILL)
    try await finish(job, receiver)
  }

  @Test(arguments: [(SIGINT, Int32(130), "interrupt"), (SIGTERM, 143, "terminate")])
  func `is not read after a signal, and the next run reads it`(_ signal: Int32, code: Int32, cause: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let (job, run) = try await reading(receiver)
    run.signal(signal)
    let end = await run.end()
    #expect(end.status == code, "\(end.stderr)")
    let report = try job.report()
    #expect(report.run.exitCode == code && report.run.stop == cause && !report.run.roundClosed)
    try await finish(job, receiver)
  }

  @Test func `is not read once the launch has run out of time`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, run) = try await reading(receiver, "--max-duration", "1s")
    let command = await run.end()
    #expect(command.status == 10, "\(command.stderr)")
    #expect(try !job.report().run.roundClosed)
    try await finish(job, receiver)
  }
}
