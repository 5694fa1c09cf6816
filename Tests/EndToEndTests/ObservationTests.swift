import Foundation
import Testing

@Suite struct `A run that is observed` {
  private struct Event: Decodable {
    var type: String
    var version: Int?
    var node: String?
    var path: String?
    var step: String?
    var status: Int?
    var state: String?
    var bytes: Int?
    var firstByteSeconds: Double?
    var reusedConnection: Bool?
    var exitCode: Int?
  }

  private func events(_ text: String) throws -> [Event] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try text.split(separator: "\n").map { try decoder.decode(Event.self, from: Data($0.utf8)) }
  }

  private func job(_ faults: [String] = []) async throws -> (receiver: ReceiverProcess, job: Workspace) {
    let receiver = try await ReceiverProcess.start(faults: faults)
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for name in ["a", "b", "line\nbreak"] { try job.write(name, to: name) }
    return (receiver, job)
  }

  @Test func `writes an event for each request and each item`() async throws {
    let (receiver, job) = try await job(["file:match=/b,status=403", "file:match=/a,status=503,times=1"])
    defer { withExtendedLifetime(receiver) {} }
    let command = try await job.ferry("run", "job.yaml", "--events", "events.ndjson")
    #expect(command.status == 1, "\(command.stderr)")
    let events = try events(job.folder.text("events.ndjson"))
    #expect(events.first?.type == "started" && events.first?.version == 1)
    #expect(events.last?.type == "finished" && events.last?.exitCode == 1)
    let requests = events.filter { $0.type == "request" }
    #expect(requests.count == 4 && requests.allSatisfy { $0.step == "transfer" && $0.node == "files" })
    #expect(requests.compactMap(\.status).sorted() == [201, 201, 403, 503])
    #expect(requests.allSatisfy { ($0.bytes ?? 0) > 100 && ($0.firstByteSeconds ?? 0) > 0 })
    #expect(requests.contains { $0.reusedConnection == false })
    let items = events.filter { $0.type == "item" }
    #expect(items.sorted { $0.path ?? "" < $1.path ?? "" }.map(\.state) == ["done", "failed", "done"])
    // Another run appends to the file.
    _ = try await job.ferry("run", "job.yaml", "--events", "events.ndjson")
    #expect(try self.events(job.folder.text("events.ndjson")).filter { $0.type == "started" }.count == 2)
  }

  @Test func `writes events to standard output, and its summary to standard error`() async throws {
    let (receiver, job) = try await job()
    defer { withExtendedLifetime(receiver) {} }
    let command = try await job.ferry("run", "job.yaml", "--events", "-")
    #expect(command.status == 0)
    #expect(try events(command.stdout).last?.type == "finished")
    #expect(command.stderr.contains("upload files: succeeded, 3 done"))
    let both = try await job.ferry("run", "job.yaml", "--events", "-", "--report", "json=-")
    #expect(both.status == 2 && both.stderr.contains("cannot both write to standard output"))
  }

  @Test func `rejects files that would overwrite its manifest, its variables or each other`() async throws {
    let (receiver, job) = try await job()
    let manifest = job.folder.text("job.yaml")
    try job.folder.write(Data("{}".utf8), to: "vars.yaml")
    for (options, message) in [
      (["--report", "job.yaml"], "the manifest and --report refer to the same file"),
      (["--vars-file", "vars.yaml", "--log", "./vars.yaml"], "--vars-file and --log refer to the same file"),
      (["--events", "new", "--trace", "./new"], "--events and --trace refer to the same file"),
    ] {
      let command = try await job.start(["run", "job.yaml"] + options).end()
      #expect(command.status == 2 && command.stderr.contains(message), "\(options): \(command.stderr)")
    }
    #expect(job.folder.text("job.yaml") == manifest)
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("new")))
    #expect(try await receiver.received().files.isEmpty)
  }

  /// Manifests with different values of `conditions` are resumed one after the other.
  @Test func `writes to none of the manifests that a resume runs one after the other`() async throws {
    let (receiver, job) = try await job()
    let other = JobText.text(
      server: receiver.url, name: "other", "conditions: { power: external }", JobText.puts)
    try job.folder.write(Data(other.utf8), to: "other.yaml")
    for manifest in ["job.yaml", "other.yaml"] {
      #expect(try await job.ferry("run", manifest, "--limit", "1").status == 0)
    }
    let sent = try await receiver.received().puts
    let resume = try await job.ferry("resume", "--log", "other.yaml")
    #expect(
      resume.status == 2 && resume.stderr.contains("the manifest and --log refer to the same file"),
      "\(resume.stderr)")
    #expect(job.folder.text("other.yaml") == other)
    #expect(try await receiver.received().puts == sent)
  }

  @Test func `writes a log with a line for each request`() async throws {
    let (receiver, job) = try await job(["file:match=/b,status=403"])
    defer { withExtendedLifetime(receiver) {} }
    #expect(try await job.ferry("run", "job.yaml", "--log", "ferry.log").status == 1)
    let lines = job.folder.text("ferry.log").split(separator: "\n")
    let pattern =
      #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|warning) files/\S+ transfer (201|403) \d+ B [\d.]+ s \(.*connection\)/#
    #expect(lines.count { $0.wholeMatch(of: pattern) != nil } == 3, "\(lines)")
    #expect(lines.count { $0.contains(" info files/") && $0.hasSuffix(" done") } == 2)
    #expect(lines.count { $0.contains(" error files/b failed: the server responded with 403") } == 1)
    #expect(lines.contains { $0.contains(#"files/"line\nbreak" done"#) })
    #expect(try await job.ferry("run", "job.yaml", "--log", "log.json", "--log-format", "json").status == 1)
    #expect(try events(job.folder.text("log.json")).filter { $0.type == "request" }.count == 1)
  }

  @Test func `prints more with -v and -vv`() async throws {
    let (receiver, job) = try await job(["file:match=/b,status=403"])
    defer { withExtendedLifetime(receiver) {} }
    let one = try await job.ferry("run", "job.yaml", "-v")
    #expect(
      one.stderr.contains("error files/b failed") && !one.stderr.contains("files/a done"), "\(one.stderr)")
    let request =
      #/files\/a transfer 201 \d+ B [\d.]+ s \((connect [\d.]+ s, )?first byte [\d.]+ s; (new|reused) connection\)/#
    #expect(one.stderr.contains(request), "\(one.stderr)")
    try job.write("another", to: "c")
    let two = try await job.ferry("run", "job.yaml", "-vv")
    #expect(
      two.stderr.contains("debug files/c transfer 201") && two.stderr.contains("info files/c done"),
      "\(two.stderr)")
  }

  @Test func `prints progress at the start, at intervals and at the end`() async throws {
    let (receiver, job) = try await job(["file:delay=0.6"])
    defer { withExtendedLifetime(receiver) {} }
    let command = try await job.ferry("run", "job.yaml", "--progress-interval", "200ms")
    #expect(command.status == 0)
    let lines = command.stderr.split(separator: "\n")
    #expect(
      lines.first == "ferry: started with 3 items" && lines.last?.hasPrefix("ferry: ended after ") == true,
      "\(lines)")
    #expect(lines.contains { $0.contains("of 3 items, ") && $0.hasSuffix("/s") }, "\(lines)")
    // Without the option, a short run prints nothing.
    try job.write("new", to: "new")
    #expect(try await job.ferry("run", "job.yaml").stderr.isEmpty)
  }

  @Test func `is not delayed by readers of its events and its log that do not read`() async throws {
    let (receiver, job) = try await job()
    for index in 0..<300 { try job.write("x", to: "many-\(index)") }
    // Pipes with a capacity of one page, from which nobody reads.
    let paths = ["events", "log"].map { job.folder.path($0) }
    let readers = paths.map { path -> Int32 in
      #expect(mkfifo(path, 0o600) == 0)
      let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      // F_SETPIPE_SZ
      #expect(fcntl(reader, 1031, 4096) >= 4096)
      return reader
    }
    defer { for reader in readers { close(reader) } }
    let command = try await job.ferry(
      "run", "job.yaml", "--events", paths[0], "--log", paths[1], "--report", "report.json")
    let end = Date()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(command.stderr.contains("warning: the events are incomplete: the reader is not reading"))
    #expect(command.stderr.contains("warning: the log is incomplete: the reader is not reading"))
    // The run waits for both at the same time, after it has written its report.
    let report = try FileManager.default.attributesOfItem(atPath: job.folder.path("report.json"))
    let written = try #require(report[.modificationDate] as? Date)
    #expect(end.timeIntervalSince(written) < 9, "the run waits for each file for 5 seconds")
    #expect(try await receiver.received().files.count == 303)
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `has written every event when a signal has ended it`(_ signal: Int32) async throws {
    let (receiver, job) = try await job(["file:delay=0.2"])
    for index in 0..<60 { try job.write("x", to: "many-\(index)") }
    let run = try job.start([
      "run", "job.yaml", "--events", "events.ndjson", "--log", "log.ndjson", "--log-format", "json",
      "--report",
      "report.json", "--items", "all",
    ])
    _ = try await receiver.received { $0.files.count >= 5 }
    run.signal(signal)
    #expect(await run.end().status == 128 + signal)
    let report = try job.report()
    let text = job.folder.text("events.ndjson")
    let events = try events(text)
    #expect(text == job.folder.text("log.ndjson"))
    #expect(events.first?.type == "started")
    #expect(events.last?.type == "finished" && events.last?.exitCode == Int(128 + signal))
    #expect(events.count { $0.type == "request" } == report.totals.requests)
    let done = events.filter { $0.type == "item" && $0.state == "done" }
    #expect(done.count == report.totals.itemsDoneInRun && done.count >= 5 && done.count < 63)
    // An item ends after its request.
    for item in done {
      let request = events.firstIndex { $0.type == "request" && $0.path == item.path && $0.status == 201 }
      let end = events.firstIndex { $0.type == "item" && $0.path == item.path }
      #expect(try #require(request) < #require(end))
    }
  }

  @Test func `keeps all events for a reader that begins to read after the last request`() async throws {
    let (receiver, job) = try await job()
    for index in 0..<300 { try job.write("x", to: "many-\(index)") }
    let path = job.folder.path("fifo")
    #expect(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    // F_SETPIPE_SZ: one page, so that the writer soon waits for the reader.
    #expect(fcntl(reader, 1031, 4096) >= 4096)
    let run = try job.start(["run", "job.yaml", "--events", path])
    _ = try await receiver.received { $0.files.count == 303 }
    #expect(fcntl(reader, F_SETFL, 0) == 0)
    let handle = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
    let text = try handle.readToEnd() ?? Data()
    let end = await run.end()
    #expect(end.status == 0 && !end.stderr.contains("incomplete"), "\(end.stderr)")
    let events = try events(String(decoding: text, as: UTF8.self))
    #expect(events.count == 2 * 303 + 2 && events.last?.type == "finished")
  }

  @Test func `completes on a full disk, and reports that events are missing`() async throws {
    let (receiver, job) = try await job()
    let command = try await job.ferry("run", "job.yaml", "--events", "/dev/full", "--log", "ferry.log")
    #expect(command.status == 0)
    #expect(command.stderr.contains("warning: the events are incomplete: No space left on device"))
    #expect(!command.stderr.contains("the log is incomplete"))
    #expect(job.folder.text("ferry.log").split(separator: "\n").count == 8)
    #expect(try await receiver.received().files.count == 3)
  }

  @Test func `shows a line for the run and lines for its requests at a terminal, whatever its width is`()
    async throws
  {
    for columns in [80, 40] {
      let (receiver, job) = try await job(["file:delay=1.2"])
      defer { withExtendedLifetime(receiver) {} }
      try job.write("x", to: String(repeating: "日本語", count: 20) + ".jpg")
      let command = try await Command.run(
        "script",
        ["-qefc", "stty cols \(columns) rows 24; '\(Product.path("ferry"))' run job.yaml", "/dev/null"],
        environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret], in: job.folder.url)
      #expect(command.status == 0, "\(command.stdout)")
      let frames = command.stdout.replacing("\u{1B}[?7l", with: "").components(separatedBy: "\u{1B}[J")
      #expect(frames.count > 3 && frames.count < 40)
      let frame = try #require(frames.first { $0.contains("transfer  files/") })
      let lines = frame.replacing("\r\n", with: "\n").replacing("\r", with: "").split(separator: "\n").map(
        String.init)
      #expect(lines.contains { $0.hasPrefix("0 of 4 items") })
      for line in lines where line.hasPrefix("  transfer  ") || line.contains(" of 4 items, ") {
        let text = line.split(separator: "\u{1B}").first.map(String.init) ?? ""
        let width = text.unicodeScalars.reduce(0) { $0 + (0x3000...0x9FFF ~= $1.value ? 2 : 1) }
        #expect(width < columns, "\(width): \(text)")
      }
    }
  }

  @Test func `is followed by another process until it ends`() async throws {
    let (receiver, job) = try await job(["file:delay=4"])
    defer { withExtendedLifetime(receiver) {} }
    let run = try job.start(["run", "job.yaml"])
    while try await !job.ferry("status").stdout.contains("held by process") {
      guard run.isRunning else { break }
    }
    let follower = try await job.start(["status", "--follow"]).end(within: .seconds(30))
    #expect(follower.status == 0)
    #expect(follower.stdout.contains("held by process \(run.pid)"), "\(follower.stdout)")
    #expect(follower.stdout.contains("session e2e.uploads: free\n  upload files of e2e, round 1: 3 done"))
    #expect(await run.end().status == 0)
    let json = try await job.ferry("status", "--follow", "--format", "json")
    #expect(json.status == 0 && json.stdout.split(separator: "\n").count == 1)
  }
}
