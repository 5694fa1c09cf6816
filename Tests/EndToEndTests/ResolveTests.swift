import Foundation
import Testing

/// `ferry resolve`, with which a user decides what ferry cannot determine.
@Suite struct `An ambiguous item` {
  private func workspace(
    _ fault: String, files count: Int = 2, recognized: String = ""
  ) async throws -> (job: Workspace, receiver: ReceiverProcess) {
    let receiver = try await ReceiverProcess.start(faults: [fault])
    let job = try Workspace(
      JobText.text(server: receiver.url, connections: 1, JobText.uploadIDs(recognized: recognized)))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return (job, receiver)
  }

  @Test func `is reported with the request, the upload ID and the commands that resolve it`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    let item = try #require(report.items.first { $0.state == "ambiguous" })
    let ambiguity = try #require(item.ambiguity)
    #expect(ambiguity.step == "commit")
    #expect(ambiguity.origin == receiver.url)
    #expect(ambiguity.captures?["id"]?.isEmpty == false)
    #expect(ambiguity.at?.isEmpty == false)
    let line =
      "ferry resolve files/\(item.path) done --session e2e.uploads --manifest-name e2e --origin \(receiver.url)"
      + " --state \(job.state)"
    #expect(ambiguity.resolve == [line, line.replacing(" done ", with: " retry ")])
    let id = try #require(ambiguity.captures?["id"])
    for text in [
      command.stdout, try await job.ferry("explain", item.path, "--manifest", "job.yaml").stdout,
      try await job.ferry("status").stdout,
    ] {
      #expect(text.contains("ferry resolve files/\(item.path) retry --session"), "\(text)")
      #expect(text.contains(id), "\(text)")
      #expect(text.contains(receiver.url), "\(text)")
    }
  }

  @Test func `of an ephemeral session has no commands, because the next run sends it again`() async throws {
    let server = try await ScriptedServer.start([
      "/commit": .init(status: 403, next: [.init(status: 200)])
    ])
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { s: { kind: ephemeral } }
      uploads:
        files:
          session: s
          files: { root: files }
          transfer: { protocol: post, request: { url: "\(server.home)/transfer" } }
          commit: { request: { method: POST, url: "\(server.home)/commit" } }

      """)
    try job.write("content", to: "f")
    let (first, report) = try await job.run()
    let item = try #require(report.items.first)
    #expect(first.status == 1 && item.state == "ambiguous" && item.reason?.code == "commit_failed")
    #expect(item.ambiguity?.resolve == [])
    for text in [first.stdout, try await job.ferry("report").stdout] {
      #expect(text.contains("the next run sends it again") && !text.contains("ferry resolve"), "\(text)")
    }
    #expect(try await job.run().command.status == 0)
    #expect(
      server.lines == [
        "home POST /transfer", "home POST /commit", "home POST /transfer", "home POST /commit",
      ])
  }

  @Test func `since an earlier run is reported by the next one`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    #expect(try await job.run().command.stdout.contains("ferry status") == false)
    let next = try await job.run().command
    #expect(next.status == 1)
    #expect(
      next.stdout.contains(
        "  next: to list ambiguous items with the commands that resolve them, run: "
          + "ferry status --state \(job.state)\n"), "\(next.stdout)")
    #expect(try await receiver.received().commits == 2)
  }

  @Test func `is counted if it is submitted again`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    let path = try #require(try await job.run().report.items.first { $0.state == "ambiguous" }?.path)
    let requests = try await receiver.received().requests
    let submission = try await job.ferry("submit", "job.yaml", "files", "files/" + path)
    #expect(
      submission.stdout.contains(
        "the next run will send it, except 1 ambiguous file awaiting a decision\n"
          + "  to list ambiguous items with the commands that resolve them, run: ferry status e2e.uploads --state \(job.state)\n"
      ),
      "\(submission.stdout)\(submission.stderr)")
    let json = try await job.ferry("submit", "job.yaml", "files", "--format", "json")
    #expect(json.stdout.contains("\"ambiguous\" : 1,"), "\(json.stdout)")
    #expect(try await job.run().command.status == 1)
    #expect(try await receiver.received().requests == requests)
  }

  @Test func `and resolved as done is never sent again`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    let report = try await job.run().report
    let path = try #require(report.items.first { $0.state == "ambiguous" }?.path)
    let resolved = try await job.ferry("resolve", path, "done", "--manifest", "job.yaml")
    #expect(resolved.status == 0, "\(resolved.stderr)")
    #expect(resolved.stdout == "files/\(path): done\n")
    let requests = try await receiver.received().requests
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().requests == requests)
    #expect(try await job.ferry("explain", path, "--manifest", "job.yaml").stdout.contains("delivered"))
  }

  @Test func `and resolved as done is then deleted or moved, as any delivered file`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(
      manifest: text.replacing("files: { root: files }", with: "files: { root: files }\n    after: delete"))
    let report = try await job.run().report
    let path = try #require(report.items.first { $0.state == "ambiguous" }?.path)
    #expect(try await job.ferry("resolve", path, "done", "--manifest", "job.yaml").status == 0)
    let left = { try FileManager.default.contentsOfDirectory(atPath: job.folder.path("files")) }
    #expect(try left() == [path])
    let requests = try await receiver.received().requests
    #expect(try await job.run().command.status == 0)
    #expect(try left().isEmpty)
    #expect(try await receiver.received().requests == requests)
  }

  @Test func `and resolved for a retry has its commit sent again under its upload ID`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=before")
    let report = try await job.run().report
    let path = try #require(report.items.first { $0.state == "ambiguous" }?.path)
    let resolved = try await job.ferry("resolve", "files/\(path)", "retry", "--manifest", "job.yaml")
    #expect(
      resolved.stdout == "files/\(path): the next run will send its commit again\n", "\(resolved.stderr)")
    // The check finds no error, because the item belongs to a known round.
    #expect(try await job.ferry("journal", "check").status == 0)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)")
    let upload = try await receiver.received().byName[path]
    #expect(upload?.commits == 1)
    #expect(upload?.contents == 1)
    #expect(upload?.allocations == 1)
  }

  /// With a resume delay, a commit and its probe are not sent before the batch has completed.
  @Test(arguments: ["", "resume_delay: { policy: before_start, initial: 1ms, factor: 1, max: 1ms }"])
  func `and resolved for a retry is in doubt again if the probe is rejected`(_ delay: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:times=1,drop=after", "state:status=403"])
    let uploads = JobText.uploadIDs(recognized: JobText.probe) + `An upload ID that is not used`.abandon
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, uploads, delay))
    try job.write("a", to: "a.txt")
    for _ in 0..<2 {
      let report = try await job.run().report
      #expect(report.totals.items.ambiguous == 1)
      #expect(try await receiver.received().commits == 1)
      let resolved = try await job.ferry("resolve", "files/a.txt", "retry", "--manifest", "job.yaml")
      #expect(resolved.status == 0, "\(resolved.stderr)")
      #expect(try await job.ferry("journal", "check").status == 0)
    }
    // The probe shows which commits were executed.
    try await receiver.clearFaults()
    #expect(try await job.run().command.status == 0)
    let upload = try await receiver.received().byName["a.txt"]
    #expect(upload?.commits == 1 && upload?.contents == 1 && upload?.allocations == 1)
    #expect(receiver.log.allSatisfy { !$0.contains("DELETE") })
  }

  @Test func `and resolved for a retry that fails temporarily keeps its upload ID`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["commit:times=1,drop=after"])
    let uploads = JobText.uploadIDs(retry: "retry: { limit: 0 }", recognized: "")
    let abandon = `An upload ID that is not used`.abandon
    let job = try Workspace(JobText.text(server: receiver.url, connections: 1, uploads + abandon))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().report.totals.items.ambiguous == 1)
    #expect(try await job.ferry("resolve", "--all", "retry", "--manifest", "job.yaml").status == 0)
    for (status, code) in [(501, 5), (403, 1)] as [(Int, Int32)] {
      try await receiver.clearFaults()
      try await receiver.add(fault: "{\"route\": \"commit\", \"status\": \(status)}")
      let command = try await job.run().command
      #expect(command.status == code, "\(command.stdout)\(command.stderr)")
      #expect(try await job.ferry("journal", "check").status == 0)
    }
    // ferry does not release the ID, because the commit of its upload may have been executed.
    #expect(receiver.log.allSatisfy { !$0.contains("DELETE") })
    #expect(try await job.ferry("orphans").stdout.contains("may have used the ID"))
  }

  @Test func `is resolved all at once, or by its session`() async throws {
    let (job, receiver) = try await workspace("commit:drop=before", files: 3)
    #expect(try await job.run().report.totals.items.ambiguous == 3)
    try await receiver.clearFaults()
    let resolved = try await job.ferry(
      "resolve", "--all", "retry", "--session", "e2e.uploads", "--format", "json")
    #expect(resolved.status == 0, "\(resolved.stderr)")
    #expect(resolved.stdout.contains("\"next\" : \"commit\""))
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().uploads.map(\.commits) == [1, 1, 1])
    let nothing = try await job.ferry("resolve", "--all", "done", "--manifest", "job.yaml")
    #expect(nothing.stdout == "there are no ambiguous items\n")
  }

  @Test func `that began with an unrepeatable transfer starts over`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:times=1,drop=before"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    try job.write("a", to: "a.txt")
    #expect(try await job.run().command.status == 1)
    let resolved = try await job.ferry("resolve", "files", "retry", "--manifest", "job.yaml")
    #expect(resolved.stdout == "files/a.txt: the next run will send it again\n", "\(resolved.stderr)")
    #expect(try await job.run().command.status == 0)
    #expect(try await receiver.received().inbox.count == 1)
  }

  @Test func `may be a single request`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["done:times=1,drop=after", "file:status=503"])
    let retry = "retry: { limit: 0, initial: 10ms, max: 10ms }"
    let job = try Workspace(
      JobText.text(
        server: receiver.url, JobText.puts.replacing(JobText.retry, with: retry),
        """
        requests:
          note: { session: quick, request: { method: POST, url: "${vars.api}/done", json: { a: 1 } } }
        """))
    try job.write("a", to: "a.txt")
    let report = try await job.run().report
    #expect(report.node("note")?.state == "ambiguous")
    #expect(report.node("note")?.ambiguity?.step == "request")
    #expect(report.node("note")?.ambiguity?.resolve.first?.hasPrefix("ferry resolve note done ") == true)
    // The round is still open, because the file has not been sent.
    let resolved = try await job.ferry("resolve", "note", "done", "--manifest", "job.yaml")
    #expect(resolved.stdout == "note: done\n", "\(resolved.stderr)")
    try await receiver.clearFaults()
    let second = try await job.run()
    #expect(second.command.status == 0, "\(second.command.stdout)")
    #expect(second.report.node("note")?.state == "succeeded")
    #expect(try await receiver.received().done.count == 1)
  }

  @Test func `is the only state that can be resolved`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after")
    let report = try await job.run().report
    let ambiguous = try #require(report.items.first { $0.state == "ambiguous" }?.path, "\(report)")
    let done = ambiguous == "0.txt" ? "1.txt" : "0.txt"
    let refused = try await job.ferry("resolve", ambiguous, done, "done", "--manifest", "job.yaml")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("'\(done)' is not ambiguous; nothing was decided\n"))
    #expect(refused.stderr.contains("help: ambiguous items: files/\(ambiguous)"))
    for arguments in [["resolve", ambiguous], ["resolve", "done"], ["resolve", ambiguous, "maybe"]] {
      let wrong = try await job.start(arguments + ["--manifest", "job.yaml"]).end()
      #expect(wrong.status == 2, "\(arguments)")
    }
    #expect(try await job.ferry("resolve", ambiguous, "done").status == 2)
    #expect(try await receiver.received().commits == 2)
  }

  @Test func `at two servers is not resolved by one name, and is listed with its server`() async throws {
    let (job, first) = try await workspace("commit:drop=after", files: 1)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    #expect(try await job.run().command.status == 1)
    let second = try await ReceiverProcess.start(faults: ["commit:drop=after"])
    try job.write(manifest: text.replacing(first.url, with: second.url))
    #expect(try await job.run().command.status == 1)
    let status = try await job.ferry("status", "e2e.uploads").stdout
    #expect(
      status.contains("commit to \(first.url)") && status.contains("commit to \(second.url)"), "\(status)")
    #expect(status.contains("--origin \(first.url)"), "\(status)")
    let both = try await job.ferry("resolve", "files/0.txt", "done", "--session", "e2e.uploads")
    #expect(both.status == 2, "\(both.stderr)")
    for server in [first.url, second.url] {
      let line = "files/0.txt done --session e2e.uploads --manifest-name e2e --origin \(server) --state"
      #expect(status.contains(line), "\(status)")
      #expect(both.stderr.contains(line), "\(both.stderr)")
      let one = try await job.ferry(
        "resolve", "files/0.txt", "done", "--session", "e2e.uploads", "--origin", server)
      #expect(one.status == 0 && one.stdout == "files/0.txt: done\n", "\(one.stderr)")
    }
  }

  /// A printed command resolves its item once. If it is run again, it does not resolve another item with the same path.
  @Test func `is resolved permanently by a printed command`() async throws {
    let (job, receiver) = try await workspace("commit:times=3,drop=after", files: 1)
    _ = try job.folder.makeFolder("files/files")
    try job.write("inner", to: "files/0.txt")
    #expect(try await job.run().report.totals.items.ambiguous == 2)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: text.replacing("name: e2e\n", with: "name: other\n"))
    #expect(try await job.run("--limit", "1").command.status == 1)
    let status = try await job.ferry("status", "e2e.uploads").stdout
    let commands = status.split(separator: "\n").filter { $0.contains("if it was executed: ") }
      .compactMap { line in line.firstRange(of: "ferry resolve").map { String(line[$0.lowerBound...]) } }
    #expect(commands.count == 3 && Set(commands).count == 3, "\(status)")
    for command in commands {
      #expect(try await paste(command).stdout.hasSuffix("files/0.txt: done\n"), "\(command)")
      let again = try await paste(command)
      #expect(
        again.status == 2 && again.stderr.contains("is not ambiguous"), "\(again.stdout)\(again.stderr)")
    }
    #expect(try await receiver.received().commits == 3)
  }

  @Test func `of two uploads of one manifest is distinguished in the error message`() async throws {
    let (job, receiver) = try await workspace("commit:times=2,drop=after", files: 1)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    let upload = try #require(text.firstRange(of: "  files:\n"))
    let second = "  again:\n" + text[upload.upperBound...]
    try job.write(manifest: text + second)
    #expect(try await job.run().report.totals.items.ambiguous == 2)
    let refused = try await job.ferry("resolve", "0.txt", "retry", "--manifest", "job.yaml")
    #expect(
      refused.status == 2
        && refused.stderr.contains(
          "is ambiguous in several sessions or on several servers; nothing was decided")
    )
    let place =
      "retry --session e2e.uploads --manifest-name e2e --origin \(receiver.url) --state \(job.state)\n"
    for node in ["again", "files"] {
      #expect(refused.stderr.contains("\n  ferry resolve \(node)/0.txt \(place)"), "\(refused.stderr)")
    }
    let one = try await paste("ferry resolve again/0.txt \(place)")
    #expect(
      one.status == 0 && one.stdout == "again/0.txt: the next run will send its commit again\n",
      "\(one.stderr)")
    let all = try await job.ferry(
      "resolve", "files/", "done", "--session", "e2e.uploads", "--manifest-name", "e2e")
    #expect(all.stdout == "files/0.txt: done\n", "\(all.stderr)")
  }

  @Test func `is named with the name of a manifest only together with a session`() async throws {
    let (job, _) = try await workspace("commit:times=1,drop=after", files: 1)
    let wrong = try await job.ferry(
      "resolve", "--all", "done", "--manifest", "job.yaml", "--manifest-name", "e2e")
    #expect(wrong.status == 2 && wrong.stderr.contains("--manifest-name requires --session"))
  }

  /// Runs the command in another folder, as a user may do.
  private func paste(_ command: String) async throws -> Command {
    let elsewhere = try TemporaryFolder()
    let script = "ferry() { '\(Product.path("ferry"))' \"$@\"; }\n\(command)"
    return try await RunningCommand("/bin/sh", ["-ec", script], in: elsewhere.url).end()
  }

  @Test func `is resolved only by its own name if the root has a folder with the upload's name`()
    async throws
  {
    let (job, receiver) = try await workspace("commit:drop=after", files: 1)
    _ = try job.folder.makeFolder("files/files")
    try job.write("inner", to: "files/0.txt")
    let (run, report) = try await job.run()
    #expect(report.totals.items.ambiguous == 2, "\(run.stdout)\(run.stderr)")
    let outer = try await job.ferry("resolve", "files/0.txt", "done", "--session", "e2e.uploads")
    #expect(outer.stdout == "files/0.txt: done\n", "\(outer.stderr)")
    let inner = try await job.ferry("resolve", "files/files/0.txt", "done", "--manifest", "job.yaml")
    #expect(inner.stdout == "files/files/0.txt: done\n", "\(inner.stderr)")
    #expect(try await receiver.received().commits == 2)
  }

  @Test func `is reported without its manifest, and even if its session has changed`()
    async throws
  {
    let (job, receiver) = try await workspace("commit:drop=after", files: 1)
    #expect(try await job.run().command.status == 1)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: text.replacing("identifier: e2e.uploads", with: "identifier: e2e.other"))
    let edited = try await job.ferry("status").stdout
    #expect(edited.contains("done --session e2e.uploads "), "\(edited)")
    try FileManager.default.removeItem(atPath: job.folder.path("job.yaml"))
    let gone = try await job.ferry("status").stdout
    #expect(gone.contains("done --session e2e.uploads "), "\(gone)")
    #expect(gone.contains("its commit to \(receiver.url)"), "\(gone)")
    let resolved = try await job.ferry("resolve", "files/0.txt", "done", "--session", "e2e.uploads")
    #expect(resolved.status == 0, "\(resolved.stderr)")
  }

  @Test func `of two manifests that share a session is not resolved by one name`() async throws {
    let (job, receiver) = try await workspace("commit:times=2,drop=after", files: 1)
    #expect(try await job.run().command.status == 1)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: text.replacing("name: e2e\n", with: "name: other\n"))
    #expect(try await job.run().command.status == 1)
    let refused = try await job.ferry("resolve", "files/0.txt", "done", "--session", "e2e.uploads")
    #expect(refused.status == 2)
    #expect(
      refused.stderr.contains(
        "is ambiguous in several sessions or on several servers; nothing was decided\nhelp: decide about one of them with:\n  ferry resolve files/0.txt done "
          + "--session e2e.uploads --manifest-name e2e --origin \(receiver.url) --state \(job.state)\n"),
      "\(refused.stderr)")
    let one = try await job.ferry("resolve", "files/0.txt", "done", "--manifest", "job.yaml")
    #expect(one.status == 0 && one.stdout == "files/0.txt: done\n", "\(one.stderr)")
    let rest = try await job.ferry("resolve", "files/0.txt", "done", "--session", "e2e.uploads")
    #expect(rest.status == 0 && rest.stdout == "files/0.txt: done\n", "\(rest.stderr)")
    #expect(try await receiver.received().commits == 2)
  }

  @Test func `waits while a process has its session`() async throws {
    let (job, receiver) = try await workspace("commit:times=1,drop=after", files: 1)
    #expect(try await job.run().command.status == 1)
    try job.write("another", to: "b.txt")
    try await receiver.add(fault: #"{"route": "content", "delay": 20}"#)
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.byName["b.txt"]?.allocations == 1 }
    let refused = try await job.ferry("resolve", "--all", "done", "--manifest", "job.yaml")
    #expect(refused.status == 6)
    #expect(refused.stderr.contains("in use by process"))
    run.signal(SIGKILL)
    _ = await run.end()
  }
}
