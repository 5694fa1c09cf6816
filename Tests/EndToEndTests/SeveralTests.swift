import Foundation
import Testing

/// `ferry run` and `ferry resume` with several manifests, which share a launch and a report.
@Suite struct `Several manifests` {
  /// `job.yaml` contains the manifest `photos`, and `index/job.yaml` the manifest `index`, which has the higher
  /// priority. Each sends the files in the folder `files` beside it, over one connection of the session `gallery`.
  private func workspace(
    _ receiver: ReceiverProcess, photos: [String] = [], index: [String] = [], needs: String = "",
    session: String = "gallery"
  ) throws -> Workspace {
    let job = try Workspace(Self.text(receiver, "photos", JobText.puts, photos))
    let puts = JobText.puts.replacing(
      "session: uploads\n", with: "session: uploads\n    priority: high\n    \(needs)\n")
    _ = try job.folder.makeFolder("index/files")
    try write(index: Self.text(receiver, "index", session: session, puts, index), to: job)
    for number in 0..<6 { try job.write("photo \(number)", to: "p\(number)") }
    for number in 0..<3 { try job.folder.write(Data("index \(number)".utf8), to: "index/files/i\(number)") }
    return job
  }

  private static func text(
    _ receiver: ReceiverProcess, _ name: String, session: String = "gallery", _ puts: String,
    _ nodes: [String]
  ) -> String {
    JobText.text(
      server: receiver.url, name: name, connections: 1, ([puts] + nodes).joined(separator: "\n")
    ).replacing("identifier: \(name).uploads", with: "identifier: \(session)")
  }

  private func write(index text: String, to job: Workspace) throws {
    try job.folder.write(Data(text.utf8), to: "index/job.yaml")
  }

  private func index(of job: Workspace) -> String { job.folder.text("index/job.yaml") }

  private func run(
    _ job: Workspace, _ options: String...
  ) async throws -> (command: Command, report: SeveralReport) {
    let arguments = ["run", "job.yaml", "index/job.yaml", "--report", "report.json"] + options
    let command = try await job.start(arguments).end()
    guard let data = try? Data(contentsOf: URL(filePath: job.folder.path("report.json"))) else {
      throw CommandFailure(description: "\(command.status)\n\(command.stdout)\n\(command.stderr)")
    }
    return (command, try SeveralReport.decode(data))
  }

  /// The names of the files, in the order in which they were sent.
  private func puts(_ receiver: ReceiverProcess) -> [String] {
    receiver.log.filter { $0.hasPrefix("PUT /files/") }
      .compactMap { $0.split(separator: " ").dropFirst().first?.split(separator: "/").last.map(String.init) }
  }

  private func runs(of job: Workspace) throws -> Int {
    try job.stateFiles().keys.count { $0.hasPrefix("runs/") && $0.hasSuffix("report.json") }
  }

  @Test(arguments: ["execution_window: { background: 5s, on_expiry: [./told] }", "on_events: [./told]"])
  func `in different folders cannot share a command, because it is started in the manifest's folder`(
    command: String
  ) async throws {
    let (window, events) = command.hasPrefix("on") ? ("", ", \(command)") : (command, "")
    func text(_ name: String) -> String {
      """
      version: 1
      name: \(name)
      \(window)
      sessions: { s: { kind: background, identifier: shared\(events) }, quick: {} }
      uploads:
        \(name):
          session: s
          files: { root: . }
          transfer: { request: { url: "http://127.0.0.1:1/${file.path}" } }
      requests:
        note: { session: quick, request: { method: PUT, url: "http://127.0.0.1:1/note" } }

      """
    }
    let job = try Workspace(text("one"))
    _ = try job.folder.makeFolder("other")
    try job.folder.write(Data(text("two").utf8), to: "other/job.yaml")
    let run = try await job.ferry("run", "job.yaml", "other/job.yaml")
    #expect(run.status == 3)
    #expect(run.stderr.contains("help: move both to one folder, or run each separately\n"), "\(run.stderr)")
    try job.folder.write(Data(text("two").utf8), to: "two.yaml")
    let beside = try await job.ferry("run", "job.yaml", "two.yaml")
    #expect(!beside.stderr.contains("move both to one folder"), "\(beside.stderr)")
  }

