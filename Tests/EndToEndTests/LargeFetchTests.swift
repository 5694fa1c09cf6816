import Foundation
import Testing

/// A file of 64 MiB behind nginx. `FERRY_DOWNLOAD_SIZE` sets another size in MiB, and `FERRY_DOWNLOAD_KILLS` the number
/// of kills.
@Suite(.enabled("nginx with its WebDAV module is required") { NginxServer.isPossible })
struct `A large fetch` {
  private static let environment = ProcessInfo.processInfo.environment
  private static let mebibytes = Int(environment["FERRY_DOWNLOAD_SIZE"] ?? "") ?? 64
  private static let kills = Int(environment["FERRY_DOWNLOAD_KILLS"] ?? "") ?? 4
  private static var size: Int { mebibytes << 20 }

  /// nginx with a file of random bytes, at a rate at which the file takes about four seconds over this many connections.
  private static func site(segments: Int = 1) async throws -> NginxSite {
    let site = try await NginxSite.start("limit_rate \(max(mebibytes / 4 / segments, 1))m;")
    try write(to: site)
    return site
  }

  private static func write(to site: NginxSite) throws {
    try prepare(site)
    replace(on: site)
  }

  private static func prepare(_ site: NginxSite) throws {
    let path = site.path("root/large.new")
    try bytes(size).write(to: URL(filePath: path))
    chmod(path, 0o644)
    // nginx's ETag consists of the modification time in seconds and the size, which must differ from that of the old file.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -Double.random(in: 10...1_000_000))], ofItemAtPath: path)
  }

  /// Replaces the document by the prepared file, as servers do: nginx continues a response from the old one.
  private static func replace(on site: NginxSite) {
    rename(site.path("root/large.new"), site.path("root/large"))
  }

  private static func bytes(_ count: Int) throws -> Data {
    let source = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
    return try #require(try source.read(upToCount: count))
  }

