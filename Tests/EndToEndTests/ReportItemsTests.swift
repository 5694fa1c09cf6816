import Foundation
import Testing

@Suite struct `The items of a report` {
  private struct Listed: Decodable {
    struct Run: Decodable { var listedItems: String? }
    struct Item: Decodable {
      struct Attempt: Decodable { var code: String }
      var path: String
      var size: Int
      var state: String
      var attempts: [Attempt]
      var startedAt: String?
      var endedAt: String?
      var durationSeconds: Double?
      var requests: Int?
      var sha256: String?
    }
    var run: Run
    var items: [Item]
  }

  private func listed(_ job: Workspace) throws -> Listed {
    let data = try Data(contentsOf: URL(filePath: job.folder.path("report.json")))
    try ReportValidator.check(data)
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Listed.self, from: data)
  }

  @Test func `are all items with their requests, times and digests, if --items all is given`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:status=503,times=1"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs()))
    for name in ["a.txt", "b.txt", "c.txt"] { try job.write(name, to: name) }
    let (command, _) = try await job.run("--items", "all")
    #expect(command.status == 0, "\(command.stderr)")
    let report = try listed(job)
    #expect(report.run.listedItems == "all")
    #expect(report.items.map(\.path) == ["a.txt", "b.txt", "c.txt"])
    for item in report.items {
      #expect(item.state == "done" && item.size == 5)
      // The requests are the allocation, the transfer and the commit, and one more for each failed attempt.
      #expect(item.requests == 3 + item.attempts.count)
      let (start, end) = (try #require(item.startedAt), try #require(item.endedAt))
      #expect(start <= end && (item.durationSeconds ?? -1) >= 0)
      let sum = try await Command.run("sha256sum", [job.folder.path("files/\(item.path)")])
      #expect(sum.stdout.hasPrefix(item.sha256 ?? "none"))
    }
    #expect(report.items.flatMap(\.attempts).map(\.code) == ["http_status"])
  }

  @Test func `are those that the manifest chooses, unless --items is given`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts) + "report: { items: all }\n")
    try job.write("one", to: "a.txt")
    _ = try await job.run()
    #expect(try listed(job).items.map(\.path) == ["a.txt"])
    try job.write("two", to: "b.txt")
    _ = try await job.run("--items", "notable")
    let report = try listed(job)
    #expect(report.run.listedItems == "notable" && report.items.isEmpty)
  }

  @Test func `are those that wait, if they were not started`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    _ = try await job.run("--items", "all", "--limit", "1")
    let report = try listed(job)
    #expect(report.items.map(\.state) == ["done", "waiting", "waiting"])
    #expect(report.items.map { $0.requests ?? 0 } == [1, 0, 0])
  }

  @Test func `do not change what the run and ferry report print`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:match=/files/b,status=403"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    let (command, report) = try await job.run("--items", "all")
    #expect(report.items.count == 3)
    let again = try await job.ferry("report")
    #expect(again.status == 0)
    for text in [command.stdout, again.stdout] {
      #expect(text.contains("\n  files: b: 403 As Requested, PUT \(receiver.url)/files/b: "), "\(text)")
      #expect(text.contains("\n  upload files: failed, 2 done, 1 failed\n"), "\(text)")
    }
    let json = try await job.ferry("report", "--format", "json")
    #expect(json.stdout == job.folder.text("report.json"))
  }
}

@Suite struct `The schema of reports` {
  @Test func `is docs/report.schema.json`() async throws {
    let printed = try await Command.run(Product.path("ferry"), ["schema", "--report"])
    let page = Product.package.appending(path: "docs/report.schema.json")
    if ProcessInfo.processInfo.environment["FERRY_RECORD"] != nil {
      try Data(printed.stdout.utf8).write(to: page)
    }
    #expect(printed.stdout == (try? String(contentsOf: page, encoding: .utf8)))
  }

  @Test func `rejects a report with an unknown key, a missing one or a wrong type`() async throws {
    let validator = try #require(ReportValidator.shared)
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a")
    _ = try await job.run()
    let good = job.folder.text("report.json")
    #expect(try validator.mistakes(of: Data(good.utf8)).isEmpty)
    for (old, new) in [
      ("\"version\": 1", "\"version\": 1, \"other\": 1"), ("\"exit_code\" : 0,", ""),
      ("\"exit_code\" : 0", "\"exit_code\" : \"0\""),
    ] {
      let bad = good.replacing(old, with: new)
      #expect(bad != good)
      #expect(try !validator.mistakes(of: Data(bad.utf8)).isEmpty, "\(new)")
    }
  }
}
