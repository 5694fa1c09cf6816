import Foundation
import Testing

/// `transfer.protocol: content_range` against a server of upload sessions.
@Suite struct `An upload in parts` {
  private static let chunk = 256 << 10

  private func job(_ server: SessionServer, _ style: String = "google", token: Bool = false) throws
    -> Workspace
  {
    let tokens = """
      tokens:
        login:
          session: s
          request: { method: POST, url: "\(server.url)/token" }
          capture: { access_token: { json: /access_token, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access_token}" }

      """
    return try Workspace(
      """
      version: 1
      name: parts
      sessions: { s: { kind: background, max_connections_per_host: 1 } }
      \(token ? tokens : "")uploads:
        files:
          session: s
          \(token ? "token: login" : "deliver: when_changed")
          files: { root: files }
          retry: { limit: 5, initial: 10ms }
          allocate:
            request: { method: POST, url: "\(server.url)/\(style)" }
            capture: { session: { header: Location } }
            valid_for: 1d
          transfer:
            protocol: content_range
            chunk_size: 256KiB
            \(style == "google" ? "offset_query: put" : "offset_query: get")
            request: { url: "${allocate.session}" }

      """)
  }

  private func write(_ count: Int, to job: Workspace, seed: UInt64 = 1) throws {
    var random = SplitMix(seed: seed)
    try job.folder.write(random.bytes(count), to: "files/f")
  }

  private func digest(_ job: Workspace) async throws -> String {
    try await TestFiles.digests(of: ["f"], under: job.folder.path("files"))["f"] ?? ""
  }

  @Test(
    arguments: ["google", "graph"],
    [(0, 1), (1, 1), (Self.chunk, 1), (Self.chunk + 1, 2), (2 * Self.chunk, 2)])
  func `arrives unchanged, whatever its size`(_ style: String, sizes: (bytes: Int, parts: Int)) async throws {
    let server = try await SessionServer.start()
    let job = try job(server, style)
    try write(sizes.bytes, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.sessions.map(\.sha256) == [digest])
    #expect(log.sessions.map(\.done) == [true])
    #expect(log.parts == sizes.parts && log.queries == 0)
    #expect(report.totals.bytes.useful == sizes.bytes && report.totals.bytes.resent == 0)
    // The second run sends no request.
    let again = try await job.run()
    #expect(again.report.totals.requests == 0)
  }

  @Test(.timeLimit(.minutes(3)), arguments: ["google", "graph"])
  func `continues at the offset of the server after each kill`(_ style: String) async throws {
    let server = try await SessionServer.start(fault: "  return 'slow', 0.03")
    let job = try job(server, style)
    let size = 5_000_000
    try write(size, to: job)
    let (kills, end) = try await job.runWithKills(atMost: 8, after: 1...3, in: 0..<40, seed: 7) {
      try await server.log().parts
    }
    #expect(end.status == 0, "\(end.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    let session = try #require(log.sessions.last)
    #expect(session.sha256 == digest && session.done)
    // If a kill comes before the response to the allocation is recorded, a session without bytes remains.
    #expect(log.sessions.dropLast().allSatisfy { $0.received == 0 })
    #expect(kills > 2 && log.queries > 0, "\(kills) kills, \(log.queries) queries")
    #expect(session.received - size <= kills * Self.chunk, "at most what was in flight is received twice")
  }

  @Test func `keeps its offset when its token is rejected`() async throws {
    let server = try await SessionServer.start(fault: "  return ('status', 401) if number == 3 else None")
    let job = try job(server, token: true)
    try write(5 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.sessions.map(\.sha256) == [digest])
    #expect(log.tokens == 2 && log.parts == 6 && log.queries == 0)
    #expect(report.totals.bytes.useful == 5 * Self.chunk && report.totals.bytes.resent == Self.chunk)
  }

  @Test func `starts over when its session has ended`() async throws {
    let server = try await SessionServer.start(fault: "  return ('gone', 0) if number == 3 else None")
    let job = try job(server)
    try write(4 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.sessions.map(\.done) == [false, true])
    #expect(log.sessions.last?.sha256 == digest)
    #expect(report.totals.idsExpired == 1)
    #expect(report.totals.bytes.useful == 4 * Self.chunk && report.totals.bytes.resent == 3 * Self.chunk)
  }

  @Test(arguments: [
    "('status', 503) if number == 3 else None", "('status', 500) if number == 3 else None",
    "('drop', 100000) if number in [2, 4] else None", "('silent', 0) if number == 3 else None",
    "('silent', 0) if number == 5 else None",
  ])
  func `asks for the offset after a fault`(_ fault: String) async throws {
    let server = try await SessionServer.start(fault: "  return \(fault)")
    let job = try job(server)
    try write(5 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.sessions.map(\.sha256) == [digest])
    // The server has received each byte of the file once.
    #expect(log.sessions.first?.received == 5 * Self.chunk)
    #expect(log.queries > 0)
    #expect(report.totals.bytes.useful == 5 * Self.chunk)
  }

