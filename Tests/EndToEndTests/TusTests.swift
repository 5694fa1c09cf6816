import Foundation
import Testing

/// `transfer.protocol: tus` against a server of this project that rejects every request that the protocol forbids.
@Suite struct `A tus upload to a strict server` {
  static let chunk = 256 << 10

  /// - Parameters:
  ///   - transfer: keys of the transfer, each indented by six spaces.
  ///   - token: keys of the token's `apply`; `nil` if there is no token.
  private func job(
    _ server: StrictTusServer, chunked: Bool = true, transfer: String = "", token: String? = nil,
    allocate: String = "", retries: Int = 5, after: String = "keep"
  ) throws -> Workspace {
    let tokens = """
      tokens:
        login:
          session: s
          request: { method: POST, url: "\(server.url)/token" }
          capture: { access_token: { json: /access_token, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access_token}"\(token ?? "") }

      """
    return try Workspace(
      """
      version: 1
      name: tus
      sessions: { s: { kind: background, max_connections_per_host: 1 } }
      \(token == nil ? "" : tokens)uploads:
        files:
          session: s
          \(token == nil ? "deliver: when_changed" : "token: login")
          files: { root: files }
          retry: { limit: \(retries), initial: 10ms }
          after: \(after)
      \(allocate)    transfer:
            protocol: tus
      \(chunked ? "      chunk_size: 256KiB\n" : "")\(transfer)\
            request: { url: "\(allocate.isEmpty ? server.url + "/files" : "${allocate.link}")" }

      """)
  }

  private func write(_ count: Int, to job: Workspace, seed: UInt64 = 1) throws {
    var random = SplitMix(seed: seed)
    try job.folder.write(random.bytes(count), to: "files/f")
  }

  private func digest(_ job: Workspace) async throws -> String {
    try await TestFiles.digests(of: ["f"], under: job.folder.path("files"))["f"] ?? ""
  }

