import Foundation
import Testing

/// `transfer.protocol: tus` against tuspyserver, which is not part of this project.
@Suite struct `A tus upload to tuspyserver` {
  /// Whether the server is available. If it is not, a message is printed, because an unnoticed skip would look like a
  /// pass.
  private static let isPossible: Bool = {
    guard TusServer.python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of tus need tuspyserver and uvicorn; run scripts/setup test\n\n".utf8))
    return false
  }()

  private static let chunk = 256 << 10

  /// tuspyserver responds to a HEAD with 400 if the metadata lacks these two pairs.
  private static func manifest(
    _ server: TusServer, chunked: Bool, metadata: String = "", creation: String = "empty",
    proxy: FaultProxy? = nil
  ) -> String {
    """
    version: 1
    name: tus
    sessions: { s: { kind: background, max_connections_per_host: 2 } }
    uploads:
      files:
        session: s
        deliver: when_changed
        files: { root: files }
        retry: { limit: 10, initial: 10ms, max: 1s }
        transfer:
          protocol: tus
          creation: \(creation)
          metadata: { filename: "${file.name}", filetype: "text/plain"\(metadata) }
          request: { url: "\(proxy.map { server.url.replacing(server.origin, with: $0.url) } ?? server.url)/" }
    \(chunked ? "      chunk_size: 256KiB\n" : "")
    """
  }

  /// Checks that the server has stored each file of the job once and unchanged.
  private static func expectFiles(_ job: Workspace, at server: TusServer, _ names: [String]) async throws {
    let complete = try server.complete
    #expect(Set(complete.compactMap { $0.metadata["filename"] }) == Set(names))
    let sent = try await TestFiles.digests(of: names, under: job.folder.path("files"))
    for upload in complete {
      let stored = try await TestFiles.digests(of: [upload.path], under: "/")
      #expect(stored[upload.path] == sent[upload.metadata["filename"] ?? ""])
    }
  }

