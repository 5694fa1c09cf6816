import Foundation
import Testing

/// A run that is killed during its commits, and whose journal then loses data.
@Suite struct `A journal that has lost what was written to it` {
  private static let files = 60

  /// Creates a job that was killed after it had delivered several files. Returns the files that its journal records as
  /// delivered.
  private func killed(_ receiver: ReceiverProcess) async throws -> (Workspace, done: Set<String>) {
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, JobText.puts))
    for index in 0..<Self.files { try job.write("\(index)", to: "f\(index)") }
    try await receiver.add(spec: "file:delay=0.06")
    let run = try job.start(["run", "job.yaml", "--quiet"])
    _ = try await receiver.received { $0.files.count >= 20 }
    run.signal(SIGKILL)
    #expect(await run.end().status == 128 + SIGKILL)
    try await receiver.clearFaults()
    let done = try await RecordedItems.read(session: "e2e.uploads", of: job).names(.done)
    #expect(done.count >= 5 && done.count < Self.files)
    return (job, done)
  }

  /// Returns the given names that the server has received more than once.
  private func doubled(_ names: Set<String>, _ receiver: ReceiverProcess) async throws -> [String] {
    try await receiver.received().files.filter { names.contains($0.name) && $0.puts > 1 }.map(\.name)
  }

  private func expectRefusal(
    _ job: Workspace, _ commands: [[String]], _ words: String, _ moment: String = ""
  ) async throws {
    for command in commands {
      let end = try await job.start(command).end()
      #expect(end.status == 70, "\(moment) \(command): \(end.stdout)\(end.stderr)")
      #expect((end.stdout + end.stderr).contains(words), "\(moment) \(command): \(end.stdout)\(end.stderr)")
    }
  }

  /// The number of bytes at the beginning of a log that SQLite uses. The others are frames from before the last checkpoint,
  /// which have another salt (sqlite.org/fileformat2.html#walformat).
  private static func usedBytes(ofLog log: Data) -> Int {
    let (header, frame) = (32, 24 + 4096)
    let salt = log[16..<24]
    var end = header
    while end + frame <= log.count, log[(end + 8)..<(end + 16)] == salt { end += frame }
    return end
  }

  private static let changing = [
    ["run", "job.yaml"], ["resume"], ["run", "job.yaml", "--fresh"],
    ["journal", "prune", "--delivered", "365d"], ["reset", "e2e.uploads"], ["cancel", "e2e.uploads"],
    ["cancel", "./job.yaml"], ["resolve", "--all", "done", "--manifest", "job.yaml"],
    ["resolve", "--all", "done", "--session", "e2e.uploads"], ["orphans", "e2e.uploads", "--forget", "all"],
  ]

  @Test func `is rejected after one byte of its log changed, and nothing is sent twice`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, done) = try await killed(receiver)
    let log = job.journal(ofSession: "e2e.uploads") + "-wal"
    let whole = try Data(contentsOf: URL(filePath: log))
    let used = Self.usedBytes(ofLog: whole)
    var random = SplitMix(seed: 22)
    for _ in 0..<6 {
      // The offset is not near the end, because the kill may have truncated the last transaction.
      let offset = Int(random.next() % UInt64(used / 10 * 8))
      var bytes = whole
      bytes[offset] ^= 1 << (random.next() % 8)
      try bytes.write(to: URL(filePath: log))
      try await expectRefusal(
        job, [["run", "job.yaml"]], "recorded transactions", "byte \(offset)")
      #expect(try await doubled(done, receiver) == [])
      #expect(try Data(contentsOf: URL(filePath: log)) == bytes)
    }
    try await expectRefusal(job, Self.changing, "journal accept-loss e2e.uploads")
    try await expectRefusal(job, [["plan", "job.yaml"]], "recorded transactions")
    let status = try await job.ferry("status")
    #expect(status.stdout.contains("recorded transactions"), "\(status.stdout)")
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("commits_lost"), "\(check.stdout)")
    // When the log is restored, the run continues.
    try whole.write(to: URL(filePath: log))
    #expect(try await job.run().command.status == 0)
    #expect(try await doubled(done, receiver) == [])
    #expect(try await receiver.received().files.count == Self.files)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is rejected without its log until the loss is accepted`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, done) = try await killed(receiver)
    try FileManager.default.removeItem(atPath: job.journal(ofSession: "e2e.uploads") + "-wal")
    try await expectRefusal(job, Self.changing, "journal accept-loss e2e.uploads")
    #expect(try await doubled(done, receiver) == [])
    let accepted = try await job.ferry("journal", "accept-loss", "e2e.uploads")
    #expect(accepted.status == 0 && accepted.stdout.contains("was accepted"), "\(accepted.stdout)")
    #expect(try await job.run().command.status == 0)
    #expect(try await Set(doubled(done, receiver)) == done)
  }

  @Test func `is rejected if it is missing, until the loss is accepted`() async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, done) = try await killed(receiver)
    let sessions = job.state + "/sessions"
    for name in try FileManager.default.contentsOfDirectory(atPath: sessions) {
      try FileManager.default.removeItem(atPath: sessions + "/" + name)
    }
    try await expectRefusal(job, Self.changing, "the session previously had one")
    try await expectRefusal(job, [["plan", "job.yaml"]], "the session previously had one")
    let status = try await job.ferry("status")
    #expect(status.stdout.contains("the session previously had one"), "\(status.stdout)")
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("journal_missing"), "\(check.stdout)")
    // The rounds and runs are exported.
    let export = try await job.ferry("journal", "export")
    #expect(
      export.status == 70 && export.stderr.contains("the session previously had one")
        && export.stdout.contains("\"record\":\"run\""), "\(export.stdout)\(export.stderr)")
    #expect(try await doubled(done, receiver) == [])
    let accepted = try await job.ferry("journal", "accept-loss", "e2e.uploads", "--format", "json")
    #expect(accepted.status == 0 && accepted.stdout.contains("\"journal_lost\" : true"), "\(accepted.stdout)")
    #expect(try await job.run().command.status == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  /// `ferry.db` is lost too, or does not contain the session.
  @Test(arguments: [false, true])
  func `is rejected if only the record of its transactions remains, until the loss is accepted`(
    _ hasHistory: Bool
  ) async throws {
    let receiver = try await ReceiverProcess.start()
    let (job, done) = try await killed(receiver)
    for name in try FileManager.default.contentsOfDirectory(atPath: job.state + "/sessions")
    where name.contains(".db") {
      try FileManager.default.removeItem(atPath: job.state + "/sessions/" + name)
    }
    if hasHistory {
      let sql = "DELETE FROM journal; DELETE FROM rate; PRAGMA wal_checkpoint(TRUNCATE);"
      let edited = try await Command.run("sqlite3", [job.state + "/ferry.db", sql])
      #expect(edited.status == 0, "\(edited.stderr)")
    } else {
      for name in try FileManager.default.contentsOfDirectory(atPath: job.state)
      where name.hasPrefix("ferry.db") {
        try FileManager.default.removeItem(atPath: job.state + "/" + name)
      }
    }
    let run = try await job.ferry("run", "job.yaml")
    #expect(run.status == 70 && run.stderr.contains("journal accept-loss e2e.uploads"), "\(run.stderr)")
    for names in [[], ["e2e.uploads"]] {
      let check = try await job.start(["journal", "check"] + names).end()
      #expect(check.status == 1 && check.stdout.contains("journal_missing"), "\(check.stdout)\(check.stderr)")
    }
    let status = try await job.ferry("status")
    #expect(status.status == 70 && status.stdout.contains("e2e.uploads"), "\(status.stdout)")
    #expect(try await doubled(done, receiver) == [])
    let accepted = try await job.ferry("journal", "accept-loss", "e2e.uploads")
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is not confused with one that a force quit removed`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts) + "force_quit: remove_session\n")
    try job.write("a", to: "a.txt")
    #expect(try await job.run("--limit", "0").command.status != 70)
    let cancel = try await job.ferry("cancel", "e2e.uploads")
    #expect(cancel.stdout.contains("the session was removed"), "\(cancel.stdout)\(cancel.stderr)")
    #expect(try await job.ferry("journal", "check").status == 0)
    #expect(try await job.run().command.status == 0)
  }

  @Test func `is accepted only for a known session, and an intact journal stays unchanged`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 0)
    #expect(try await job.ferry("journal", "accept-loss", "nobody").status == 2)
    let accepted = try await job.ferry("journal", "accept-loss", "e2e.uploads")
    #expect(accepted.status == 0 && accepted.stdout.contains("its journal is complete"), "\(accepted.stdout)")
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().files.map(\.puts) == [1])
  }
}