  /// Runs the job, and checks that the server has stored its file unchanged.
  ///
  /// - Parameter isFirst: whether no earlier run has sent a part of the file.
  private func deliver(_ job: Workspace, to server: StrictTusServer, isFirst: Bool = true) async throws
    -> (log: StrictTusServer.Log, report: RunReport)
  {
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    let digest = try await digest(job)
    #expect(log.uploads.last?.sha256 == digest)
    #expect(log.violations.isEmpty)
    if isFirst { #expect(report.totals.bytes.useful == log.uploads.last?.size) }
    return (log, report)
  }

  @Test(
    arguments: [true, false], [(0, 0), (1, 1), (Self.chunk, 1), (Self.chunk + 1, 2), (2 * Self.chunk, 2)])
  func `arrives unchanged, whatever its size`(_ chunked: Bool, sizes: (bytes: Int, parts: Int)) async throws {
    let server = try await StrictTusServer.start()
    let job = try job(server, chunked: chunked)
    try write(sizes.bytes, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.uploads.map(\.size) == [sizes.bytes])
    #expect(log.patches == (chunked ? sizes.parts : min(sizes.parts, 1)))
    // No response reports that an empty upload is complete, so ferry queries it.
    #expect(log.heads == (sizes.bytes == 0 ? 1 : 0) && log.deletes == 0)
    #expect(report.totals.bytes.resent == 0)
    // The second run sends no request.
    let again = try await job.run()
    #expect(again.report.totals.requests == 0)
  }

  @Test func `that is empty is deleted after its delivery`() async throws {
    let server = try await StrictTusServer.start()
    let job = try job(server, after: "delete")
    try write(0, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let after = try #require(report.node("files")?.after)
    #expect(after.deleted == 1 && after.problems.isEmpty, "\(after)")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("files/f")))
    #expect(try await server.log().uploads.map(\.size) == [0])
  }

  /// The server creates the upload, and then the file gets its first byte.
  @Test func `that is empty is not complete if its file has grown`() async throws {
    let folder = try TemporaryFolder()
    let fault = """
        if method == "HEAD":
          with open("\(folder.path("f"))", "ab") as file: file.write(b"x")
          return ("status", 503)
        return None
      """
    let server = try await StrictTusServer.start(fault: fault)
    let job = try job(server)
    let text = job.folder.text("job.yaml").replacing("root: files", with: "root: \(folder.path(""))")
    try job.write(manifest: text)
    try folder.write(Data(), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(report.items.first?.reason?.code == "source_changed", "\(command.stdout)")
  }

  @Test func `is deleted if the next run finds that the server has the whole file`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('silent', 0) if method == 'PATCH' else None")
    let job = try job(server, retries: 0, after: "delete")
    try write(Self.chunk, to: job)
    #expect(try await job.run().command.status != 0)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let after = try #require(report.node("files")?.after)
    #expect(after.deleted == 1 && after.problems.isEmpty, "\(after)")
    let log = try await server.log()
    #expect(log.patches == 1 && log.heads == 1 && log.violations.isEmpty)
  }

  @Test func `has metadata with any characters`() async throws {
    let server = try await StrictTusServer.start()
    let metadata = """
            metadata: { filename: "${file.name}", empty: "", spaces: "  a b  ", is-public: "ja, ä 日本" }

      """
    let job = try job(server, transfer: metadata)
    try job.write("text", to: "Grüße, aus Köln \"😀\".txt")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    #expect(log.violations.isEmpty)
    #expect(
      log.uploads.map(\.metadata) == [
        [
          "filename": "Grüße, aus Köln \"😀\".txt", "empty": "", "spaces": "  a b  ",
          "is-public": "ja, ä 日本",
        ]
      ])
  }

  @Test(.timeLimit(.minutes(3)), arguments: [1, 2])
  func `continues at the offset of the server after each kill`(_ seed: UInt64) async throws {
    let server = try await StrictTusServer.start(fault: "  return 'slow', 0.1")
    let job = try job(server)
    let size = 5_000_000
    try write(size, to: job, seed: seed)
    let (kills, end) = try await job.runWithKills(atMost: 8, after: 1...3, in: 0..<100, seed: seed) {
      try await server.log().patches
    }
    #expect(end.status == 0, "\(end.stderr)")
    let digest = try await digest(job)
    let log = try await server.log()
    let upload = try #require(log.uploads.last)
    #expect(upload.sha256 == digest)
    #expect(log.violations.isEmpty)
    // If a kill comes before the response to the creation is recorded, an upload without bytes remains.
    #expect(log.uploads.dropLast().allSatisfy { $0.received == 0 })
    #expect(kills > 2 && log.heads > 0, "\(kills) kills, \(log.heads) queries")
    #expect(upload.received - size <= kills * Self.chunk, "at most what was in flight is received twice")
  }

  @Test func `continues inside a part whose connection was dropped`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('drop', 100000) if method == 'PATCH' and number in [2, 4] else None")
    let job = try job(server)
    try write(5 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    let first = Self.chunk + 100_000
    let second = first + Self.chunk + 100_000
    #expect(
      log.offsets == [
        0, Self.chunk, first, first + Self.chunk, second, second + Self.chunk, second + 2 * Self.chunk,
      ])
    #expect(log.heads == 2 && log.uploads.map(\.received) == [5 * Self.chunk])
  }

