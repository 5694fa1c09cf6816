import Foundation
import Testing

/// A pass over all parts of a manifest, from `setup` to `finish`, and the runs of shards between two passes.
@Suite struct `A pass over the shards` {
  /// A job that sends each file in every round, and a request before and after the files.
  private func job(_ server: ScriptedServer, deliver: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { s: { kind: background } }
      uploads:
        files:
          session: s
          files: { root: files, include: ["**"] }
          deliver: \(deliver)
          transfer: { request: { method: PUT, url: "\(server.home)/put/${file.path}" } }
      requests:
        open: { session: s, request: { method: POST, url: "\(server.home)/open" } }
        close: { session: s, needs: [files], request: { method: POST, url: "\(server.home)/close" } }

      """)
    try write(job, "f", 8)
    return job
  }

  private func write(_ job: Workspace, _ name: String, _ count: Int) throws {
    for number in 0..<count { try job.write("\(name) \(number)", to: "\(name)\(number)") }
  }

  private func part(_ job: Workspace, _ part: String) async throws -> Command {
    try await job.ferry("run", "job.yaml", "--shard", part)
  }

  private func expect(_ job: Workspace, _ parts: String...) async throws {
    for part in parts {
      let command = try await self.part(job, part)
      #expect(command.status == 0, "\(part): \(command.stdout) \(command.stderr)")
    }
  }

  private func merged(_ job: Workspace) async throws -> (command: Command, states: [String: String]) {
    let command = try await job.ferry("report", "merge", job.state, "--format", "json")
    let report = try JSONSerialization.jsonObject(with: Data(command.stdout.utf8)) as? [String: Any]
    let run = try #require(report?["run"] as? [String: Any], "\(command.stderr)")
    var states: [String: String] = [:]
    for shard in run["shards"] as? [[String: Any]] ?? [] {
      states[try #require(shard["part"] as? String)] = shard["state"] as? String
    }
    return (command, states)
  }

  private func count(_ request: String, _ server: ScriptedServer) -> Int {
    server.lines.count { $0 == "home \(request)" }
  }

  /// The files that were sent, each as often as it was sent.
  private func sent(_ server: ScriptedServer, after start: Int = 0) -> [String] {
    let prefix = "home PUT /put/"
    return server.lines.dropFirst(start).filter { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.utf8.count)) }.sorted()
  }

  @Test func `is not complete before a shard that ran by itself has run in it`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "when_changed")
    try await expect(job, "setup/2", "1/2", "2/2", "finish/2")
    try write(job, "g", 1)
    // This run has the round number that the next pass would have otherwise.
    try await expect(job, "1/2")
    try write(job, "h", 10)
    try await expect(job, "setup/2", "2/2")
    let early = try await part(job, "finish/2")
    let reason = "shard 1/2 has not run in round 3 (its last run was in its own round 2)"
    #expect(early.status == 5 && early.stdout.contains(reason), "\(early.stdout) \(early.stderr)")
    #expect(count("POST /close", server) == 1)
    let incomplete = try await merged(job)
    #expect(incomplete.command.status == 5 && incomplete.states["1/2"] == "missing", "\(incomplete)")
    try await expect(job, "1/2", "finish/2")
    #expect(count("POST /close", server) == 2 && Set(sent(server)).count == 19)
    let complete = try await merged(job)
    #expect(complete.command.status == 0, "\(complete.command.stdout)")
    #expect(complete.states == ["setup/2": "ended", "1/2": "ended", "2/2": "ended", "finish/2": "ended"])
    // A run of a shard after the pass is not part of it.
    try write(job, "i", 4)
    try await expect(job, "1/2")
    #expect(try await merged(job).states == complete.states)
  }

  @Test func `sends the files of a shard to which a file was submitted after the last pass`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "every_run")
    try await expect(job, "setup/2", "1/2", "2/2", "finish/2")
    let shard = job.state + "/shards/e2e/1-of-2"
    #expect(try await job.ferry("submit", "job.yaml", "files", "--state", shard).status == 0)
    #expect(try await job.ferry("resume", "--state", shard).status == 0)
    let start = server.lines.count
    try await expect(job, "setup/2", "1/2", "2/2", "finish/2")
    #expect(sent(server, after: start) == (0..<8).map { "f\($0)" })
    #expect(try await merged(job).command.status == 0)
  }

  @Test func `continues if a file is submitted to a shard that has ended`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "every_run")
    try await expect(job, "setup/2", "1/2", "2/2")
    try job.write("late", to: "late")
    for number in 1...2 {
      // One of the shards rejects the file.
      let state = job.state + "/shards/e2e/\(number)-of-2"
      _ = try await job.ferry("submit", "job.yaml", "files", "files/late", "--state", state)
      try await expect(job, "\(number)/2")
    }
    // The other files were sent in this round already.
    #expect(sent(server) == (0..<8).map { "f\($0)" } + ["late"])
    try await expect(job, "finish/2")
    #expect(count("POST /close", server) == 1)
  }

  @Test func `is completed although the shards have already had several rounds without it`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "when_changed")
    let whole = job.folder.text("job.yaml")
    // Without requests, the manifest needs neither setup nor finish.
    try job.write(manifest: String(whole.prefix(upTo: try #require(whole.range(of: "requests:")).lowerBound)))
    for round in 0..<3 {
      try write(job, "r\(round)", 6)
      try await expect(job, "1/2", "2/2")
    }
    try await expect(job, "2/2")
    try job.write(manifest: whole)
    try await expect(job, "setup/2", "1/2", "2/2", "finish/2")
    #expect(count("POST /close", server) == 1)
    let (command, states) = try await merged(job)
    #expect(command.status == 0, "\(command.stdout)")
    #expect(states == ["setup/2": "ended", "1/2": "ended", "2/2": "ended", "finish/2": "ended"])
  }

  @Test func `is continued with the command that setup and finish print`() async throws {
    let server = try await ScriptedServer.start(["/open": .init(status: 403)])
    let job = try job(server, deliver: "when_changed")
    func printed(_ output: String) throws -> String {
      try #require(output.firstMatch(of: #/run: ferry (.*?)(;|\n|$)/#).map { String($0.1) }, "\(output)")
    }
    /// Runs the printed command.
    func follow(_ command: String, _ status: Int32) async throws {
      // The name of the temporary folder contains no characters that the shell quotes.
      let end = try await job.start(command.split(separator: " ").map(String.init)).end()
      #expect(end.status == status && !end.stderr.contains("help:"), "\(command): \(end.stdout)\(end.stderr)")
    }
    let setup = try await part(job, "setup/2")
    #expect(setup.status == 1, "\(setup.stdout)\(setup.stderr)")
    let resume = try printed(setup.stdout)
    #expect(resume.contains("--shard setup/2"), "\(resume)")
    try await follow(resume, 1)
    let finish = try await part(job, "finish/2")
    #expect(finish.status == 1, "\(finish.stdout)\(finish.stderr)")
    let again = try printed(finish.stdout)
    #expect(again.contains("--shard finish/2"), "\(again)")
    try await follow(again, 1)
    // The command of the refusal is the one to use instead.
    let refused = try await job.ferry("resume", "--state", job.state + "/shards/e2e/once-of-2")
    #expect(refused.status == 2 && refused.stderr.contains("--shard setup/2"), "\(refused.stderr)")
  }

  @Test func `has a merged report that shows a shard whose last run has no report`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs()))
    try write(job, "f", 8)
    try await expect(job, "setup/2", "1/2", "2/2")
    #expect(try await merged(job).command.status == 0)
    try write(job, "g", 12)
    try await receiver.add(spec: "content:delay=300")
    let running = try job.start(["run", "job.yaml", "--shard", "1/2", "--quiet"])
    _ = try await receiver.received { $0.uploads.count > 8 }
    let during = try await merged(job)
    #expect(during.command.status == 5 && during.states["1/2"] == "running", "\(during)")
    running.signal(SIGKILL)
    _ = await running.end()
    try await receiver.clearFaults()
    let killed = try await merged(job)
    #expect(killed.command.status == 5 && killed.states["1/2"] == "interrupted", "\(killed)")
    #expect(killed.states["2/2"] == "ended")
    try ReportValidator.check(Data(killed.command.stdout.utf8))
    let text = try await job.ferry("report", "merge", job.state)
    let reason = "the last run of shard 1/2 was interrupted"
    #expect(text.stdout.contains("waiting") && text.stdout.contains(reason), "\(text.stdout)")

    // The next run writes a report for the killed one.
    let runs = job.state + "/shards/e2e/2-of-2/runs/"
    let earlier = try FileManager.default.contentsOfDirectory(atPath: runs)
    try await expect(job, "1/2", "2/2")
    #expect(try await merged(job).command.status == 0)
    let all = try FileManager.default.contentsOfDirectory(atPath: runs)
    let last = try #require(Set(all).subtracting(earlier).first)
    try FileManager.default.removeItem(atPath: runs + last + "/report.json")
    let missing = try await merged(job)
    #expect(missing.command.status == 5 && missing.states["2/2"] == "missing", "\(missing)")
  }

  /// The clock of a machine may be ahead when a run begins, and correct when the next one begins.
  @Test func `has a merged report of the last run of a shard, whatever the time of its earlier runs`()
    async throws
  {
    let server = try await ScriptedServer.start(["/put/bad": .init(status: 403)])
    let job = try job(server, deliver: "when_changed")
    try await expect(job, "setup/1", "1/1")
    let runs = job.state + "/shards/e2e/1-of-1/runs/"
    let first =
      runs + (try #require(FileManager.default.contentsOfDirectory(atPath: runs).first)) + "/report.json"
    let report = try String(contentsOfFile: first, encoding: .utf8)
    let ahead = report.replacing(#/"started_at" ?: ?"20\d\d-/#, with: #""started_at":"2099-"#)
    #expect(ahead != report)
    try ahead.write(toFile: first, atomically: false, encoding: .utf8)
    try job.write("refused", to: "bad")
    #expect(try await part(job, "1/1").status == 1)
    let command = try await merged(job).command
    #expect(command.status == 1, "\(command.stdout)")
  }

  /// `setup` did not get the list in the second pass, or has not asked for it yet.
  @Test func `does not use the list of an earlier pass`() async throws {
    let server = try await ScriptedServer.start([
      "/list": .init(
        status: 200, body: "[{\"name\": \"a\"}]",
        next: [.init(status: 503), .init(status: 200, body: "[{\"name\": \"a\"}, {\"name\": \"b\"}]")])
    ])
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { s: { kind: background } }
      fetches:
        list: { session: s, request: { url: "\(server.home)/list" }, save_to: list.json, retry: { limit: 0 } }
      downloads:
        d: { session: s, items: { from: list, json: "", url: "\(server.home)/f/${item.name}", save_to: "dl/${item.name}" } }
      requests:
        close: { session: s, needs: [d], request: { method: POST, url: "\(server.home)/close" } }

      """)
    try await expect(job, "setup/1", "1/1", "finish/1")
    #expect(try await part(job, "setup/1").status == 5)
    let early = try await part(job, "1/1")
    #expect(early.status == 2 && early.stderr.contains("has not ended in this round"), "\(early.stderr)")
    try await expect(job, "setup/1", "1/1", "finish/1")
    #expect(job.folder.text("dl/b") == "{}")
    #expect(count("POST /close", server) == 2)
  }

  /// A scheduler starts a job again if its machine fails before the end of the job is recorded.
  @Test func `is not followed by another one if finish is started again`() async throws {
    let server = try await ScriptedServer.start(["/put/f1": .init(status: 403)])
    let job = try job(server, deliver: "when_changed")
    try await expect(job, "setup/2")
    for shard in ["1/2", "2/2"] { _ = try await part(job, shard) }
    let first = try await part(job, "finish/2")
    #expect(first.status == 1, "\(first.stdout)\(first.stderr)")
    let (requests, report) = (server.lines, try await merged(job))
    let again = try await part(job, "finish/2")
    #expect(again.status == 1 && again.stdout == "", "\(again.stdout)")
    #expect(again.stderr.contains("the pass over the shards has ended") && again.stderr.contains("setup/2"))
    #expect(server.lines == requests)
    #expect(try await merged(job).command.stdout == report.command.stdout)
    try await expect(job, "setup/2")
    #expect(count("POST /open", server) == 2)
  }

  /// Otherwise, a scheduler would consider the pass as complete, although the last request was not sent.
  @Test func `that was dropped is not a success`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "when_changed")
    try await expect(job, "setup/2", "1/2")
    let dropped = try await job.ferry("run", "job.yaml", "--shard", "finish/2", "--fresh")
    #expect(dropped.status == 5, "\(dropped.stdout) \(dropped.stderr)")
    #expect(try await part(job, "finish/2").status == 5)
    #expect(count("POST /close", server) == 0)
  }

  /// The clocks of two machines may differ. Otherwise, the run of `setup` would seem to have ended the pass.
  @Test(
    .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere },
    arguments: [-86_400, 86_400], ["reset", "cancel"])
  func `that was dropped is not a success, whatever the clock of setup shows`(_ shift: Int, _ command: String)
    async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "when_changed")
    try job.folder.write(Data("\(shift)".utf8), to: "clock")
    let environment = try await StateFaults.environment(clock: job.folder.path("clock"))
    let setup = try await job.ferry("run", "job.yaml", "--shard", "setup/2", environment: environment)
    #expect(setup.status == 0, "\(setup.stdout)\(setup.stderr)")
    let dropped = try await job.ferry(command, "e2e.s", "--state", job.state + "/shards/e2e/once-of-2")
    #expect(dropped.status == 0, "\(dropped.stdout)\(dropped.stderr)")
    let finish = try await part(job, "finish/2")
    #expect(finish.status == 5, "\(finish.stdout)\(finish.stderr)")
    #expect(count("POST /close", server) == 0)
  }

  @Test func `that was dropped is not a success in the merged report, although all shards have ended`()
    async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, deliver: "when_changed")
    try await expect(job, "setup/2", "1/2", "2/2")
    #expect(try await merged(job).command.status == 0)
    let dropped = try await job.ferry("reset", "e2e.s", "--state", job.state + "/shards/e2e/once-of-2")
    #expect(dropped.status == 0, "\(dropped.stdout)\(dropped.stderr)")
    let (command, states) = try await merged(job)
    #expect(command.status == 5 && states["finish/2"] == "missing", "\(command.stdout)")
    try ReportValidator.check(Data(command.stdout.utf8))
    let text = try await job.ferry("report", "merge", job.state).stdout
    #expect(text.contains("request close: waiting (finish/2 has no report of this round)"), "\(text)")
    try await expect(job, "setup/2", "1/2", "2/2", "finish/2")
    #expect(try await merged(job).command.status == 0)
  }

  @Test func `has a report of finish that names the state folder of the shard with ambiguous items`()
    async throws
  {
    let server = try await ScriptedServer.start(["/put/f1": .init(status: 500)])
    let job = try job(server, deliver: "when_changed")
    try job.write(manifest: job.folder.text("job.yaml").replacing("method: PUT", with: "method: POST"))
    var ends: [Command] = []
    for _ in 0..<2 {
      // In the second pass, the item is one of an earlier run.
      for name in ["setup/2", "1/2", "2/2", "finish/2"] { ends.append(try await part(job, name)) }
    }
    let number = try #require((1...2).first { ends[$0].status == 1 }, "\(ends)")
    let command = "run: ferry status --state \(job.state)/shards/e2e/\(number)-of-2\n"
    let finish = try #require(ends.last)
    #expect(finish.status == 1 && finish.stdout.contains(command), "\(finish.stdout)")
    let merged = try await job.ferry("report", "merge", job.state)
    #expect(merged.stdout.contains(command), "\(merged.stdout)")
    let report = try await job.ferry("report", "--state", job.state + "/shards/e2e/once-of-2")
    #expect(report.stdout.contains(command), "\(report.stdout)")
  }

  @Test func `has ended if finish is killed while it sends the requests of on_end`() async throws {
    let server = try await ScriptedServer.start([:])
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let job = try job(server, deliver: "when_changed")
    try job.write(
      manifest: job.folder.text("job.yaml") + """
        on_end:
          first: { session: s, request: { method: POST, url: "\(server.home)/first" } }
          slow: { session: s, required: true, grace: 60s, request: { method: PUT, url: "\(receiver.url)/files/x" } }

        """)
    try await expect(job, "setup/2", "1/2", "2/2")
    let finish = try job.start(["run", "job.yaml", "--shard", "finish/2"])
    let deadline = ContinuousClock.now + .seconds(60)
    while count("POST /first", server) == 0, .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    finish.signal(SIGKILL)
    _ = await finish.end()
    // The report of the work is not visible yet.
    let killed = try await job.ferry("report", "merge", job.state)
    #expect(killed.status == 5, "\(killed.stdout)\(killed.stderr)")
    #expect(
      killed.stdout.contains("request close: waiting")
        && killed.stdout.contains("the last run of finish/2 was interrupted"), "\(killed.stdout)")

    let requests = server.lines
    let again = try await part(job, "finish/2")
    #expect(again.status == 1, "\(again.stdout)\(again.stderr)")
    #expect(
      again.stderr.contains(
        "was killed after its work had ended; it is unknown whether its on_end requests were sent")
        && again.stderr.contains("the pass over the shards has ended") && !again.stderr.contains("resumes"),
      "\(again.stderr)")
    let third = try await part(job, "finish/2")
    #expect(third.status == 1 && !third.stderr.contains("killed"), "\(third.stderr)")
    #expect(server.lines == requests && count("POST /close", server) == 1)
    let (command, states) = try await merged(job)
    #expect(command.status == 1, "\(command.stdout)")
    #expect(states == ["setup/2": "ended", "1/2": "ended", "2/2": "ended", "finish/2": "ended"])
    try ReportValidator.check(Data(command.stdout.utf8))
    let text = try await job.ferry("report", "merge", job.state).stdout
    #expect(text.contains("request close: succeeded") && text.contains("on_end slow: ambiguous"), "\(text)")
    try job.write(manifest: job.folder.text("job.yaml").replacing("required: true", with: "required: false"))
    try await expect(job, "setup/2")
    #expect(count("POST /open", server) == 2)
  }
}
