import Foundation
import Testing

/// `parallel_parts` of `protocol: tus`, the concatenation extension.
@Suite struct `A tus upload in parallel parts` {
  private static let parts = 4
  private static let chunk = 256 << 10
  private static let size = 3_000_001

  /// - Parameter url: the URL that creates uploads.
  private func job(_ url: String, connections: Int = 4) throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: tus
      sessions: { s: { kind: background, max_connections_per_host: \(connections) } }
      uploads:
        files:
          session: s
          deliver: when_changed
          files: { root: files }
          retry: { limit: 5, initial: 10ms, max: 1s }
          transfer:
            protocol: tus
            parallel_parts: \(Self.parts)
            threshold: 1MB
            chunk_size: 256KiB
            metadata: { filename: "${file.name}", filetype: text/plain }
            request: { url: "\(url)" }

      """)
  }

  private func write(_ count: Int, to job: Workspace, seed: UInt64 = 1) throws {
    var random = SplitMix(seed: seed)
    try job.folder.write(random.bytes(count), to: "files/f")
  }

  private func digest(_ job: Workspace) async throws -> String? {
    try await TestFiles.digests(of: ["f"], under: job.folder.path("files"))["f"]
  }

  /// Checks that the server has stored the job's only file once and unchanged, and has received no forbidden
  /// request.
  private func expectFile(of job: Workspace, at server: StrictTusServer) async throws -> StrictTusServer.Log {
    let log = try await server.log()
    #expect(log.violations.isEmpty)
    let digest = try await digest(job)
    let finals = log.uploads.filter { !$0.partial }
    #expect(finals.map(\.sha256) == [digest])
    #expect(finals.map(\.metadata) == [["filename": "f", "filetype": "text/plain"]])
    return log
  }

  @Test(arguments: [0, 1, 999_999, 1_000_000, Self.size])
  func `arrives as it is, whatever its size`(_ size: Int) async throws {
    let server = try await StrictTusServer.start()
    let job = try job(server.url + "/files")
    try write(size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await expectFile(of: job, at: server)
    let count = size < 1_000_000 ? 1 : Self.parts
    #expect(log.uploads.last?.parts.count == count && log.uploads.count == count + 1)
    // If there are several partial uploads, a HEAD of the first one shows whether the server concatenates. For an
    // empty file, a HEAD shows that the upload is complete.
    #expect(log.heads == (size == 0 || count > 1 ? 1 : 0) && log.deletes == 0)
    #expect(report.totals.bytes.useful == size && report.totals.bytes.resent == 0)
    let again = try await job.run()
    #expect(again.report.totals.requests == 0)
  }

  @Test(arguments: [(1, 1), (4, 4)])
  func `has its parts sent at the same time`(_ connections: Int, _ concurrent: Int) async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('slow', 0.05) if method == 'PATCH' else None")
    let job = try job(server.url + "/files", connections: connections)
    try write(Self.size, to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await expectFile(of: job, at: server).concurrent == concurrent)
  }

  @Test(.timeLimit(.minutes(3)), arguments: [1, 2])
  func `continues each part at the offset of the server after kills`(_ seed: UInt64) async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('slow', 0.05) if method == 'PATCH' else None")
    let job = try job(server.url + "/files")
    let size = 12_000_000
    try write(size, to: job, seed: seed)
    // At most four requests are received at the same time.
    let (kills, end) = try await job.runWithKills(atMost: 6, after: 4...6, in: 0..<100, seed: seed) {
      try await server.log().patches
    }
    #expect(end.status == 0, "\(end.stderr)")
    let log = try await expectFile(of: job, at: server)
    #expect(kills > 1 && log.heads > Self.parts, "\(kills) kills, \(log.heads) queries")
    let received = log.uploads.filter(\.partial).map(\.received).reduce(0, +)
    #expect(
      received - size <= kills * Self.parts * Self.chunk, "at most what was in flight is received twice")
  }

  @Test func `continues inside a part whose connection was dropped`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('drop', 100000) if method == 'PATCH' and number in [2, 5] else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await expectFile(of: job, at: server)
    #expect(log.uploads.filter(\.partial).map(\.received).reduce(0, +) == Self.size)
    #expect(report.totals.bytes.useful == Self.size && log.finals == 1)
  }

  @Test func `starts over if the server no longer has one of its parts, and releases the others`()
    async throws
  {
    let server = try await StrictTusServer.start(
      fault: "  return ('gone', 404) if method == 'PATCH' and number == 6 else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await expectFile(of: job, at: server)
    #expect(report.totals.idsExpired == 1 && log.creations == 2 * Self.parts)
    // The fourth partial upload is the one that the server no longer has.
    #expect(log.uploads.count(where: \.deleted) == Self.parts - 1 && log.deletes == Self.parts - 1)
    #expect(log.uploads.last?.parts.sorted() == [5, 6, 7, 8])
  }

  @Test func `has all its parts terminated if its file changes`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("f")
    let fault = """
        if method == "PATCH" and number == 3:
          with open("\(path)", "ab") as file: file.write(b"x")
        return None
      """
    let server = try await StrictTusServer.start(fault: fault)
    let job = try job(server.url + "/files")
    let text = job.folder.text("job.yaml").replacing("root: files", with: "root: \(folder.path(""))")
    try job.write(manifest: text)
    var random = SplitMix(seed: 3)
    try folder.write(random.bytes(Self.size), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(report.item("f")?.reason?.code == "source_changed", "\(command.stdout)")
    let log = try await server.log()
    #expect(log.violations.isEmpty && log.finals == 0)
    #expect(log.uploads.count == Self.parts && log.uploads.allSatisfy(\.deleted))
    #expect(log.deletes == Self.parts)
  }

  @Test func `sends no byte to a server without the extension`() async throws {
    let server = try await StrictTusServer.start(["whole"])
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(
      report.item("f")?.reason?.message
        == "'parallel_parts' requires the concatenation extension of tus, which the server does not implement"
    )
    let log = try await server.log()
    #expect(log.patches == 0 && log.uploads.allSatisfy { $0.received == 0 && $0.deleted })
  }

  @Test func `is not concatenated twice if the response is lost`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('silent', 0) if method == 'FINAL' else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("f")?.state == "ambiguous")
    let again = try await job.run()
    #expect(again.command.status == 1)
    let log = try await expectFile(of: job, at: server)
    #expect(log.finals == 1 && log.deletes == 0)
  }

  /// A proxy may respond in place of the server.
  @Test func `is not a success without a Location`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('status', 200) if method == 'FINAL' else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("f")?.state == "ambiguous")
    #expect(report.item("f")?.reason?.message.contains("has no Location") == true)
  }

  @Test func `starts over if 'parallel_parts' is changed`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('slow', 0.05) if method == 'PATCH' else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while run.isRunning, try await server.log().patches < 5 { try await Task.sleep(for: .milliseconds(5)) }
    run.signal(SIGKILL)
    _ = await run.end()
    try job.write(
      manifest: job.folder.text("job.yaml").replacing("parallel_parts: 4", with: "parallel_parts: 2"))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(
      (command.stdout + command.stderr).contains(
        "the upload was created with another 'parallel_parts' or 'threshold'"),
      "\(command.stdout)\(command.stderr)")
    let log = try await expectFile(of: job, at: server)
    #expect(log.uploads.last?.parts.sorted() == [5, 6] && log.deletes == Self.parts)
  }

  @Test func `keeps the URLs of its parts secret`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('status', 400) if method == 'FINAL' else None")
    let job = try job(server.url + "/files")
    try write(Self.size, to: job)
    let (command, _) = try await job.run()
    #expect(command.status != 0)
    let export = try await job.ferry("journal", "export")
    let explanation = try await job.ferry("explain", "f", "--manifest", "job.yaml")
    #expect(export.status == 0 && explanation.status == 0, "\(export.stderr)\(explanation.stderr)")
    let texts = [
      command.stdout, command.stderr, job.folder.text("report.json"), export.stdout, explanation.stdout,
    ]
    for text in texts {
      #expect((1...Self.parts).allSatisfy { !text.contains("/files/\($0)") }, "\(text)")
    }
  }

  // MARK: tuspyserver

  /// An unnoticed skip would look like a pass.
  private static let isPossible: Bool = {
    guard TusServer.python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of tus need tuspyserver and uvicorn; run scripts/setup test\n\n".utf8))
    return false
  }()

  @Test(.enabled(if: isPossible, "tuspyserver is needed: scripts/setup test"), .timeLimit(.minutes(3)))
  func `arrives at tuspyserver in spite of kills`() async throws {
    let server = try await TusServer.start()
    let proxy = try await FaultProxy.start(
      before: server.origin, faults: #"{"match": "^PATCH", "delay": 0.05}"#)
    let job = try job(server.url.replacing(server.origin, with: proxy.url) + "/")
    let size = 20_000_000
    try write(size, to: job)
    var kills = 0
    for number in 1...3 {
      let run = try job.start(["run", "job.yaml", "--quiet"])
      func count() -> Int { server.responses.count { $0 == "PATCH 204" } }
      let enough = count() + 6 * number
      while run.isRunning, count() < enough { try await Task.sleep(for: .milliseconds(2)) }
      if run.isRunning { kills += 1 }
      run.signal(SIGKILL)
      _ = await run.end()
    }
    let last = try await job.ferry("run", "job.yaml")
    #expect(last.status == 0, "\(last.stdout)\(last.stderr)")
    #expect(kills > 0 && server.responses.contains("HEAD 200"))
    let complete = try server.complete
    // The server also reports each partial upload as complete.
    let files = complete.filter { $0.metadata["filename"] == "f" }
    #expect(files.count == 1)
    let path = files.first?.path ?? ""
    #expect(try await TestFiles.digests(of: [path], under: "/")[path] == digest(job))
    await server.stop()
  }
}
