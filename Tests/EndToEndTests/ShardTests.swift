import Foundation
import Testing

/// A manifest that is divided into shards, which run as separate processes.
@Suite struct `A manifest in shards` {
  private static let count = 4

  /// A job with one upload with `allocate`, a transfer and a commit.
  private func job(_ receiver: ReceiverProcess, files: Int = 40, _ nodes: String...) throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, ([JobText.uploadIDs()] + nodes).joined(separator: "\n")))
    for number in 0..<files { try job.write("content \(number)", to: "f\(number).txt") }
    return job
  }

  private func part(_ job: Workspace, _ part: String, _ options: String...) async throws -> Command {
    try await job.start(["run", "job.yaml", "--shard", part] + options).end()
  }

  /// Runs all shards at the same time.
  private func shards(_ job: Workspace) async throws -> [Command] {
    let running = try (1...Self.count).map {
      try job.start(["run", "job.yaml", "--shard", "\($0)/\(Self.count)", "--quiet"])
    }
    var commands: [Command] = []
    for process in running { commands.append(await process.end()) }
    return commands
  }

  private func merged(_ job: Workspace, _ options: String...) async throws -> Command {
    try await job.start(["report", "merge", job.state] + options).end()
  }

  private func decoded(_ command: Command) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(command.stdout.utf8))
    return try #require(value as? [String: Any], "\(command.stdout) \(command.stderr)")
  }

  @Test func `commits each file once, with one token for each shard, and its merged report adds up`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    for command in try await shards(job) { #expect(command.status == 0, "\(command.stderr)") }
    let received = try await receiver.received()
    #expect(received.uploads.count == 40 && received.uploads.allSatisfy { $0.commits == 1 })
    #expect(received.tokens == Self.count)
    let command = try await merged(job, "--format", "json")
    #expect(command.status == 0, "\(command.stderr)")
    let report = try decoded(command)
    let totals = try #require(report["totals"] as? [String: Any])
    #expect((totals["items"] as? [String: Any])?["done"] as? Int == 40)
    #expect(totals["items_done_in_run"] as? Int == 40 && totals["tokens_fetched"] as? Int == Self.count)
    // The receiver also counts the request of this test.
    #expect(totals["requests"] as? Int == 3 * 40 + Self.count)
    let bytes = try #require(totals["bytes"] as? [String: Int])
    let carried = try #require(bytes["sent"]) + #require(bytes["received"])
    #expect(carried == ["useful", "resent", "overhead", "unattributed"].reduce(0) { $0 + (bytes[$1] ?? 0) })
    let run = try #require(report["run"] as? [String: Any])
    let parts = try #require(run["shards"] as? [[String: Any]])
    #expect(parts.map { $0["part"] as? String } == (1...Self.count).map { "\($0)/\(Self.count)" })
    let done = parts.compactMap { ($0["items"] as? [String: Any])?["done"] as? Int }
    #expect(done.reduce(0, +) == 40 && done.allSatisfy { $0 < 40 })
    try ReportValidator.check(Data(command.stdout.utf8))
  }

  @Test func `may have one round more than another shard without setup`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    for command in try await shards(job) { #expect(command.status == 0, "\(command.stderr)") }
    #expect(try await part(job, "2/\(Self.count)").status == 0)
    let command = try await merged(job, "--format", "json")
    #expect(command.status == 0, "\(command.stderr)")
    let totals = try #require(try decoded(command)["totals"] as? [String: Any])
    let items = try #require(totals["items"] as? [String: Int])
    #expect(items["done", default: 0] + items["unchanged", default: 0] == 40, "\(items)")
  }

  @Test func `does not share a refresh token, which the server may replace`() async throws {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      secrets: { old: { env: OLD } }
      sessions: { s: {} }
      tokens:
        login:
          session: s
          oauth2: { token_url: "http://127.0.0.1:1/", client_id: a, grant: refresh_token, refresh_token: "${secrets.old}" }
      uploads:
        u:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { method: PUT, url: "http://127.0.0.1:1/${file.name}" } }
      """)
    try job.write("x", to: "a")
    for number in ["1", "setup", "finish"] {
      let command = try await part(job, "\(number)/2")
      #expect(command.status == 2, "\(command.stdout)")
      #expect(command.stderr.contains("token 'login' has 'grant: refresh_token'"), "\(command.stderr)")
    }
  }

  @Test(arguments: ["text", "ndjson", "junit", "ctrf", "github", "markdown", "html"])
  func `has a merged report in every format, which shows a shard that has not run`(_ format: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 8)
    for number in 1..<Self.count {
      #expect(try await part(job, "\(number)/\(Self.count)").status == 0)
    }
    let command = try await merged(job, "--format", format)
    #expect(command.status == 5, "\(command.stderr)")
    #expect(command.stdout.contains("shard 4/4 has no report of this round"), "\(command.stdout)")
  }

  @Test func `sends the requests before and after its uploads once, in their order`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let note = { (name: String, needs: String) in
      """
        \(name):
          session: quick
          token: login
          needs: [\(needs)]
          request: { url: "${vars.api}/done", json: { run: "${run.id}", node: \(name), failed: "${run.failed}" } }
      """
    }
    let nodes = "requests:\n" + note("before", "") + "\n" + note("after", "files")
    let job = try job(receiver, nodes)
    let text = job.folder.text("job.yaml")
    try job.write(manifest: text.replacing("  files:\n", with: "  files:\n    needs: [before]\n"))
    let early = try await part(job, "1/\(Self.count)")
    #expect(early.status == 2, "\(early.stderr)")
    // The command can be pasted: `--shard` is one of its options.
    let remedy = try #require(early.stderr.split(separator: "once for all shards: ").last)
    #expect(remedy.contains("--shard setup/\(Self.count)") && !remedy.contains(" -- "), "\(remedy)")
    let setup = try await part(job, "setup/\(Self.count)")
    #expect(setup.status == 0, "\(setup.stderr)")
    #expect(try await receiver.received().done.map(\.node) == ["before"])
    let incomplete = try await part(job, "finish/\(Self.count)")
    #expect(
      incomplete.status == 5
        && incomplete.stdout.contains(
          "shard 1/4 has not run in round 2 (its last run was in its own round 1); 3 other shards"),
      "\(incomplete.stdout)")
    #expect(try await receiver.received().done.map(\.node) == ["before"])
    for command in try await shards(job) { #expect(command.status == 0, "\(command.stderr)") }
    let finish = try await part(job, "finish/\(Self.count)")
    #expect(finish.status == 0 && finish.stdout.contains("40 done"), "\(finish.stdout) \(finish.stderr)")
    let received = try await receiver.received()
    #expect(received.done.map(\.node) == ["before", "after"] && received.done.last?.failed == 0)
    #expect(received.commits == 40)
    // The round of every part is complete, so the next launches begin another one.
    #expect(try await part(job, "setup/\(Self.count)").status == 0)
    #expect(try await receiver.received().done.map(\.node) == ["before", "after", "before"])
    let again = try await part(job, "2/\(Self.count)")
    #expect(again.status == 0 && again.stdout.contains("items unchanged"), "\(again.stdout)")
    #expect(try await receiver.received().commits == 40)
  }

  @Test func `starts on_events once for each shard, and sends the requests of on_end once, from finish`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(
      receiver,
      """
      on_end:
        end: { session: quick, token: login, request: { url: "${vars.api}/done", json: { node: end } } }
      """)
    let text = job.folder.text("job.yaml")
    try job.write(
      manifest: text.replacing(
        "identifier: e2e.uploads", with: "identifier: e2e.uploads\n    on_events: [./told]"))
    // A line that is appended in one write is not mixed with those of other processes.
    try job.folder.write(Data("#!/bin/sh\necho \"$FERRY_RUN\" >> told.txt\n".utf8), to: "told")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    #expect(try await part(job, "setup/4").status == 0)
    for command in try await shards(job) { #expect(command.status == 0, "\(command.stderr)") }
    #expect(try await receiver.received().done.isEmpty)
    let runs = job.folder.text("told.txt").split(separator: "\n")
    #expect(runs.count == Self.count && Set(runs).count == Self.count)
    let finish = try await part(job, "finish/4")
    #expect(finish.status == 0, "\(finish.stderr)")
    #expect(try await receiver.received().done.map(\.node) == ["end"])
    #expect(job.folder.text("told.txt").split(separator: "\n").count == Self.count)
  }

  @Test func `has a merged report of the reports that its shards wrote to files`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let parts = ["setup/4", "1/4", "2/4", "3/4", "4/4", "finish/4"]
    for (number, name) in parts.enumerated() {
      #expect(try await part(job, name, "--quiet", "--report", "part-\(number).json").status == 0)
    }
    let files = parts.indices.map { "part-\($0).json" }
    // The order of the files, which a shell's glob determines, makes no difference.
    for names in [files, files.reversed()] {
      let command = try await job.start(["report", "merge"] + names + ["--format", "json"]).end()
      #expect(command.status == 0, "\(command.stderr)")
      let totals = try #require(try decoded(command)["totals"] as? [String: Any])
      #expect((totals["items"] as? [String: Any])?["done"] as? Int == 40)
    }
    let replacing = try await job.start(["report", "merge"] + files + ["--report", "part-1.json"]).end()
    #expect(replacing.status == 2, "\(replacing.stdout)\(replacing.stderr)")
    // A report of a shard is missing.
    let command = try await job.start(["report", "merge"] + files.filter { $0 != "part-2.json" }).end()
    #expect(command.status == 5 && command.stdout.contains("shard 2/4 has no report"), "\(command.stdout)")
  }

  @Test func `has a merged report whose memory does not grow with the paths that shards could not list`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 1)
    let ran = try await part(job, "1/6", "--quiet", "--report", "part.json")
    #expect(ran.status == 0, "\(ran.stderr)")
    // Each of the reports lists as many paths as a report can list.
    let script = """
      import json, resource, subprocess, sys
      report = json.load(open("part.json"))
      node = next(node for node in report["nodes"] if node["kind"] == "upload")
      for shard in range(1, 7):
          report["run"]["shard"] = f"{shard}/6"
          node["problems"] = [
              {"path": f"{shard}/{number}/" + "x" * 400, "code": "unreadable", "message": "x" * 400}
              for number in range(10_000)]
          json.dump(report, open(f"{shard}.json", "w"))
      def peak(count):
          names = [f"{shard}.json" for shard in range(1, count + 1)]
          with open("merged.json", "wb") as output:
              subprocess.run([sys.argv[1], "report", "merge", *names, "--format", "json"], stdout=output)
          return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
      few, many = peak(1), peak(6)
      node = next(node for node in json.load(open("merged.json"))["nodes"] if node["kind"] == "upload")
      print(len(node["problems"]), node["problems_omitted"], many - few)
      """
    let command = try await Command.run("python3", ["-c", script, Product.path("ferry")], in: job.folder.url)
    let figures = command.stdout.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(figures.count == 3, "\(command.stdout) \(command.stderr)")
    #expect(figures[0] == 10_000 && figures[1] == 50_000)
    // In KiB. The paths and messages of the other reports alone are 40 MB.
    #expect(figures[2] < 20_000, "\(figures)")
  }

  @Test func `has a merged report that names the state folder of a shard with ambiguous items`() async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["commit:times=1,drop=after"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs(recognized: "")))
    for number in 0..<8 { try job.write("content \(number)", to: "f\(number).txt") }
    _ = try await shards(job)
    // The next runs report the item only as an item of an earlier run.
    _ = try await shards(job)
    let command = try await merged(job)
    let folder = try #require(
      (1...Self.count).map { job.state + "/shards/e2e/\($0)-of-4" }.first {
        command.stdout.contains("run: ferry status --state \($0)")
      }, "\(command.stdout)")
    let status = try await job.start(["status", "--state", folder]).end()
    #expect(
      status.stdout.contains("ambiguous") && status.stdout.contains("ferry resolve"), "\(status.stdout)")
  }

  @Test func `passes what a request has captured to the shards`() async throws {
    let server = try await ScriptedServer.start(["/open": .init(status: 200, body: #"{"id":"album-7"}"#)])
    let job = try Workspace(
      """
      version: 1
      name: albums
      sessions: { s: { kind: background } }
      uploads:
        files:
          session: s
          files: { root: files }
          transfer: { request: { url: "\(server.home)/put/${requests.open.id}/${file.path}" } }
      requests:
        open: { session: s, request: { method: POST, url: "\(server.home)/open" }, capture: { id: { json: /id, secret: true } } }

      """)
    for number in 0..<6 { try job.write("\(number)", to: "f\(number)") }
    #expect(try await part(job, "setup/2").status == 0)
    for number in 1...2 {
      let command = try await part(job, "\(number)/2")
      #expect(command.status == 0, "\(command.stderr)")
    }
    let lines = server.lines
    #expect(lines.count { $0.contains("POST /open") } == 1)
    #expect(
      Set(lines.filter { $0.contains("PUT") }) == Set((0..<6).map { "home PUT /put/album-7/f\($0)" }),
      "\(lines)")
  }

  @Test func `is not run with another number of shards, or whole, in the same state folder`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 4)
    #expect(try await part(job, "1/2").status == 0)
    let other = try await part(job, "1/3")
    #expect(other.status == 2 && other.stderr.contains("--shard 1/2"), "\(other.stderr)")
    let whole = try await job.ferry("run", "job.yaml")
    #expect(whole.status == 2 && whole.stderr.contains("is divided into shards"), "\(whole.stderr)")
    let fresh = try Workspace(job.folder.text("job.yaml"))
    #expect(try await fresh.ferry("run", "job.yaml").status == 0)
    let late = try await part(fresh, "1/2")
    #expect(late.status == 2 && late.stderr.contains("run without shards"), "\(late.stderr)")
  }

  @Test func `sends no file twice if processes with different numbers of shards start at the same time`()
    async throws
  {
    for _ in 0..<3 {
      let receiver = try await ReceiverProcess.start(["--require-token"])
      let job = try job(receiver, files: 12)
      let running = try ["1/1", "1/2", "2/3"].map {
        try job.start(["run", "job.yaml", "--quiet", "--shard", $0])
      }
      var statuses: [Int32] = []
      for process in running { statuses.append(await process.end().status) }
      #expect(statuses.sorted() == [0, 2, 2])
      let names = try await receiver.received().uploads.map(\.name)
      #expect(Set(names).count == names.count)
    }
  }

  @Test func `takes a submitted file only in the state folder of its shard`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 8)
    func submit(_ state: String, _ files: String...) async throws -> Command {
      try await job.start(
        ["submit", "job.yaml", "files", "--state", job.state + state] + files.map { "files/" + $0 }
      ).end()
    }
    for part in ["setup/2", "1/2", "2/2"] { #expect(try await self.part(job, part).status == 0) }
    for state in ["", "/shards/e2e/once-of-2"] {
      let end = try await submit(state, "f0.txt")
      #expect(end.status == 2 && end.stderr.contains("the state folder of the shard"), "\(end.stderr)")
    }
    for number in 8..<16 { try job.write("content \(number)", to: "f\(number).txt") }
    var named: [Command] = []
    for number in [1, 2] { named.append(try await submit("/shards/e2e/\(number)-of-2", "f9.txt")) }
    #expect(named.map(\.status).sorted() == [0, 2])
    let refusal = try #require(named.first { $0.status == 2 }?.stderr)
    #expect(refusal.contains("f9.txt belongs to shard ") && refusal.contains("-of-2\n"), "\(refusal)")
    // Without names, the files of the shard are submitted.
    for number in [1, 2] { #expect(try await submit("/shards/e2e/\(number)-of-2").status == 0) }
    for part in ["1/2", "2/2"] { #expect(try await self.part(job, part).status == 0) }
    let names = try await receiver.received().uploads.map(\.name)
    #expect(names.count == 16 && Set(names).count == 16)
  }

  @Test func `owns its state folder before its first run`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 8)
    #expect(try await part(job, "1/2").status == 0)
    func command(_ name: String, _ upload: String..., in folder: String) async throws -> Command {
      try await job.start([name, "job.yaml"] + upload + ["--state", job.state + "/shards" + folder]).end()
    }
    for (folder, refusal) in [
      ("/e2e/2-of-2", "--shard 2/2"), ("/e2e/once-of-2", "--shard setup/2"),
      ("/e2e", "contains the state folders of shards"), ("", "contains the state folders of shards"),
    ] {
      let run = try await command("run", in: folder)
      #expect(run.status == 2 && run.stderr.contains(refusal), "\(folder): \(run.stderr)")
    }
    for (folder, refusal) in [
      ("/e2e/1-of-3", "is divided into 2\n"), ("/e2e/once-of-2", "which has no files"), ("/e2e", "contains"),
    ] {
      let submission = try await command("submit", "files", in: folder)
      #expect(
        submission.status == 2 && submission.stderr.contains(refusal), "\(folder): \(submission.stderr)")
    }
    // A link leads to the same place.
    #expect(symlink(job.state + "/shards/e2e", job.folder.path("link")) == 0)
    let link = try await job.start(["run", "job.yaml", "--state", job.folder.path("link/2-of-2")]).end()
    #expect(link.status == 2 && link.stderr.contains("--shard 2/2"), "\(link.stderr)")

    #expect(try await command("submit", "files", in: "/e2e/2-of-2").status == 0)
    for part in ["setup/2", "2/2", "1/2", "finish/2"] { #expect(try await self.part(job, part).status == 0) }
    let names = try await receiver.received().uploads.map(\.name)
    #expect(names.count == 8 && Set(names).count == 8)
  }

  /// They create its journals at the same time.
  @Test func `is run by one of several processes that start the same shard at the same time`() async throws {
    for _ in 0..<4 {
      let receiver = try await ReceiverProcess.start(["--require-token"])
      let job = try job(receiver, files: 6)
      let running = try (0..<3).map { _ in
        try job.start(["run", "job.yaml", "--quiet", "--shard", "1/1"])
      }
      for process in running {
        let end = await process.end()
        #expect([0, 6].contains(end.status), "\(end.stderr)")
      }
      let uploads = try await receiver.received().uploads
      #expect(uploads.count == 6 && uploads.allSatisfy { $0.commits == 1 })
    }
  }

  /// The run has read the state folder before it waits for its session.
  @Test func `is not run whole by a process that was waiting for its session while the shards ran`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 4)
    let holder = try Workspace(
      JobText.text(server: receiver.url, name: "holder", JobText.puts)
        .replacing("identifier: holder.uploads", with: "identifier: e2e.uploads"))
    try holder.write("held", to: "held.txt")
    try await receiver.add(spec: "file:delay=300")
    let held = try holder.start(["run", "job.yaml", "--quiet", "--state", job.state])
    while try await job.status().session("e2e.uploads")?.node("files")?.items?["queued"] != 1, held.isRunning
    {
    }
    let whole = try job.start(["run", "job.yaml", "--wait-lock", "60s"])
    while !whole.stderr.contains("waiting for the session"), whole.isRunning {
      try await Task.sleep(for: .milliseconds(10))
    }
    for part in ["1/2", "2/2"] { #expect(try await self.part(job, part).status == 0) }
    held.signal(SIGKILL)
    _ = await held.end()
    let end = await whole.end()
    #expect(end.status == 2 && end.stderr.contains("is divided into shards"), "\(end.stderr)")
    #expect(try await receiver.received().uploads.count == 4)
    // The shards are not affected.
    #expect(try await part(job, "1/2").status == 0)
    #expect(try await receiver.received().uploads.count == 4)
  }

  /// `ferry shard` writes its files to `shards` by default, and the state folder may be the folder of the manifest.
  @Test func `has a status and a merged report beside the files of an engine`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 4)
    #expect(try await part(job, "1/1").status == 0)
    let written = try await job.start(
      ["shard", "job.yaml", "--shards", "1", "--engine", "slurm", "--out", job.state + "/shards"]
    ).end()
    #expect(written.status == 0, "\(written.stderr)")
    let status = try await job.ferry("status", "--shards", job.state)
    #expect(status.status == 0 && status.stdout.contains("4 done"), "\(status.stdout) \(status.stderr)")
    let report = try await merged(job)
    #expect(report.status == 0 && report.stdout.contains("4 done"), "\(report.stdout) \(report.stderr)")
  }

  @Test func `resumes a killed shard from the state folder of the shard`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=300"])
    let job = try job(receiver, files: 12)
    let running = try job.start(["run", "job.yaml", "--shard", "1/2", "--quiet"])
    _ = try await receiver.received { !$0.uploads.isEmpty }
    running.signal(SIGKILL)
    _ = await running.end()
    try await receiver.clearFaults()
    let status = try await job.ferry("status", "--shards", job.state)
    #expect(status.status == 0 && status.stdout.contains("1/2: interrupted"), "\(status.stdout)")
    let resumed = try await job.ferry("resume", "--state", job.state + "/shards/e2e/1-of-2")
    #expect(resumed.status == 0, "\(resumed.stderr)")
    #expect(try await part(job, "2/2").status == 0)
    let received = try await receiver.received()
    #expect(received.uploads.count == 12 && received.uploads.allSatisfy { $0.commits == 1 })
    let ended = try await job.ferry("status", "--shards", job.state, "--format", "json")
    let document = try decoded(ended)
    #expect((document["items"] as? [String: Any])?["done"] as? Int == 12)
    #expect(
      (document["parts"] as? [[String: Any]])?.compactMap { $0["state"] as? String } == ["ended", "ended"])
  }

  @Test func `keeps all files in their shards when others are added`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 30)
    func files(of number: Int) async throws -> Set<String> {
      let folder = job.state + "/shards/e2e/\(number)-of-\(Self.count)"
      let command = try await job.ferry("plan", "job.yaml", "--files", "--state", folder)
      return Set(command.stdout.split(separator: "\n").map(String.init))
    }
    for command in try await shards(job) { #expect(command.status == 0) }
    for number in 30..<60 { try job.write("content \(number)", to: "f\(number).txt") }
    var added = 0
    for number in 1...Self.count { added += try await files(of: number).count }
    #expect(added == 30)
    for command in try await shards(job) { #expect(command.status == 0) }
    let received = try await receiver.received()
    #expect(received.uploads.count == 60 && received.uploads.allSatisfy { $0.commits == 1 })
  }

  @Test func `uses its budget in all shards together if they share it, and otherwise in equal parts`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    for (division, first) in [("split", Int32(8)), ("shared", 0)] {
      let job = try Workspace(
        JobText.text(
          server: receiver.url, JobText.puts, "budgets: { any: { limit: 75kB, per: month } }",
          "engine: { budgets: \(division) }"))
      for number in 0..<40 {
        try job.write(String(repeating: "x", count: 2_000), to: "\(division)\(number).txt")
      }
      // The files of shard 1 have about 40 KB, which is more than a third of the budget but less than all of it.
      #expect(try await part(job, "1/2").status == first, "\(division)")
      let next = try await job.ferry("next", "job.yaml", "--state", job.state + "/shards/e2e/2-of-2")
      #expect(next.stdout == "now\n", "\(next.stdout) \(next.stderr)")
      let second = try await part(job, "2/2", "--report", "report.json")
      #expect(second.status == 8, "\(division): \(second.stdout)")
      let report =
        try JSONSerialization.jsonObject(
          with: Data(contentsOf: job.folder.url.appending(path: "report.json"))) as? [String: Any]
      let budgets = try #require((report?["run"] as? [String: Any])?["budgets"] as? [[String: Any]])
      let budget = try #require(budgets.first)
      let (limit, before, after) = (
        budget["limit_bytes"] as? Int ?? 0, budget["used_bytes_before"] as? Int ?? 0,
        budget["used_bytes_after"] as? Int ?? 0
      )
      // Before a transfer, only the size of its response can be estimated.
      #expect(limit == (division == "shared" ? 75_000 : 25_000) && after <= limit + 500, "\(budget)")
      #expect(division == "shared" ? before > 25_000 : before == 0, "\(budget)")
      let plan = try await job.ferry("plan", "job.yaml", "--shards", "2")
      #expect(plan.stdout.contains("which all shards share") == (division == "shared"), "\(plan.stdout)")
    }
  }

  @Test func `is planned with the files, bytes and budget of each shard`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, files: 100, "budgets: { any: { limit: 10MB, per: day } }")
    let command = try await job.ferry("plan", "job.yaml", "--shards", "4", "--format", "json")
    #expect(command.status == 0, "\(command.stderr)")
    let plan = try decoded(command)
    let parts = try #require(plan["shards"] as? [[String: Any]])
    #expect(plan["items"] as? Int == 100 && parts.count == 4)
    #expect(parts.compactMap { $0["items"] as? Int }.reduce(0, +) == 100)
    let budget = try #require((plan["budgets"] as? [[String: Any]])?.first)
    #expect(budget["shard_bytes"] as? Int == 2_000_000 && budget["once_bytes"] as? Int == 2_000_000)
    let text = try await job.ferry("plan", "job.yaml", "--shards", "4")
    #expect(
      text.stdout.contains("100 files") && text.stdout.contains("after the shards: nothing"), "\(text.stdout)"
    )
    for command in try await shards(job) { #expect(command.status == 0, "\(command.stderr)") }
    let reports = try await merged(job, "--format", "json")
    let shards = try #require((try decoded(reports)["run"] as? [String: Any])?["shards"] as? [[String: Any]])
    let sent = shards.compactMap { ($0["items"] as? [String: Any])?["done"] as? Int }
    #expect(sent == parts.compactMap { $0["items"] as? Int })
  }

  @Test func `is planned with its download batches, whose list is fetched before N is chosen`() async throws {
    let list =
      #"[{"name":"a","url":"http://127.0.0.1:9/a","size":5},{"name":"b","url":"http://127.0.0.1:9/b"}]"#
    let server = try await ScriptedServer.start(["/list.json": .init(status: 200, body: list)])
    let job = try Workspace(
      """
      version: 1
      name: pictures
      sessions: { s: { kind: background } }
      fetches:
        list: { session: s, request: { url: "\(server.home)/list.json" }, save_to: list.json }
      downloads:
        pictures:
          session: s
          items: { from: list, json: "", save_to: "pictures/${item.name}", size: "${item.size}" }
      requests:
        done: { session: s, needs: [pictures], request: { url: "http://127.0.0.1:9/done" } }

      """)
    let early = try await job.ferry("plan", "job.yaml", "--shards", "3")
    #expect(early.status == 2 && early.stderr.contains("cannot read the list"), "\(early.stderr)")
    // The command that the message prints, with a folder.
    let words = try #require(early.stderr.split(separator: "ferry ").last).split(
      whereSeparator: \.isWhitespace)
    let fetched = try await job.start(
      words.map { $0 == "FOLDER" ? job.folder.path("other-state") : String($0) }
    ).end()
    #expect(fetched.status == 0, "\(words) \(fetched.stderr)")
    let plan = try decoded(try await job.ferry("plan", "job.yaml", "--shards", "5", "--format", "json"))
    #expect(plan["items"] as? Int == 2 && plan["bytes"] as? Int == 5)
    #expect(plan["before"] as? [String] == ["list"] && plan["after"] as? [String] == ["done"])
    let setup = try await part(job, "setup/5")
    #expect(setup.status == 0, "\(setup.stderr)")
  }

  @Test func `cannot be divided if a download batch needs an upload, and the message names both`()
    async throws
  {
    let job = try Workspace(
      """
      version: 1
      name: chain
      sessions: { s: { kind: background } }
      uploads:
        files: { session: s, files: { root: files }, transfer: { request: { url: "http://127.0.0.1:9/${file.path}" } } }
      downloads:
        pictures: { session: s, needs: [files], items: { urls: [http://127.0.0.1:9/a], save_to: "pictures/${item.name}" } }

      """)
    let command = try await job.ferry("run", "job.yaml", "--shard", "1/2")
    #expect(
      command.status == 2 && command.stderr.contains("'pictures' needs 'files', and a shard"),
      "\(command.stderr)")
  }
}