  @Test(
    .enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(2)),
    arguments: [true, false])
  func `arrives unchanged, whatever its size and name`(_ chunked: Bool) async throws {
    let server = try await TusServer.start()
    let job = try Workspace(
      Self.manifest(server, chunked: chunked, metadata: ", empty: \"\", note: \" ä b \""))
    var random = SplitMix(seed: 4)
    let files = [
      "empty": 0, "Grüße aus Köln.txt": 1, "one": Self.chunk, "日本 1": Self.chunk + 1, "two": 2 * Self.chunk,
    ]
    for (name, size) in files { try job.folder.write(random.bytes(size), to: "files/\(name)") }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    try await Self.expectFiles(job, at: server, Array(files.keys))
    #expect(try server.complete.count == files.count)
    #expect(try server.complete.allSatisfy { $0.metadata["empty"] == "" && $0.metadata["note"] == " ä b " })
    #expect(server.responses.filter { $0 == "POST 201" }.count == files.count)
    #expect(server.responses.filter { $0 == "PATCH 204" }.count == (chunked ? 6 : 4))
    #expect(report.totals.bytes.useful == files.values.reduce(0, +) && report.totals.bytes.resent == 0)
    let before = server.responses.count
    let again = try await job.run()
    #expect(again.command.status == 0 && server.responses.count == before)
    await server.stop()
  }

  /// Kills runs at random moments after their first requests, until three were hit and the condition is true. Returns
  /// the number of runs that were hit.
  private func kill(
    _ job: Workspace, _ server: TusServer, _ random: inout SplitMix, _ files: inout [String: Int],
    until isEnough: () -> Bool
  ) async throws -> Int {
    var kills = 0
    for number in 0..<30 where kills < 3 || !isEnough() {
      let run = try job.start(["run", "job.yaml", "--quiet"])
      let count = server.responses.count
      while run.isRunning, server.responses.count == count { try await Task.sleep(for: .milliseconds(2)) }
      try await Task.sleep(for: .milliseconds(Int64(random.next() % 60)))
      let isHit = run.isRunning
      run.signal(SIGKILL)
      _ = await run.end()
      if isHit {
        kills += 1
      } else {
        // On a busy machine, a run may exit before its kill. The next run then needs another file.
        files["more-\(number)"] = 40_000_000
        try job.folder.write(random.bytes(40_000_000), to: "files/more-\(number)")
      }
    }
    return kills
  }

  @Test(
    .enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(3)),
    arguments: [true, false])
  func `continues after kills`(_ chunked: Bool) async throws {
    let server = try await TusServer.start()
    let job = try Workspace(Self.manifest(server, chunked: chunked))
    var random = SplitMix(seed: 9)
    var files = ["large": 40_000_000, "medium": 9_000_000, "small": 1000]
    for (name, size) in files { try job.folder.write(random.bytes(size), to: "files/\(name)") }
    let kills = try await kill(job, server, &random, &files) { server.responses.contains("HEAD 200") }
    let last = try await job.ferry("run", "job.yaml")
    #expect(last.status == 0, "\(last.stdout)\(last.stderr)")
    #expect(kills > 1)
    #expect(server.responses.contains("HEAD 200"))
    try await Self.expectFiles(job, at: server, Array(files.keys))
    await server.stop()
  }

  // If the creation of an upload sends all bytes, the server does not report the upload as complete.
  @Test(.enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(3)))
  func `created with bytes continues after kills`() async throws {
    let server = try await TusServer.start()
    let job = try Workspace(Self.manifest(server, chunked: true, creation: "with_upload"))
    var random = SplitMix(seed: 10)
    var files = ["large": 80_000_000, "medium": 9_000_000, "small": Self.chunk + 1]
    for (name, size) in files { try job.folder.write(random.bytes(size), to: "files/\(name)") }
    let kills = try await kill(job, server, &random, &files) { true }
    let last = try await job.ferry("run", "job.yaml")
    #expect(last.status == 0, "\(last.stdout)\(last.stderr)")
    #expect(kills > 1)
    try await Self.expectFiles(job, at: server, Array(files.keys))
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `of examples/tus.yaml arrives`() async throws {
    let server = try await TusServer.start()
    let job = try Workspace("")
    var random = SplitMix(seed: 6)
    try job.folder.write(random.bytes((8 << 20) + 1), to: "files/Am Meer.mp4")
    let arguments = [Product.source("examples/tus.yaml")]
    let environment = ["TUS_URL": server.url + "/", "TUS_ROOT": job.folder.path("files")]
    let check = try await job.start(["check"] + arguments, environment: environment).end()
    #expect(check.status == 0 && !check.stdout.contains("warning") && !check.stderr.contains("warning"))
    let plan = try await job.start(["plan"] + arguments, environment: environment).end()
    #expect(plan.status == 0 && plan.stderr.isEmpty)
    #expect(plan.stdout.contains("1 item, 8.4 MB, in 2 parts"), "\(plan.stdout)")
    #expect(plan.stdout.contains("transfer: PATCH ${allocate.url}  (tus)"), "\(plan.stdout)")
    let run = try await job.start(["run"] + arguments, environment: environment).end()
    #expect(run.status == 0, "\(run.stdout)\(run.stderr)")
    try await Self.expectFiles(job, at: server, ["Am Meer.mp4"])
    #expect(server.responses == ["POST 201", "PATCH 204", "PATCH 204"])
    await server.stop()
  }

  @Test(.enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(2)))
  func `is terminated if its file changes`() async throws {
    let server = try await TusServer.start()
    // The 32 parts take more than six seconds, so the file changes before the last part.
    let proxy = try await FaultProxy.start(
      before: server.origin, faults: #"{"match": "^PATCH", "delay": 0.2}"#)
    let job = try Workspace(Self.manifest(server, chunked: true, proxy: proxy))
    try job.folder.write(Data(repeating: 1, count: 8 << 20), to: "files/f")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    while run.isRunning, !server.responses.contains("PATCH 204") {
      try await Task.sleep(for: .milliseconds(2))
    }
    try job.folder.write(Data(repeating: 2, count: 5), to: "files/f")
    let end = await run.end()
    #expect(end.status != 0)
    #expect(try job.report().item("f")?.reason?.code == "source_changed", "\(end.stdout)")
    #expect(server.responses.last == "DELETE 204")
    let next = try await job.ferry("run", "job.yaml")
    #expect(next.status == 0, "\(next.stdout)\(next.stderr)")
    try await Self.expectFiles(job, at: server, ["f"])
    await server.stop()
  }
}
