import Foundation
import Testing

/// `ferry run` over real sockets: which requests it sends, and what it reports.
@Suite struct `A run` {
  private func workspace(_ receiver: ReceiverProcess, files count: Int = 5, _ nodes: String...) throws
    -> Workspace
  {
    let job = try Workspace(JobText.text(server: receiver.url, nodes.joined(separator: "\n")))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test func `sends everything, fetches, notifies, and sends nothing the second time`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try workspace(
      receiver, JobText.uploadIDs(), JobText.catalog("token: login", "needs: [files]"),
      JobText.notes([("notify", "always")], needs: "files, catalog").replacing(
        "session: quick", with: "session: quick\n    token: login"))
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")

    let received = try await receiver.received()
    #expect(received.uploads.count == 5)
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.contents == 1 && $0.allocations == 1 })
    #expect(received.done.count == 1)
    #expect(received.done.first?.run == report.run.id)
    #expect(received.done.first?.failed == 0)
    #expect(received.tokens == 1)
    let digests = try await TestFiles.digests(of: ["3.txt"], under: job.folder.path("files"))
    #expect(received.byName["3.txt"]?.sha256 == digests["3.txt"])
    #expect(job.folder.text("catalog.json").contains("\"3.txt\""))

    #expect(report.run.exitCode == 0)
    #expect(report.run.roundClosed)
    #expect(report.totals.items.done == 5)
    #expect(report.totals.itemsDoneInRun == 5)
    #expect(report.totals.requests == received.requests)
    #expect(report.totals.tokensFetched == received.tokens)
    #expect(report.totals.idsAllocated == 5)
    let catalogSize = job.folder.text("catalog.json").utf8.count
    #expect(report.totals.bytes.useful == 5 * 6 + catalogSize)
    #expect(report.node("catalog")?.result == "new_data")
    #expect(report.items.isEmpty)

    let second = try await job.run()
    #expect(second.command.status == 0)
    #expect(second.report.totals.itemsDoneInRun == 0)
    #expect(try await receiver.received().contents == 5)
    #expect(second.report.node("catalog")?.result == "no_data")
  }

  @Test func `sends only changed files again`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.puts)
    #expect(try await job.run().command.status == 0)
    try job.write("another text", to: "2.txt")
    try job.write("new", to: "new.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 0)
    #expect(report.totals.itemsDoneInRun == 2)
    let puts = try await receiver.received().puts
    #expect(puts == ["0.txt": 1, "1.txt": 1, "2.txt": 2, "3.txt": 1, "4.txt": 1, "new.txt": 1])
  }

  @Test func `sends unusual names byte for byte`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, files: 0, JobText.puts)
    let files = try TestFiles.write(to: job.folder, under: "files")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    let digests = try await TestFiles.digests(
      of: files.keys.filter { !$0.contains("\\") }, under: job.folder.path("files"))
    #expect(Set(received.files.map(\.name)) == Set(files.keys))
    for file in received.files {
      #expect(file.size == files[file.name]?.count, "\(file.name)")
      if let digest = digests[file.name] { #expect(file.sha256 == digest, "\(file.name)") }
    }
  }

  @Test func `writes the same report to the state folder, to --report and to ferry report`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=2,times=1,status=500"])
    let job = try workspace(receiver, JobText.puts)
    let (command, report) = try await job.run()
    let written = job.folder.text("report.json")
    #expect(command.stdout.contains(job.state))
    #expect(try job.stateFiles()["runs/\(report.run.id)/report.json"] == Data(written.utf8))
    #expect(try await job.ferry("report", "--format", "json").stdout == written)
    #expect(try await job.ferry("report", report.run.id, "--format", "json").stdout == written)
    #expect(try await job.ferry("report").stdout.contains("5 done"))

    let object = try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: Any]
    #expect(Set((object ?? [:]).keys) == ["version", "run", "totals", "nodes", "timeline", "items"])
    let item = report.items.first
    #expect(report.items.count == 1)
    #expect(item?.state == "done")
    #expect(item?.attempts.first?.status == 500)
    #expect(report.totals.requests == 6)

    let other = try await job.ferry("run", "job.yaml", "--report", "-")
    #expect(other.status == 0)
    #expect(try RunReport.decode(Data(other.stdout.utf8)).totals.itemsDoneInRun == 0)
  }

  @Test func `starts at most --limit files, and sends the rest in the next run of the same round`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.puts)
    let first = try await job.run("--limit", "2")
    #expect(try await receiver.received().files.count == 2)
    #expect(first.command.status == 0, "what was asked is done: \(first.command.stdout)")
    #expect(!first.report.run.roundClosed)
    let second = try await job.run()
    #expect(second.command.status == 0)
    #expect(second.report.run.round == first.report.run.round)
    #expect(second.report.run.roundClosed)
    #expect(second.report.totals.itemsDoneInRun == 3)
    #expect(second.report.totals.items.done == 5)
    #expect(try await receiver.received().files.allSatisfy { $0.puts == 1 })
  }

  @Test func `runs only what --only names`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.puts, JobText.catalog("needs: [files]"))
    let (command, report) = try await job.run("--only", "catalog")
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.node("files")?.state == "not_selected")
    #expect(try await receiver.received().files.isEmpty)
    #expect(!job.folder.text("catalog.json").isEmpty)
    let wrong = try await job.ferry("run", "job.yaml", "--only", "catalogue")
    #expect(wrong.status == 2)
    #expect(wrong.stderr.contains("catalog"))
  }

  @Test func `is planned without sending or storing anything`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.uploadIDs(), JobText.catalog("token: login"))
    for arguments in [
      ["plan", "job.yaml"], ["plan", "job.yaml", "--format", "json"], ["run", "job.yaml", "--dry-run"],
    ] {
      let command = try await job.start(arguments).end()
      #expect(command.status == 0, "\(command.stderr)")
      #expect(command.stdout.contains("catalog"))
    }
    #expect(!FileManager.default.fileExists(atPath: job.state))
    #expect(try await receiver.received().requests == 0)

    #expect(try await job.run().command.status == 0)
    let (state, requests) = (try job.stateFiles(), try await receiver.received().requests)
    let plan = try await job.ferry("plan", "job.yaml", "--format", "json")
    _ = try JSONSerialization.jsonObject(with: Data(plan.stdout.utf8))
    #expect(plan.stdout.contains("\"unchanged\" : 5"))
    let after = try job.stateFiles()
    #expect(after.filter { !$0.key.hasSuffix("-shm") } == state.filter { !$0.key.hasSuffix("-shm") })
    #expect(try await receiver.received().requests == requests)
  }

  @Test func `prints only errors under --quiet`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.puts)
    let good = try await job.run("--quiet").command
    #expect(good.stdout + good.stderr == "")
    try await receiver.add(fault: #"{"route": "file", "status": 403}"#)
    try job.write("new", to: "new.txt")
    let bad = try await job.run("--quiet").command
    #expect(bad.status == 1)
    #expect(bad.stdout == "")
    #expect(bad.stderr.contains("new.txt"))
  }

  @Test func `replaces a fetched file completely or not at all`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, files: 0, JobText.catalog())
    try job.folder.write(Data("old".utf8), to: "catalog.json")
    try await receiver.add(fault: #"{"route": "catalog", "drop": "before"}"#)
    let lost = try await job.run()
    #expect(lost.command.status == 5)
    #expect(lost.report.node("catalog")?.state != "succeeded")
    #expect(job.folder.text("catalog.json") == "old")
    try await receiver.clearFaults()
    #expect(try await job.run().report.node("catalog")?.result == "new_data")
    #expect(job.folder.text("catalog.json").contains("items"))
    let names = try FileManager.default.contentsOfDirectory(atPath: job.folder.path(""))
    #expect(Set(names) == ["catalog.json", "files", "job.yaml", "report.json", "state"])
    #expect(try await job.run().report.node("catalog")?.result == "no_data")
    #expect(receiver.log.last == "GET /catalog.json 304")
  }

  @Test func `repeats a fetch no sooner than its interval`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, files: 0, JobText.catalog("interval: { minimum: 1h }"))
    #expect(try await job.run().command.status == 0)
    let requests = try await receiver.received().requests
    let (command, report) = try await job.run()
    #expect(command.status == 0)
    #expect(report.node("catalog")?.notBefore != nil)
    #expect(try await receiver.received().requests == requests)
  }

  @Test func `fetches less often while nothing is new, and at the minimum interval once something is`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    func nodes(_ minimum: String, _ maximum: String) -> String {
      JobText.catalog("interval: { minimum: \(minimum), maximum: \(maximum) }")
    }
    let job = try workspace(receiver, nodes("400ms", "1h"))
    func next() async throws -> RunReport.Node? {
      let (command, report) = try await job.run()
      #expect(command.status == 0, "\(command.stderr)")
      return report.node("catalog")
    }
    let first = try await next()
    #expect(first?.result == "new_data" && first?.intervalSeconds == 0.4)
    try await Task.sleep(for: .milliseconds(400))
    let second = try await next()
    #expect(second?.result == "no_data" && second?.intervalSeconds == 0.8)

    // New bounds of the interval take effect immediately.
    try job.write(manifest: JobText.text(server: receiver.url, nodes("1h", "6h")))
    let requests = try await receiver.received().requests
    let waiting = try await next()
    #expect(waiting?.result == nil && waiting?.notBefore != nil && waiting?.intervalSeconds == 3600)
    #expect(try await receiver.received().requests == requests)

    // A new upload changes the receiver's catalog, which lists the uploaded files.
    try job.write(
      manifest: JobText.text(server: receiver.url, JobText.uploadIDs(), nodes("400ms", "1h")))
    try job.write("new", to: "new.txt")
    #expect(try await job.run("--only", "files").command.status == 0)
    // The interval of 800 ms that the second fetch left has then ended, however short the runs were.
    try await Task.sleep(for: .milliseconds(800))
    let changed = try await next()
    #expect(changed?.result == "new_data" && changed?.intervalSeconds == 0.4)
  }

  @Test func `skips a disabled fetch, and continues as if it had succeeded`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(
      receiver, files: 0, JobText.catalog("interval: never"),
      JobText.notes([("good", "succeeded"), ("bad", "failed")], needs: "catalog"))
    #expect(try await job.ferry("check", "job.yaml").status == 0)
    let plan = try await job.ferry("plan", "job.yaml", "--format", "json")
    #expect(plan.stdout.contains("\"state\" : \"never\""), "\(plan.stdout)")
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains("never (interval: never)"))
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(command.stdout.contains("fetch catalog: succeeded (the interval of the fetch is 'never')"))
    #expect(report.run.roundClosed)
    let catalog = report.node("catalog")
    #expect(catalog?.state == "succeeded" && catalog?.reason?.code == "never")
    #expect(catalog?.notBefore == nil && catalog?.intervalSeconds == nil && catalog?.result == nil)
    #expect(report.node("bad")?.state == "skipped")
    #expect(try await receiver.received().done.map(\.node) == ["good"])
    #expect(!receiver.log.contains { $0.contains("catalog") })
    #expect(job.folder.text("catalog.json").isEmpty)
  }

  @Test func `runs a request depending on the outcome of what it needs`() async throws {
    let receiver = try await ReceiverProcess.start()
    let notes = JobText.notes([("good", "succeeded"), ("bad", "failed"), ("any", "always")])
    let job = try workspace(receiver, JobText.puts, notes)
    #expect(try await job.run().command.status == 0)
    #expect(Set(try await receiver.received().done.compactMap(\.node)) == ["good", "any"])
    try await receiver.add(fault: #"{"route": "file", "status": 403}"#)
    try job.write("new", to: "new.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.item("new.txt")?.reason?.status == 403)
    #expect(report.node("good")?.state == "skipped")
    let later = try await receiver.received().done.dropFirst(2)
    #expect(Set(later.compactMap(\.node)) == ["bad", "any"])
    #expect(later.allSatisfy { $0.failed == 1 })
  }

  @Test func `retries permanent failures in a new round`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=3,times=1,status=403"])
    let job = try workspace(receiver, JobText.puts)
    let first = try await job.run()
    #expect(first.command.status == 1)
    #expect(first.report.totals.items.failed == 1)
    #expect(first.report.run.roundClosed)
    let second = try await job.run()
    #expect(second.command.status == 0)
    #expect(second.report.run.round == first.report.run.round + 1)
    #expect(second.report.totals.itemsDoneInRun == 1)
    #expect(try await receiver.received().files.map(\.puts) == [1, 1, 1, 1, 1])
  }
}
