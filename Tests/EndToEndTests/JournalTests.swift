import Foundation
import Testing

/// The commands `ferry journal check`, `export` and `prune`, and the retention of old records.
@Suite struct `The state of ferry` {
  struct Audit: Decodable {
    struct File: Decodable {
      struct Finding: Decodable {
        var code: String
        var message: String
        var effect: String
        var remedy: String
      }
      var file: String
      var session: String?
      var sound: Bool
      var rows: [String: Int]
      var findings: [Finding]
    }
    var version: Int
    var files: [File]
  }

  private func sent(_ receiver: ReceiverProcess, files: Int = 3) async throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs()))
    for number in 1...files { try job.write("text \(number)", to: "\(number).txt") }
    #expect(try await job.run().command.status == 0)
    return job
  }

  // MARK: check

  @Test func `is found to be sound, even during a run`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--client-secret", Workspace.secret], faults: ["content:delay=0.05"])
    let job = try await sent(receiver)
    for number in 10..<30 { try job.write("text", to: "\(number).txt") }
    let run = try job.start(["run", "job.yaml", "--quiet"])
    for _ in 1...5 {
      let check = try await job.ferry("journal", "check")
      #expect(check.status == 0, "\(check.stdout)\(check.stderr)")
    }
    #expect(await run.end().status == 0)
    let before = try job.stateFiles()
    let check = try await job.ferry("journal", "check", "e2e.uploads", "--format", "json")
    let audit = try check.json(Audit.self)
    #expect(check.status == 0 && audit.files.allSatisfy(\.sound))
    #expect(audit.files.first?.session == "e2e.uploads" && audit.files.first?.rows["item"] == 23)
    #expect(try job.stateFiles() == before)
    #expect(try await job.ferry("journal", "check", "nobody").status == 2)
    #expect(
      try await job.ferry("journal", "check").stdout.contains("session e2e.uploads: sound, 1 node, 23 items"))
  }

  @Test func `is reported if it is damaged, with the loss and the remedy`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token", "--client-secret", Workspace.secret])
    let job = try await sent(receiver)
    // The ranges are in pages 2 and 3, which hold the migration table and its index.
    try job.damage(journalOf: "e2e.uploads", bytes: 4096..<6144)
    try job.damage(journalOf: "e2e.uploads", bytes: 8192..<10_240)
    let check = try await job.ferry("journal", "check", "--format", "json")
    #expect(check.status == 1)
    let file = try #require(try check.json(Audit.self).files.first)
    #expect(!file.sound && file.findings.contains { $0.code == "damaged_pages" })
    let text = try await job.ferry("journal", "check")
    #expect(text.status == 1)
    #expect(text.stdout.contains("effect: ") && text.stdout.contains("help: "))
    let requests = try await receiver.received().requests
    try job.write("new", to: "new.txt")
    let run = try await job.ferry("run", "job.yaml")
    #expect(run.status == 70, "\(run.stdout)\(run.stderr)")
    #expect(run.stderr.contains("help: "))
    // The server received no request, except possibly one for a token.
    #expect(try await receiver.received().requests <= requests + 1)
  }

  // MARK: export

  @Test func `is exported as lines of JSON without secrets`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--client-secret", Workspace.secret], faults: ["commit:status=503"])
    let job = try Workspace(
      JobText.text(
        server: receiver.url,
        JobText.uploadIDs(retry: "retry: { limit: 0 }").replacing(
          "capture: { id: { json: /id } }", with: "capture: { id: { json: /id, secret: true } }")))
    try job.write("one", to: "1.txt")
    let name = job.folder.path("files") + "/"
    let path = Array(name.utf8) + [0x66, 0xff, 0x00]
    let descriptor = path.withUnsafeBytes {
      open($0.baseAddress!.assumingMemoryBound(to: CChar.self), O_WRONLY | O_CREAT, 0o600)
    }
    close(descriptor)
    _ = try await job.run()
    let export = try await job.ferry("journal", "export")
    #expect(export.status == 0, "\(export.stderr)")
    let lines = try export.stdout.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(Set(lines.compactMap { $0["record"] as? String }) == ["node", "item", "round", "run"])
    let items = lines.filter { $0["record"] as? String == "item" }
    #expect(items.count == 2)
    #expect(
      Set(items.compactMap { $0["path_base64"] as? String }) == [Data([0x66, 0xff]).base64EncodedString()])
    #expect(items.allSatisfy { $0["manifest"] as? String == "e2e" && $0["upload"] as? String == "files" })
    #expect(items.allSatisfy { $0["captures"] == nil })
    #expect(lines.filter { $0["record"] as? String == "run" }.count == 1)
    #expect(!export.stdout.contains(Workspace.secret))
    let one = try await job.ferry("journal", "export", "e2e.uploads")
    #expect(one.stdout == export.stdout)
    #expect(try await job.ferry("journal", "export", "nobody").status == 2)
  }

  @Test func `is exported and pruned despite a damaged journal, which is reported at the end`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts, JobText.notes([("notify", "always")])))
    for number in 1...3 { try job.write("text", to: "\(number).txt") }
    #expect(try await job.run().command.status == 0)
    try job.damage(journalOf: "e2e.quick")
    let export = try await job.ferry("journal", "export")
    #expect(export.status == 70)
    #expect(export.stdout.components(separatedBy: "\"record\":\"item\"").count == 1 + 3)
    #expect(export.stdout.contains("\"record\":\"run\""), "\(export.stdout)")
    #expect(
      export.stderr.hasPrefix("ferry: \(job.journal(ofSession: "e2e.quick")): ")
        && export.stderr.contains("help: "), "\(export.stderr)")

    let json = try await job.ferry("journal", "prune", "--delivered", "1d", "--format", "json")
    #expect(json.status == 70)
    #expect(json.stdout.contains("\"problem\" : "), "\(json.stdout)")
    let prune = try await job.ferry("journal", "prune", "--delivered", "0s", "--runs", "0s")
    #expect(prune.status == 70)
    #expect(prune.stdout.hasPrefix("session e2e.quick: \(job.journal(ofSession: "e2e.quick")): "))
    #expect(prune.stdout.contains("session e2e.uploads: 3 delivered items deleted\n"), "\(prune.stdout)")
    #expect(prune.stdout.hasSuffix("0 runs deleted\n"), "\(prune.stdout)")
  }

  // MARK: retention

  @Test func `forgets old runs and their reports at the end of a run, and never what was delivered`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token", "--client-secret", Workspace.secret])
    let job = try await sent(receiver)
    for _ in 1...2 { #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0) }
    #expect(try reports(job).count == 3)
    let run = try await job.ferry("run", "job.yaml", "--quiet", environment: ["FERRY_KEEP_RUNS": "0s"])
    #expect(run.status == 0, "\(run.stderr)")
    #expect(try reports(job).count == 1)
    #expect(try await job.ferry("report").status == 0)
    #expect(try await receiver.received().contents == 3)
    let wrong = try await job.ferry("run", "job.yaml", environment: ["FERRY_KEEP_RUNS": "90"])
    #expect(wrong.status == 2 && wrong.stderr.contains("FERRY_KEEP_RUNS"))
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  @Test func `is pruned on request`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token", "--client-secret", Workspace.secret])
    let job = try await sent(receiver)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let kept = try await job.ferry("journal", "prune", "--runs", "1d", "--delivered", "1d")
    #expect(kept.stdout == "session e2e.uploads: 0 delivered items deleted\n0 runs deleted\n")
    let pruned = try await job.ferry("journal", "prune", "--runs", "0s", "--delivered", "0s")
    #expect(pruned.stdout == "session e2e.uploads: 3 delivered items deleted\n1 run deleted\n")
    #expect(try reports(job).count == 1)
    #expect(try await job.ferry("journal", "check").status == 0)
    // Pruned items are unknown to the journal, so their files are sent again.
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    #expect(try await receiver.received().contents == 6)
    #expect(try await job.ferry("journal", "prune").status == 2)
    let unknown = try await job.ferry("journal", "prune", "nosuch", "--delivered", "1d")
    #expect(
      unknown.status == 2 && unknown.stderr.contains("\nhelp: the sessions in ")
        && unknown.stderr.contains(": 'e2e.uploads'"),
      "\(unknown.stderr)")
    let report = try await job.ferry("report", "nosuch")
    #expect(report.status == 2 && report.stderr.contains("\nhelp: run IDs are the names of the folders in"))
  }

  private func reports(_ job: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: job.state + "/runs")
  }
}