  private static func job(_ site: NginxSite, _ more: String = "") throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: large
      sessions: { s: {} }
      fetches:
        file:
          session: s
          request: { url: "http://127.0.0.1:\(site.port)/large" }
          save_to: downloads/large
          \(more)
      """)
  }

  /// The number of bytes that the part has on the disk; 0 if there is none.
  private static func part(_ job: Workspace) -> Int {
    let folder = job.folder.path("downloads")
    // It might not exist yet.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard let name = names.first(where: { $0.hasPrefix(".large.ferry-kept-") }) else { return 0 }
    var status = stat()
    return stat("\(folder)/\(name)", &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// Kills a run once the part has this many bytes.
  private static func killRun(_ job: Workspace, at count: Int) async throws {
    let run = try job.start(["run", "job.yaml"])
    try await wait(for: run, job, count)
    run.signal(SIGKILL)
    _ = await run.end()
  }

  private static func wait(for run: RunningCommand, _ job: Workspace, _ count: Int) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while part(job) < count, run.isRunning {
      try #require(ContinuousClock.now < deadline, "\(run.stdout)\(run.stderr)")
      // The test polls the file: without a terminal, ferry prints its progress only every 30 seconds.
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  @Test(arguments: [1, 4]) func `that is killed again and again is continued, and is complete`(
    _ segments: Int
  ) async throws {
    let site = try await Self.site(segments: segments)
    let job = try Self.job(site, "segments: \(segments)")
    for kill in 1...Self.kills {
      try await Self.killRun(job, at: Self.size / (Self.kills + 1) * kill)
    }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let expected = try await TestFiles.digests(of: ["large"], under: site.path("root"))
    #expect(try await TestFiles.digests(of: ["large"], under: job.folder.path("downloads")) == expected)
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("downloads")) == ["large"])
    let again = site.bodyBytesSent - Self.size
    // After each kill, the server resends the bytes that it sent after the last update of the record,
    // including those in the buffers of the sockets.
    #expect(again <= Self.kills * (8 << 20), "\(again) bytes were sent again")
    print(
      "soak: \(Self.mebibytes) MiB, \(Self.kills) kills, segments: \(segments): \(again) bytes sent again, SHA-256 correct"
    )
    #expect(report.totals.bytes.useful < Self.size / 2)
    let ranges = site.requests.filter { $0[0] == "206" }.count
    #expect(segments == 1 ? ranges == Self.kills : ranges > Self.kills + segments)
  }

  @Test func `with segments uses as many connections at once, and one if a server does not send ranges`()
    async throws
  {
    let site = try await Self.site(segments: 4)
    let job = try Self.job(site, "segments: 4")
    let command = try await job.ferry("run", "job.yaml", "-v", "--events", "events.ndjson")
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(command.stderr.contains(", 4 connections"), "\(command.stderr)")
    let events = job.folder.text("events.ndjson")
    #expect(events.contains("\"connections\":4") && !events.contains("single_connection"), "\(events)")
    let expected = try await TestFiles.digests(of: ["large"], under: site.path("root"))
    #expect(try await TestFiles.digests(of: ["large"], under: job.folder.path("downloads")) == expected)

    let plain = try await NginxSite.start("max_ranges 0;")
    try Self.write(to: plain)
    let other = try Self.job(plain, "segments: 4")
    let (single, report) = try await other.run("--events", "events.ndjson")
    #expect(single.status == 0, "\(single.stdout)\(single.stderr)")
    #expect(
      single.stdout.contains(
        "1 download over one connection: the server does not send ranges of the document"),
      "\(single.stdout)")
    #expect(report.nodes.first?.singleConnection?.downloads == 1)
    let event = other.folder.text("events.ndjson")
    #expect(
      event.contains("\"connections\":1,\"single_connection\":\"the server does not send ranges"), "\(event)")
    #expect(plain.requests.map { $0[0] } == ["200"])
  }

  @Test func `whose session is reset has no part any longer`() async throws {
    let site = try await Self.site()
    let job = try Self.job(site)
    try await Self.killRun(job, at: Self.size / 4)
    let reset = try await job.ferry("reset", "large.s")
    #expect(
      reset.status == 0 && reset.stdout.contains("1 partial download removed"),
      "\(reset.stdout)\(reset.stderr)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("downloads")) == [])
    let again = try await job.ferry("reset", "large.s", "--format", "json")
    #expect(again.stdout.contains("\"parts\" : 0"), "\(again.stdout)")
  }

  @Test(arguments: [1, 4]) func `that changes under way starts over`(_ segments: Int) async throws {
    let site = try await Self.site(segments: segments)
    let job = try Self.job(site, "segments: \(segments)")
    try await Self.killRun(job, at: Self.size / 3)
    try Self.write(to: site)
    #expect(try await job.run().command.status == 0)
    let expected = try await TestFiles.digests(of: ["large"], under: site.path("root"))
    #expect(try await TestFiles.digests(of: ["large"], under: job.folder.path("downloads")) == expected)
    let again = site.bodyBytesSent - Self.size
    print(
      "soak: \(Self.mebibytes) MiB that changes after a third, segments: \(segments): \(again) bytes sent again, SHA-256 correct"
    )
    #expect(segments > 1 || site.requests.last?[0] == "200")
  }

  @Test func `with segments that changes while they are downloaded starts over in the same run`() async throws
  {
    let site = try await Self.site(segments: 4)
    let job = try Self.job(site, "segments: 4\n    retry: { initial: 100ms }")
    try Self.prepare(site)
    let run = try job.start(["run", "job.yaml"])
    try await Self.wait(for: run, job, Self.size / 3)
    Self.replace(on: site)
    let command = await run.end()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let expected = try await TestFiles.digests(of: ["large"], under: site.path("root"))
    #expect(try await TestFiles.digests(of: ["large"], under: job.folder.path("downloads")) == expected)
  }

  @Test func `that was interrupted by a signal is continued, with its checksum and time`() async throws {
    let site = try await Self.site()
    let digest = try #require(
      try await TestFiles.digests(of: ["large"], under: site.path("root"))["large"])
    let job = try Self.job(site, "checksum: { sha256: \(digest) }\n    keep_modified: true")
    let run = try job.start(["run", "job.yaml"])
    try await Self.wait(for: run, job, Self.size / 3)
    run.signal(SIGINT)
    try await Task.sleep(for: .milliseconds(300))
    #expect(run.isRunning)
    run.signal(SIGINT)
    _ = await run.end()
    let command = try await job.run().command
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(site.requests.last?[0] == "206")
    var (own, remote) = (stat(), stat())
    stat(job.folder.path("downloads/large"), &own)
    stat(site.path("root/large"), &remote)
    #expect(own.st_mtim.tv_sec == remote.st_mtim.tv_sec)

    try job.write(
      manifest: try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
        .replacing(digest, with: String(digest.reversed())))
    try Self.write(to: site)
    let wrong = try await job.run().command
    #expect(wrong.status == 1)
    #expect(
      wrong.stdout.contains("the SHA-256 digest of the file is not that in 'checksum'"), "\(wrong.stdout)")
    #expect(
      try await TestFiles.digests(of: ["large"], under: job.folder.path("downloads"))["large"] == digest)
  }
}
