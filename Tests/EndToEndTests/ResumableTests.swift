import Foundation
import Testing

/// `transfer.protocol: resumable` against a strict server of the IETF draft.
@Suite struct `A resumable upload` {
  private static let size = 3_000_000

  private func job(
    _ server: ResumableServer, _ more: String = "", method: String = "POST", token: Bool = false,
    steps: String = ""
  ) throws -> Workspace {
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
      name: resumable
      sessions: { s: { kind: background, max_connections_per_host: 1 } }
      \(token ? tokens : "")uploads:
        files:
          session: s
          \(token ? "token: login" : "deliver: when_changed")
          files: { root: files }
          retry: { limit: 5, initial: 10ms }
          transfer:
            protocol: resumable
            \(more.isEmpty ? "interop_version: 6" : more)
            request:
              method: \(method)
              url: "\(server.url)/made"
              headers: { Content-Type: image/png, Content-Disposition: "inline; filename=f" }
          \(steps)

      """)
  }

  private func write(_ count: Int = Self.size, to job: Workspace) throws {
    var random = SplitMix(seed: 1)
    try job.folder.write(random.bytes(count), to: "files/f")
  }

  private func digest(_ job: Workspace) async throws -> String {
    try await TestFiles.digests(of: ["f"], under: job.folder.path("files"))["f"] ?? ""
  }

  @Test(arguments: [0, 1, 1_000, Self.size], ["early", "half", "never", "other"])
  func `arrives in one request, whatever its size`(_ size: Int, interim: String) async throws {
    let server = try await ResumableServer.start(#"{"interim": "\#(interim)"}"#)
    let job = try job(server)
    try write(size, to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [])
    #expect(log.uploads.map(\.sha256) == [digest] && log.uploads.map(\.complete) == [true])
    #expect(log.sent == 1 && log.queries == 0 && log.deletes == 0)
    #expect(report.totals.bytes.useful == size && report.totals.bytes.resent == 0)
    let creation = try #require(log.creations.first)
    #expect(
      creation.headers["upload-draft-interop-version"] == "6"
        && creation.headers["content-type"] == "image/png")
    // The second run sends no request.
    let again = try await job.run()
    #expect(again.report.totals.requests == 0)
  }

  @Test(arguments: [3, 4, 5, 6, 7, 8])
  func `continues after a lost connection in each interop version`(_ version: Int) async throws {
    let server = try await ResumableServer.start(
      #"{"version": \#(version), "faults": {"1": ["drop", 1000000], "2": ["drop", 500000]}}"#)
    let job = try job(server, "interop_version: \(version)")
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [])
    #expect(log.uploads.map(\.sha256) == [digest])
    #expect(log.uploads.first?.received == Self.size, "no byte is received twice")
    #expect(log.sent == 3 && log.queries == 2 && log.creations.count == 1)
    #expect(report.totals.bytes.useful == Self.size)
  }

  @Test func `is a plain upload for a server of another interop version`() async throws {
    let server = try await ResumableServer.start(#"{"version": 8}"#)
    let job = try job(server)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.plain == 1 && log.sent == 1 && log.uploads.map(\.sha256) == [digest] && log.violations == [])
  }

  @Test(arguments: [("POST", 1), ("PUT", 2)])
  func `without a resource follows the rules of its method`(_ method: String, requests: Int) async throws {
    let server = try await ResumableServer.start(#"{"ignore": true, "faults": {"1": ["drop", 1000000]}}"#)
    let job = try job(server, method: method)
    try write(to: job)
    let (command, report) = try await job.run()
    let log = try await server.log()
    #expect(log.sent == requests && log.plain == requests)
    #expect(command.status == (requests == 2 ? 0 : 1), "\(command.stdout)")
    #expect(report.items.first?.state == (requests == 2 ? "done" : "ambiguous"))
    // The second run must not repeat the POST, either.
    _ = try await job.run()
    #expect(try await server.log().sent == requests)
  }

  @Test func `is sent in parts if there is a chunk size`() async throws {
    let server = try await ResumableServer.start(
      #"{"interim": "never", "faults": {"3": ["silent", 0], "5": ["drop", 1000]}}"#)
    let job = try job(server, "chunk_size: 1MB")
    try write(3_500_000, to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [] && log.uploads.map(\.sha256) == [digest])
    #expect(log.creations.map(\.size) == [1_000_000] && log.queries == 1)
    #expect(log.uploads.first?.received == 3_500_000)
  }

  @Test func `in parts fails if the server mistakes the first part for the file`() async throws {
    let server = try await ResumableServer.start(#"{"ignore": true}"#)
    let job = try job(server, "chunk_size: 1MB", method: "PUT")
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)")
    #expect(report.items.first?.reason?.message.contains("does not support resumable uploads") == true)
    #expect(try await server.log().sent == 1)
  }

  @Test(.timeLimit(.minutes(3)))
  func `continues at the offset of the server after each kill`() async throws {
    let server = try await ResumableServer.start(#"{"slow": 0.06}"#)
    let job = try job(server)
    try write(5_000_000, to: job)
    // The pause lasts until the journal has recorded the upload resource.
    let (kills, end) = try await job.runWithKills(atMost: 5, after: 1...1, in: 200..<300, seed: 7) {
      try await server.log().sent
    }
    #expect(end.status == 0, "\(end.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [])
    #expect(log.creations.count == 1, "no POST is repeated")
    #expect(log.uploads.map(\.sha256) == [digest])
    // The server either stores the bytes in flight before it responds to the query of the offset, or drops them.
    #expect(log.uploads.first?.received == 5_000_000)
    #expect(kills > 2 && log.queries >= kills, "\(kills) kills, \(log.queries) queries")
  }

  @Test(.timeLimit(.minutes(2)), arguments: ["POST", "PUT"])
  func `without a known resource is repeated after a kill only if its method allows it`(_ method: String)
    async throws
  {
    let server = try await ResumableServer.start(#"{"slow": 0.05, "interim": "never"}"#)
    let job = try job(server, method: method)
    try write(to: job)
    let run = try job.start(["run", "job.yaml", "--quiet"])
    while run.isRunning, try await server.log().sent == 0 { try await Task.sleep(for: .milliseconds(5)) }
    try await Task.sleep(for: .milliseconds(300))
    run.signal(SIGKILL)
    _ = await run.end()
    let (command, report) = try await job.run()
    #expect(report.items.first?.state == (method == "PUT" ? nil : "ambiguous"), "\(command.stdout)")
    #expect(command.status == (method == "PUT" ? 0 : 1))
    #expect(try await server.log().sent == (method == "PUT" ? 2 : 1))
  }

  @Test func `continues with a new token`() async throws {
    let server = try await ResumableServer.start(#"{"tokens": true, "faults": {"1": ["reject", 0]}}"#)
    let job = try job(server, token: true)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [] && log.uploads.map(\.sha256) == [digest])
    #expect(log.creations.count == 1 && log.uploads.first?.received == Self.size)
  }

  @Test func `starts over if its resource is gone before the end of the file was sent`() async throws {
    let server = try await ResumableServer.start(#"{"faults": {"2": ["gone", 0]}}"#)
    let job = try job(server, "chunk_size: 1MB")
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [] && log.uploads.map(\.complete) == [false, true])
    #expect(log.uploads.last?.sha256 == digest)
  }

  /// The server has removed the upload after completing it, so ferry cannot determine whether the file was delivered.
  @Test(arguments: [("POST", 1), ("PUT", 2)])
  func `that may be complete starts over only if it may be repeated`(_ method: String, uploads: Int)
    async throws
  {
    let server = try await ResumableServer.start(#"{"forget": true, "faults": {"1": ["silent", 0]}}"#)
    let job = try job(server, method: method)
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(report.items.first?.state == (uploads == 2 ? "done" : "ambiguous"), "\(command.stdout)")
    let log = try await server.log()
    #expect(log.uploads.count == uploads && log.violations == [])
  }

  @Test(arguments: [true, false])
  func `that was completed without a response is not sent again`(_ replays: Bool) async throws {
    let server = try await ResumableServer.start(#"{"replay": \#(replays), "faults": {"1": ["silent", 0]}}"#)
    let job = try job(server)
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    #expect(log.violations == [] && log.creations.count == 1 && log.empty == 1)
    #expect(log.uploads.first?.received == Self.size)
    #expect(report.items.first?.state ?? "done" == "done")
  }

  @Test func `passes the captures of the repeated response to its commit`() async throws {
    let server = try await ResumableServer.start(#"{"faults": {"1": ["silent", 0]}}"#)
    let job = try job(
      server,
      "capture: { made: { header: X-Result } }",
      steps: #"commit: { request: { method: PUT, url: "\#(server.url)/commit/${transfer.made}" } }"#)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await server.log().violations == [])
  }

  /// The server does not repeat the response with the capture. Only a new upload has it again.
  @Test(arguments: [("POST", "ambiguous", 1), ("PUT", "done", 2)])
  func `without the captures of its response is sent again only if its method allows it`(
    _ method: String, _ state: String, creations: Int
  ) async throws {
    let server = try await ResumableServer.start(#"{"replay": false, "faults": {"1": ["silent", 0]}}"#)
    let job = try job(
      server, "capture: { made: { header: X-Result } }", method: method,
      steps: #"commit: { request: { method: PUT, url: "\#(server.url)/commit/${transfer.made}" } }"#)
    try write(1_000, to: job)
    let (command, report) = try await job.run()
    #expect(report.items.first?.state == state, "\(command.stdout)\(command.stderr)")
    _ = try await job.run()
    let log = try await server.log()
    #expect(log.violations == [] && log.creations.count == creations)
  }

  /// The first request has a resource, but was not executed. The response to the second one is lost.
  @Test(arguments: ["challenge", "redirect"])
  func `is executed once if its first request was referred elsewhere`(_ kind: String) async throws {
    let server = try await ResumableServer.start(
      #"{"refer": "\#(kind)", "faults": {"1": ["silent", 0]}}"#)
    let auth = kind == "challenge" ? "\n      auth: { scheme: basic, user: u, password: p }" : ""
    let job = try job(server, "interop_version: 6" + auth)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    #expect(log.violations == [] && log.creations.count == 1)
    // The resource that precedes the redirect of the second attempt is ignored.
    let given = kind == "challenge" ? [false] : [false, false]
    #expect(log.uploads.map(\.complete) == given + [true])
    #expect(log.uploads.first?.gone == true && log.deletes == 1)
  }

  @Test func `asks for the offset after a conflict`() async throws {
    let server = try await ResumableServer.start(
      #"{"faults": {"1": ["drop", 1000000], "2": ["lag", 1000]}}"#)
    let job = try job(server)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [] && log.uploads.map(\.sha256) == [digest])
    #expect(log.queries == 2)
  }

  @Test(arguments: [500, 503])
  func `continues after an error of the server`(_ status: Int) async throws {
    let server = try await ResumableServer.start(#"{"faults": {"1": ["status", \#(status)]}}"#)
    let job = try job(server)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    #expect(log.violations == [] && log.creations.count == 1 && log.queries == 1)
  }

  @Test(arguments: [("POST", "ambiguous"), ("PUT", "done")])
  func `that ended with an error is judged like its method`(_ method: String, state: String) async throws {
    let server = try await ResumableServer.start(#"{"faults": {"1": ["final", 500]}}"#)
    let job = try job(server, method: method)
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(report.items.first?.state == state, "\(command.stdout)")
    let log = try await server.log()
    #expect(log.queries == 0 && log.creations.count == (method == "PUT" ? 2 : 1) && log.violations == [])
  }

  @Test func `respects the limits of the server`() async throws {
    let server = try await ResumableServer.start(
      #"{"limit": "max-append-size=400000, min-append-size=1000, max-age=600", "faults": {"1": ["drop", 700000]}}"#
    )
    let job = try job(server)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await self.digest(job)
    let log = try await server.log()
    #expect(log.violations == [] && log.uploads.map(\.sha256) == [digest])
    // The requests send the remaining 2,300,000 bytes.
    #expect(log.sent == 1 + 6)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func `that is too large for the server is canceled at once`(_ isDeleted: Bool) async throws {
    let server = try await ResumableServer.start(
      #"{"limit": "max-size=2999999", "slow": 0.5, "refuseDelete": \#(!isDeleted)}"#)
    let job = try job(server)
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)")
    #expect(report.items.first?.reason?.message.contains("max-size") == true)
    let log = try await server.log()
    #expect(log.violations == [] && log.deletes == 1 && log.uploads.map(\.gone) == [isDeleted])
    #expect(log.uploads.first.map { $0.received < Self.size } == true)
  }

  /// `localhost` is a different origin than the host in the manifest.
  @Test func `sends no token to a resource at another origin`() async throws {
    let server = try await ResumableServer.start(
      #"{"tokens": true, "other": true, "faults": {"1": ["drop", 1000000]}}"#)
    let job = try job(server, token: true)
    try write(to: job)
    let (command, report) = try await job.run()
    #expect(command.status != 0)
    #expect(report.items.first?.reason?.message.contains("origin") == true, "\(command.stdout)")
    #expect(try await server.log().queries == 0)
  }

  @Test func `keeps the URL of its resource secret`() async throws {
    let server = try await ResumableServer.start(
      #"{"faults": {"1": ["drop", 1000000], "2": ["status", 422]}}"#)
    let job = try job(server)
    try write(to: job)
    let (command, _) = try await job.run()
    #expect(command.status == 1)
    let report = try await job.ferry("report", "--format", "json")
    for text in [command.stdout, command.stderr, report.stdout] {
      #expect(!text.contains("/uploads/1"), "\(text)")
    }
  }

  @Test func `works as in the example`() async throws {
    let server = try await ResumableServer.start(#"{"version": 8, "faults": {"1": ["drop", 100000]}}"#)
    let folder = try TemporaryFolder()
    var random = SplitMix(seed: 5)
    try folder.write(random.bytes(300_000), to: "files/f")
    let command = try await Command.run(
      Product.path("ferry"),
      ["run", Product.source("examples/resumable.yaml"), "--state", folder.path("state")],
      environment: [
        "UPLOAD_URL": server.url + "/made", "UPLOAD_ROOT": folder.path("files"), "UPLOAD_TOKEN": "secret",
      ])
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let log = try await server.log()
    let digests = try await TestFiles.digests(of: ["f"], under: folder.path("files"))
    #expect(log.uploads.map(\.sha256) == [digests["f"]] && log.queries == 1 && log.violations == [])
  }
}