  @Test func `continues inside a file that is sent in one request`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('drop', 3000000) if method == 'PATCH' and number < 4 else None")
    let job = try job(server, chunked: false)
    try write(10_000_000, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.offsets == [0, 3_000_000, 6_000_000, 9_000_000])
    #expect(log.uploads.map(\.received) == [10_000_000])
  }

  @Test func `keeps its offset when its token is rejected`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('status', 401) if method == 'PATCH' and number == 3 else None")
    let job = try job(server, token: "")
    try write(5 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.tokens == 2 && log.heads == 0 && log.uploads.count == 1)
    #expect(log.offsets == [0, 1, 2, 2, 3, 4].map { $0 * Self.chunk })
    #expect(report.totals.bytes.resent == Self.chunk)
  }

  @Test(arguments: [404, 410, 403], ["PATCH", "HEAD"])
  func `starts over when the server no longer has it`(_ status: Int, _ method: String) async throws {
    let drop = method == "HEAD" ? "('drop', 5) if method == 'PATCH' and number == 2 else None" : "None"
    let number = method == "HEAD" ? 1 : 3
    let server = try await StrictTusServer.start(
      fault: "  return ('gone', \(status)) if method == '\(method)' and number == \(number) else \(drop)")
    let job = try job(server)
    try write(4 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.creations == 2 && log.deletes == 0)
    #expect(log.uploads.map { $0.stored == $0.size } == [false, true])
    #expect(report.totals.idsExpired == 1)
  }

  @Test func `asks for the offset after a conflict`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('conflict', 100000) if method == 'PATCH' and number == 3 else None")
    let job = try job(server)
    try write(3 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.heads == 1 && log.uploads.count == 1)
    #expect(log.offsets == [0, Self.chunk, 2 * Self.chunk] + [0, 1, 2].map { 100_000 + $0 * Self.chunk })
  }

  @Test func `waits for a lock`() async throws {
    let server = try await StrictTusServer.start(
      fault:
        "  return ('status', 423) if method == 'PATCH' and number == 2 or method == 'HEAD' and number < 4 else None"
    )
    let job = try job(server)
    try write(3 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.heads == 4 && log.uploads.count == 1)
    #expect(log.offsets == [0, 1, 1, 2].map { $0 * Self.chunk })
    #expect(log.uploads.map(\.received) == [3 * Self.chunk])
    #expect(report.totals.bytes.resent == Self.chunk)
  }

  @Test func `fails with the method of the request that the server refused`() async throws {
    let server = try await StrictTusServer.start(
      fault:
        "  return ('drop', 5) if method == 'PATCH' and number == 2 else ('status', 400) if method == 'HEAD' else None"
    )
    let job = try job(server)
    try write(3 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.map(\.reason?.message) == ["the server responded with 400 to HEAD"])
  }

  @Test(arguments: [1, 3, 5])
  func `asks for the offset after a lost response`(_ number: Int) async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('silent', 0) if method == 'PATCH' and number == \(number) else None")
    let job = try job(server)
    try write(5 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.patches == 5 && log.heads == 1 && log.uploads.map(\.received) == [5 * Self.chunk])
    #expect(report.totals.bytes.resent == 0)
  }

  @Test func `is created again after a lost response to the creation`() async throws {
    let server = try await StrictTusServer.start(["bodyless"])
    let job = try job(server)
    try write(Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.uploads.map(\.stored) == [0, Self.chunk])
  }

  @Test func `sends again what the server has lost`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('lose', 100000) if method == 'PATCH' and number == 3 else None")
    let job = try job(server)
    try write(5 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.uploads.map(\.received) == [5 * Self.chunk + 3 * Self.chunk - 100_000])
    #expect(report.totals.bytes.resent == 3 * Self.chunk - 100_000)
  }

  @Test(arguments: [false, true])
  func `starts over in the next run if its file changes`(_ keeps: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("f")
    let fault = """
        if method == "PATCH" and number == 3:
          with open("\(path)", "ab") as file: file.write(b"x")
        return None
      """
    let server = try await StrictTusServer.start(fault: fault, keeps ? ["keep"] : [])
    let job = try job(server)
    let text = job.folder.text("job.yaml").replacing("root: files", with: "root: \(folder.path(""))")
    try job.write(manifest: text)
    var random = SplitMix(seed: 3)
    try folder.write(random.bytes(5 * Self.chunk), to: "f")
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(report.items.first?.reason?.code == "source_changed", "\(command.stdout)")
    // The unused upload is terminated. A server without this extension responds with 405, which does not count as a
    // failure.
    var log = try await server.log()
    #expect(log.deletes == 1 && log.uploads.map(\.deleted) == [!keeps])
    let second = try await job.run()
    #expect(second.command.status == 0, "\(second.command.stdout)\(second.command.stderr)")
    log = try await server.log()
    #expect(log.deletes == 1 && log.violations.isEmpty)
    #expect(log.uploads.map(\.size) == [5 * Self.chunk, 5 * Self.chunk + 1])
    let digests = try await TestFiles.digests(of: ["f"], under: folder.path(""))
    #expect(log.uploads.last?.sha256 == digests["f"])
    let orphans = try await job.ferry("orphans", "--manifest", "job.yaml")
    #expect(!orphans.stdout.contains("/files/"), "\(orphans.stdout)")
  }

  @Test func `is terminated if it fails`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('status', 413) if method == 'PATCH' and number == 2 else None")
    let job = try job(server)
    try write(2 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.code == "http_status")
    let log = try await server.log()
    #expect(log.uploads.map(\.deleted) == [true] && log.violations.isEmpty)
  }

  @Test(arguments: [[], ["relative"], ["elsewhere"], ["query"], ["query", "relative"], ["mute"]])
  func `is sent to its Location`(_ options: [String]) async throws {
    let fault = "  return ('drop', 9) if method == 'PATCH' and number == 1 else None"
    let server = try await StrictTusServer.start(fault: fault, options)
    let job = try job(server)
    try write(Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.uploads.count == 1 && log.offsets == [0, 9])
  }

  @Test func `at another origin gets no token unless the manifest allows it`() async throws {
    let server = try await StrictTusServer.start(["elsewhere"])
    let refused = try job(server, token: "")
    try write(Self.chunk, to: refused)
    let (command, report) = try await refused.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(
      report.items.first?.reason?.message.contains("to the token's 'apply'") == true, "\(command.stdout)")
    #expect(try await server.log().patches == 0)
    let other = try await server.log().other
    let allowed = try job(server, token: ", origins: [\"\(other)\"]")
    try write(Self.chunk, to: allowed)
    _ = try await deliver(allowed, to: server)
  }

  @Test func `may be created by a separate API`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('drop', 9) if method == 'PATCH' and number == 2 else None")
    let job = try job(
      server,
      allocate: """
            allocate:
              request: { method: POST, url: "\(server.url)/api/videos", json: { size: "${file.size}" } }
              capture: { link: { json: /upload/upload_link, secret: true } }

        """)
    try write(3 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.creations == 0 && log.uploads.count == 1 && log.heads == 1)
  }

  @Test(arguments: ["sha1", "crc32"])
  func `has a checksum in each part, and sends a damaged one again`(_ algorithm: String) async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('corrupt', 0) if method == 'PATCH' and number in [2, 3] else None")
    let metadata = "      metadata: { sha256: \"${file.sha256}\" }\n"
    let job = try job(server, transfer: "      checksum: \(algorithm)\n" + metadata)
    try write(2 * Self.chunk + 9, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.checksums == Array(repeating: algorithm, count: 5))
    #expect(log.uploads.map(\.metadata["sha256"]) == log.uploads.map(\.sha256))
    #expect(log.offsets == [0, 1, 1, 1, 2].map { $0 * Self.chunk } && log.heads == 2)
    #expect(report.totals.bytes.resent == 2 * Self.chunk)
  }

  @Test func `with a checksum is sent in parts, also without a chunk size`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('drop', 100000) if method == 'PATCH' and number == 2 else None")
    let job = try job(server, chunked: false, transfer: "      checksum: sha1\n")
    try write(21_000_000, to: job)
    let (log, _) = try await deliver(job, to: server)
    // The server discards an incomplete part, because it cannot verify its checksum.
    #expect(log.offsets == [0, 10 << 20, 10 << 20, 20 << 20])
  }

  @Test func `waits for the next run if its parts are damaged repeatedly`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('corrupt', 0) if method == 'PATCH' and number < 7 else None")
    let job = try job(server, transfer: "      checksum: crc32\n")
    try write(Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.status == 460)
    // The first attempt was followed by five retries.
    #expect(try await server.log().patches == 6)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.patches == 7 && log.uploads.count == 1)
  }

  @Test(arguments: [
    ("('offset', '999999999')", "999999999"), ("('offset', 'x')", "malformed"),
    ("('offset', '-1')", "malformed"),
  ])
  func `fails if the server states an impossible offset`(_ fault: String, _ message: String) async throws {
    let server = try await StrictTusServer.start(fault: "  return \(fault) if method == 'PATCH' else None")
    let job = try job(server)
    try write(2 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.code == "unexpected_answer")
    #expect(report.items.first?.reason?.message.contains(message) == true)
    #expect(try await server.log().patches == 1)
  }

  // MARK: Expiry

  /// Kills a run while it sends the part with this number, and then waits.
  private func interrupt(
    _ job: Workspace, at part: Int, _ server: StrictTusServer, seconds: Int
  ) async throws {
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while run.isRunning, try await server.log().patches < part {
      try await Task.sleep(for: .milliseconds(50))
    }
    run.signal(SIGKILL)
    _ = await run.end()
    try await Task.sleep(for: .seconds(seconds))
  }

  @Test func `that has expired is not used`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('slow', 3 if number == 3 else 0.1) if method == 'PATCH' and number < 4 else None",
      ["ends=6"])
    let job = try job(server)
    try write(6 * Self.chunk, to: job)
    try await interrupt(job, at: 3, server, seconds: 6)
    let (log, _) = try await deliver(job, to: server, isFirst: false)
    // ferry neither queries nor resumes the expired upload. The response to its termination is 410.
    #expect(log.creations == 2 && log.heads == 0)
    let orphans = try await job.ferry("orphans", "--manifest", "job.yaml")
    #expect(!orphans.stdout.contains("/files/"), "\(orphans.stdout)")
  }

  @Test func `is continued after the first expiry if a part has extended it`() async throws {
    let fault = "  return ('slow', 1 if number < 3 else 3) if method == 'PATCH' and number < 4 else None"
    let server = try await StrictTusServer.start(fault: fault, ["lives=12"])
    let job = try job(server)
    try write(6 * Self.chunk, to: job)
    // The upload is created with an expiry of 12 seconds, and the first two parts take 8. The upload is resumed after
    // about 13 seconds.
    try await interrupt(job, at: 3, server, seconds: 5)
    let (log, _) = try await deliver(job, to: server, isFirst: false)
    #expect(log.creations == 1 && log.heads == 1)
  }

  @Test func `does not expire if the date of its expiry is malformed`() async throws {
    let server = try await StrictTusServer.start(["undated"])
    let job = try job(server)
    try write(3 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.creations == 1 && log.heads == 0)
  }

  // MARK: Creation with bytes

  private static let creation = "      creation: with_upload\n"

  @Test(
    arguments: [true, false], [(0, 0), (1, 1), (Self.chunk, 1), (Self.chunk + 1, 2), (2 * Self.chunk, 2)])
  func `created with bytes arrives unchanged, whatever its size`(
    _ chunked: Bool, sizes: (bytes: Int, parts: Int)
  ) async throws {
    let server = try await StrictTusServer.start()
    let metadata = "      metadata: { filename: \"${file.name}\" }\n"
    let job = try job(server, chunked: chunked, transfer: Self.creation + metadata)
    try write(sizes.bytes, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.creations == 1 && log.patches == (chunked ? max(0, sizes.parts - 1) : 0))
    // Creating the upload of an empty file also completes it.
    #expect(log.heads == 0 && log.deletes == 0)
    #expect(log.uploads.map(\.metadata) == [["filename": "f"]])
    #expect(report.totals.bytes.resent == 0)
    let again = try await job.run()
    #expect(again.report.totals.requests == 0)
  }

  @Test func `whose server takes no bytes with the creation begins with its first part`() async throws {
    let server = try await StrictTusServer.start(["empty"])
    let job = try job(server, transfer: Self.creation)
    try write(2 * Self.chunk, to: job)
    let (log, report) = try await deliver(job, to: server)
    #expect(log.creations == 1 && log.offsets == [0, Self.chunk] && log.heads == 0)
    #expect(report.totals.bytes.resent == Self.chunk)
  }

  @Test(arguments: ["('silent', 0)", "('drop', 100000)"])
  func `is created again if the response to a creation with bytes is lost`(_ fault: String) async throws {
    let server = try await StrictTusServer.start(
      fault: "  return \(fault) if method == 'POST' and number == 1 else None")
    let job = try job(server, transfer: Self.creation)
    try write(2 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.creations == 2 && log.offsets == [Self.chunk])
  }

  @Test(arguments: ["relative", "elsewhere", "query"])
  func `created with bytes is continued at its Location`(_ option: String) async throws {
    let fault = "  return ('drop', 9) if method == 'PATCH' and number == 1 else None"
    let server = try await StrictTusServer.start(fault: fault, [option])
    let job = try job(server, transfer: Self.creation + "      checksum: sha1\n")
    try write(2 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.uploads.count == 1 && log.heads == 1)
    #expect(log.checksums == ["sha1", "sha1"])
  }

  @Test func `created with damaged bytes is created again`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('corrupt', 0) if method == 'POST' and number == 1 else None")
    let job = try job(server, transfer: Self.creation + "      checksum: crc32\n")
    try write(2 * Self.chunk, to: job)
    let (log, _) = try await deliver(job, to: server)
    #expect(log.creations == 2 && log.uploads.map(\.stored) == [0, 2 * Self.chunk])
  }

  @Test(.timeLimit(.minutes(3)))
  func `created with bytes continues at the offset of the server after each kill`() async throws {
    // The creation is recorded in the journal before the first part has been sent.
    let fault = "  return ('slow', 3 if number in [2, 4, 6] else 0.1) if method == 'PATCH' else None"
    let server = try await StrictTusServer.start(fault: fault)
    let job = try job(server, transfer: Self.creation)
    let size = 12 * Self.chunk
    try write(size, to: job)
    for part in [2, 4, 6] { try await interrupt(job, at: part, server, seconds: 0) }
    let (log, _) = try await deliver(job, to: server, isFirst: false)
    #expect(log.creations == 1 && log.heads == 3)
    let received = log.uploads.map(\.received).reduce(0, +)
    #expect(received - size <= 3 * Self.chunk, "at most what was in flight is received twice")
  }

  @Test func `created with bytes is terminated if it fails`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('status', 413) if method == 'PATCH' and number == 1 else None")
    let job = try job(server, transfer: Self.creation)
    try write(2 * Self.chunk, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.reason?.code == "http_status")
    let log = try await server.log()
    #expect(log.uploads.map(\.deleted) == [true] && log.violations.isEmpty)
  }

  @Test func `created with bytes expires`() async throws {
    let server = try await StrictTusServer.start(
      fault: "  return ('slow', 3 if number == 3 else 0.1) if method == 'PATCH' and number < 4 else None",
      ["ends=6"])
    let job = try job(server, transfer: Self.creation)
    try write(6 * Self.chunk, to: job)
    try await interrupt(job, at: 3, server, seconds: 6)
    let (log, _) = try await deliver(job, to: server, isFirst: false)
    #expect(log.creations == 2 && log.heads == 0)
  }
}