  @Test func `sends again what the server has lost`() async throws {
    let server = try await SessionServer.start(fault: "  return ('lose', 100000) if number == 3 else None")
    let job = try job(server)
    try write(5 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.sessions.map(\.sha256) == [digest])
    let received = 5 * Self.chunk + 3 * Self.chunk - 100_000
    #expect(log.sessions.first?.received == received)
    #expect(report.totals.bytes.useful == 5 * Self.chunk)
    #expect(report.totals.bytes.resent == received - 5 * Self.chunk)
  }

  @Test func `fails if its file changes, and the next run starts over`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("changing")
    let changing = try await SessionServer.start(
      fault: """
          if number == 3:
            with open("\(path)", "ab") as file: file.write(b"x")
          return None
        """)
    let job = try job(changing)
    let text = job.folder.text("job.yaml").replacing("root: files", with: "root: \(folder.path(""))")
    try job.write(manifest: text)
    var random = SplitMix(seed: 3)
    try folder.write(random.bytes(5 * Self.chunk), to: "changing")
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(report.items.first?.reason?.code == "source_changed", "\(command.stdout)")
    let second = try await job.run()
    #expect(second.command.status == 0, "\(second.command.stdout)")
    let log = try await changing.log()
    #expect(log.sessions.map(\.done) == [false, true])
    #expect(log.sessions.last?.size == 5 * Self.chunk + 1)
    let digests = try await TestFiles.digests(of: ["changing"], under: folder.path(""))
    #expect(log.sessions.last?.sha256 == digests["changing"])
  }

  /// The new file has the same size and time as the old one.
  @Test func `starts over if its file was replaced before it was resumed`() async throws {
    let server = try await SessionServer.start(fault: "  return ('slow', 0.05)")
    let job = try job(server)
    try job.write(manifest: job.folder.text("job.yaml") + "    after: delete\n")
    try write(8 * Self.chunk, to: job, seed: 1)
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while run.isRunning, try await server.log().parts < 3 { try await Task.sleep(for: .milliseconds(5)) }
    run.signal(SIGKILL)
    _ = await run.end()
    let (file, new) = (job.folder.path("files/f"), job.folder.path("new"))
    var random = SplitMix(seed: 2)
    try job.folder.write(random.bytes(8 * Self.chunk), to: "new")
    let copied = try await Command.run("touch", ["-r", file, new])
    #expect(copied.status == 0 && rename(new, file) == 0)
    let digest = try await self.digest(job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    #expect(log.sessions.map(\.done) == [false, true])
    #expect(log.sessions.last?.sha256 == digest)
  }

  /// The file is not listed: it was submitted. The server has a part of the old file.
  @Test func `fails if its submitted file was replaced before it was resumed`() async throws {
    let server = try await SessionServer.start(fault: "  return ('slow', 0.05)")
    let job = try job(server)
    try job.write(
      manifest: job.folder.text("job.yaml").replacing("root: files", with: "root: files, include: [none]"))
    try write(8 * Self.chunk, to: job, seed: 1)
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/f").status == 0)
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while run.isRunning, try await server.log().parts < 3 { try await Task.sleep(for: .milliseconds(5)) }
    // The journal then has the part of the file that the server has.
    run.signal(SIGINT)
    run.signal(SIGINT)
    _ = await run.end()
    let (file, new) = (job.folder.path("files/f"), job.folder.path("new"))
    var random = SplitMix(seed: 2)
    try job.folder.write(random.bytes(8 * Self.chunk), to: "new")
    let copied = try await Command.run("touch", ["-r", file, new])
    #expect(copied.status == 0 && rename(new, file) == 0)
    let (command, report) = try await job.run()
    #expect(command.status != 0, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.code == "source_changed", "\(command.stdout)")
    #expect(try await server.log().sessions.map(\.done) == [false])
  }

  @Test func `fails if the server does not state its offset`() async throws {
    let server = try await SessionServer.start(fault: "  return ('drop', 1000) if number == 1 else None")
    let job = try job(server, "mute")
    try write(Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.message.contains("contains no offset") == true)
  }

  /// The examples, with this server in place of Google's and Microsoft's servers.
  @Test(arguments: ["google-drive", "onedrive"])
  func `works as in the examples`(_ name: String) async throws {
    let server = try await SessionServer.start(fault: "  return ('drop', 5000) if number == 1 else None")
    let folder = try TemporaryFolder()
    var random = SplitMix(seed: 5)
    try folder.write(random.bytes(300_000), to: "files/f")
    let command = try await Command.run(
      Product.path("ferry"),
      ["run", Product.source("examples/\(name).yaml"), "--state", folder.path("state")],
      environment: [
        "UPLOAD_API": server.url, "UPLOAD_LOGIN": server.url, "UPLOAD_ROOT": folder.path("files"),
        "CLIENT_ID": "id", "CLIENT_SECRET": "secret of the client", "REFRESH_TOKEN": "token of the client",
      ])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    let digests = try await TestFiles.digests(of: ["f"], under: folder.path("files"))
    #expect(log.sessions.map(\.sha256) == [digests["f"]])
    #expect(log.queries == 1)
  }
}