  @Test func `share one order of priority over one connection, and write one report`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02"])
    let job = try workspace(receiver, index: [JobText.catalog()])
    let (command, report) = try await run(job)
    #expect(command.status == 0, "\(command.stderr)")
    #expect(puts(receiver) == ["i0", "i1", "i2", "p0", "p1", "p2", "p3", "p4", "p5"])
    #expect(!job.folder.text("index/catalog.json").isEmpty, "paths are relative to their own manifest")

    #expect(report.run.manifest == nil && report.run.path == nil && report.run.round == nil)
    #expect(report.run.manifests.map(\.name) == ["photos", "index"])
    #expect(report.run.manifests.map(\.path) == ["job.yaml", "index/job.yaml"])
    #expect(report.run.manifests.map(\.round) == [1, 1])
    #expect(report.run.manifests.map(\.roundClosed) == [true, true])
    #expect(Set(report.run.manifests.map(\.sha256)).count == 2)
    #expect(report.totals.itemsDoneInRun == 9)
    #expect(report.states["photos/files"] == "succeeded" && report.states["index/files"] == "succeeded")
    #expect(report.nodes.first { $0.name == "files" }?.session == "gallery")
    #expect(try runs(of: job) == 1)
    #expect(
      command.stdout.hasPrefix("photos, index: everything is done (exit code 0): 9 items delivered\n"),
      "\(command.stdout)")
    #expect(command.stdout.contains("\n  upload index/files: succeeded, 3 done\n"))
    #expect(try await job.ferry("report").stdout.contains("upload photos/files: succeeded, 6 done"))

    let second = try await run(job)
    #expect(second.command.status == 0 && second.report.totals.itemsDoneInRun == 0)
    #expect(second.report.run.manifests.map(\.round) == [2, 2])
  }

  @Test func `let newly ready work overtake waiting work`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.3"])
    let ask = """
      requests:
        ask: { session: quick, request: { url: "${vars.api}/catalog.json" } }
      """
    let job = try workspace(receiver, index: [ask], needs: "needs: [ask]")
    #expect(try await run(job).command.status == 0)
    let order = puts(receiver)
    let first = try #require(order.firstIndex(of: "i0"))
    #expect(order.first == "p0", "it had nothing before it")
    #expect(order.count == 9 && order.last == "p5")
    #expect(Array(order[first...].prefix(3)) == ["i0", "i1", "i2"], "\(order)")
  }

  @Test func `have their own rounds, counts and tokens`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=1,times=1,status=403"])
    let job = try workspace(
      receiver, photos: [JobText.notes([("photos-done", "always")])],
      index: [
        JobText.notes([("index-done", "always")]).replacing(
          "session: quick", with: "session: quick\n    token: login")
      ])
    let (command, report) = try await run(job)
    #expect(command.status == 1, "\(command.stderr)")
    let done = try await receiver.received().done
    #expect(done.count == 2)
    #expect(done.first { $0.node == "photos-done" }?.failed == 0)
    #expect(done.first { $0.node == "index-done" }?.failed == 1)
    #expect(Set(done.map(\.run)) == [report.run.id])
    #expect(report.totals.tokensFetched == 1)
    #expect(report.items.map(\.manifest) == ["index"] && report.items.map(\.path) == ["i0"])
    #expect(report.run.manifests.map(\.roundClosed) == [true, true])
    #expect(command.stdout.contains("index/files: i0: "))

    // If one of the manifests is run alone, it continues with its own rounds.
    let alone = try await job.start(["run", "index/job.yaml", "--report", "report.json"]).end()
    #expect(alone.status == 0, "\(alone.stderr)")
    let one = try SeveralReport.decode(Data(contentsOf: URL(filePath: job.folder.path("report.json"))))
    #expect(one.run.manifest == "index" && one.run.path == "index/job.yaml" && one.run.round == 2)
    #expect(one.run.roundClosed == true && one.nodes.allSatisfy { $0.manifest == nil })
    #expect(
      one.run.manifests == [
        .init(
          name: "index", path: "index/job.yaml", sha256: report.run.manifests[1].sha256, round: 2,
          roundClosed: true)
      ])
    #expect(one.totals.itemsDoneInRun == 1)
  }

  @Test func `send their own header fields and secrets in a session that they share`() async throws {
    let server = try await EchoServer.start()
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    func headed(_ text: String, _ name: String) -> String {
      text.replacing(receiver.url, with: server.url).replacing(
        "identifier: gallery",
        with: "identifier: gallery\n    headers: { X-Who: \"\(name) ${secrets.client_secret}\" }")
    }
    try job.write(manifest: headed(Self.text(receiver, "photos", JobText.puts, []), "photos"))
    try write(index: headed(index(of: job), "index").replacing("E2E_SECRET", with: "INDEX_SECRET"), to: job)
    let arguments = ["run", "job.yaml", "index/job.yaml"]
    let missing = try await job.start(arguments).end()
    #expect(missing.status == 2 && missing.stderr.contains("index/job.yaml:6:"), "\(missing.stderr)")
    let command = try await job.start(
      arguments, environment: ["E2E_SECRET": "one", "INDEX_SECRET": "two"]
    ).end()
    #expect(command.status == 0, "\(command.stderr)")
    let who = server.lines.filter { $0.hasPrefix("X-Who: ") }
    #expect(who.prefix(3).allSatisfy { $0 == "X-Who: index two" } && who.count == 9, "\(who)")
    #expect(who.dropFirst(3).allSatisfy { $0 == "X-Who: photos one" })
  }

  @Test func `are resumed in one launch if they agree`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let (command, report) = try await run(job, "--limit", "1")
    #expect(command.status == 0)
    #expect(report.run.manifests.map(\.roundClosed) == [false, false])
    #expect(puts(receiver) == ["i0"])
    let resumed = try await job.ferry("resume")
    #expect(resumed.status == 0, "\(resumed.stderr)")
    #expect(try runs(of: job) == 2)
    #expect(puts(receiver) == ["i0", "i1", "i2", "p0", "p1", "p2", "p3", "p4", "p5"])
    #expect(try await job.ferry("resume").stdout == "nothing to resume\n")

    // Manifests with different budgets cannot share a launch, so `ferry resume` runs one after the other.
    for (name, text) in [("files/p6", "6"), ("index/files/i3", "3")] {
      try job.folder.write(Data(text.utf8), to: name)
    }
    #expect(try await run(job, "--limit", "0").report.run.manifests.map(\.roundClosed) == [false, false])
    let before = try runs(of: job)
    try write(index: index(of: job) + "budgets: { wired: { limit: 1GB, per: day } }\n", to: job)
    #expect(try await job.ferry("resume").status == 0)
    #expect(try runs(of: job) == before + 2)
    #expect(try await receiver.received().files.count == 11)
  }

  @Test func `are resumed although one of them is no longer readable`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    _ = try await run(job, "--limit", "1")
    let text = index(of: job)
    try write(index: text + "nonsense: 1\n", to: job)
    let invalid = try await job.ferry("resume")
    #expect(invalid.status == 3)
    #expect(invalid.stderr.contains("nonsense"))
    #expect(puts(receiver).filter { $0.hasPrefix("p") }.count == 6)
    try FileManager.default.removeItem(atPath: job.folder.path("index/job.yaml"))
    let gone = try await job.ferry("resume")
    #expect(gone.status == 2)
    #expect(gone.stderr.contains("index/job.yaml"))
    try write(index: text, to: job)
    #expect(try await job.ferry("resume").status == 0)
    #expect(puts(receiver).count == 9)
  }

  @Test func `are closed together after a kill, and resume`() async throws {
    // When the run is killed, it is still sending the third file.
    let receiver = try await ReceiverProcess.start(faults: ["file:every=3,delay=120"])
    let job = try workspace(receiver)
    let killed = try job.start(["run", "job.yaml", "index/job.yaml"])
    _ = try await receiver.received { $0.files.count >= 2 }
    killed.signal(SIGKILL)
    _ = await killed.end()
    try await receiver.clearFaults()
    let resumed = try await job.ferry("resume")
    #expect(resumed.status == 0, "\(resumed.stderr)")
    #expect(resumed.stderr.contains("was interrupted"))
    let reports = try job.stateFiles().filter { $0.key.hasSuffix("report.json") }
      .map { try SeveralReport.decode($0.value) }
    #expect(reports.count == 2)
    #expect(reports.allSatisfy { Set($0.run.manifests.map(\.name)) == ["photos", "index"] })
    #expect(reports.allSatisfy { $0.run.manifests.map(\.round) == [1, 1] })
    // Runs that begin in the same second may be listed in either order.
    #expect(Set(reports.map { $0.run.manifests.map(\.roundClosed) }) == [[false, false], [true, true]])
    #expect(try await receiver.received().files.count == 9)
  }

  @Test func `do not prevent each other from being resumed`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, session: "own")
    #expect(try await run(job, "--limit", "0").command.status == 0)
    // While the other commands run, the first file is still being sent.
    try await receiver.add(fault: #"{"route": "file", "times": 1, "delay": 120}"#)
    let slow = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests == 1 }
    let both = try await job.ferry("run", "job.yaml", "index/job.yaml")
    #expect(both.status == 6 && both.stderr.contains("gallery"))
    let resumed = try await job.ferry("resume")
    #expect(resumed.status == 6)
    #expect(resumed.stdout.hasPrefix("index: everything is done"), "\(resumed.stdout) \(resumed.stderr)")
    #expect(puts(receiver).filter { $0.hasPrefix("i") } == ["i0", "i1", "i2"])
    slow.signal(SIGKILL)
    _ = await slow.end()
  }

  @Test func `that conflict are reported, and nothing is started`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let good = index(of: job)
    func refused(_ text: String, _ status: Int32, _ words: String...) async throws {
      try write(index: text, to: job)
      let command = try await job.ferry("run", "job.yaml", "index/job.yaml")
      #expect(command.status == status, "\(command.stderr)")
      for word in words + ["index/job.yaml", "job.yaml"] {
        #expect(command.stderr.contains(word), "\(command.stderr)")
      }
      #expect(!FileManager.default.fileExists(atPath: job.state))
    }
    try await refused(
      good.replacing("name: index", with: "name: photos"), 2, "both have the name 'photos'", "help: ")
    try await refused(
      good.replacing(
        "max_connections_per_host: 1\n    timeout", with: "max_connections_per_host: 2\n    timeout"),
      3,
      "index/job.yaml:9:3: 'max_connections_per_host' of session 'gallery' differs from its value at job.yaml:9:3",
      "help: ")
    try await refused(
      good + "budgets: { wifi: { limit: 1GB, per: day } }\n", 3,
      "job.yaml and index/job.yaml: they have different values for 'budgets.wifi'", "run each separately")
    try await refused(good + "profile: ios\n", 3)
    try await refused(good + "conditions: { network: wifi }\n", 3, "'conditions.network'")
    let same = try await job.ferry("run", "job.yaml", "job.yaml")
    #expect(same.status == 2 && same.stderr.contains("job.yaml and job.yaml: both have the name"))
    // The error is reported, whichever manifest is invalid.
    try job.write(manifest: "version: 2\n")
    try await refused("name: index\n", 3, "version")
  }

  @Test func `are qualified in --only if both have the node`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, index: [JobText.catalog()])
    let both = try await job.ferry("run", "job.yaml", "index/job.yaml", "--only", "files")
    #expect(both.status == 2)
    #expect(both.stderr.contains("write photos/files or index/files"), "\(both.stderr)")
    let wrong = try await job.ferry("run", "job.yaml", "index/job.yaml", "--only", "photos/catalog")
    #expect(wrong.status == 2 && wrong.stderr.contains("photos/files, index/files, index/catalog"))

    let planned = try await job.ferry("run", "job.yaml", "index/job.yaml", "--dry-run")
    #expect(
      planned.stdout.contains("photos: opens round 1") && planned.stdout.contains("index: opens round 1"))
    let one = try await job.ferry("run", "job.yaml", "index/job.yaml", "--dry-run", "--only", "catalog")
    #expect(!one.stdout.contains("photos: opens") && one.stdout.contains("index: opens round 1"))

    let (command, report) = try await run(job, "--only", "photos/files", "--only", "catalog")
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.states["index/files"] == "not_selected" && report.states["index/catalog"] == "succeeded")
    #expect(report.run.manifests.map(\.roundClosed) == [true, false])
    #expect(puts(receiver).allSatisfy { $0.hasPrefix("p") })
  }
}
