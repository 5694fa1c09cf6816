import Foundation
import Testing

/// Files of 8 MiB behind nginx. `FERRY_DOWNLOAD_SIZE` sets another size in MiB, and `FERRY_DOWNLOAD_KILLS` the number of
/// kills.
@Suite(.enabled("nginx with its WebDAV module is required") { NginxServer.isPossible })
struct `A download batch behind nginx` {
  private static let environment = ProcessInfo.processInfo.environment
  private static let mebibytes = Int(environment["FERRY_DOWNLOAD_SIZE"] ?? "") ?? 8
  private static let kills = Int(environment["FERRY_DOWNLOAD_KILLS"] ?? "") ?? 3
  private static let names = ["a", "b", "c", "sub/d"]

  private static func site() async throws -> NginxSite {
    let site = try await NginxSite.start("limit_rate \(max(mebibytes / 2, 1))m;")
    mkdir(site.path("root/sub"), 0o755)
    for name in names { try write(name, to: site) }
    return site
  }

  private static func write(_ name: String, to site: NginxSite) throws {
    let source = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
    let path = site.path("root/\(name)")
    try source.read(upToCount: mebibytes << 20)?.write(to: URL(filePath: path + ".new"))
    chmod(path + ".new", 0o644)
    // nginx derives the ETag from the size and from the time in seconds.
    if let replaced = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date {
      try FileManager.default.setAttributes(
        [.modificationDate: replaced.addingTimeInterval(10)], ofItemAtPath: path + ".new")
    }
    rename(path + ".new", path)
  }

  private static func job(_ site: NginxSite) async throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: large
      sessions: { s: { max_connections_per_host: 2 } }
      downloads:
        files:
          session: s
          items: { file: list.json, json: "", save_to: "downloads/${item.name}", size: "${item.size}" }
      """)
    let elements = names.map { name in
      #"{"name": "\#(name)", "url": "http://127.0.0.1:\#(site.port)/\#(name)", "size": \#(mebibytes << 20)}"#
    }
    try job.folder.write(Data("[\(elements.joined(separator: ","))]".utf8), to: "list.json")
    return job
  }

  /// The bytes of all files and parts in the folder.
  private static func stored(_ job: Workspace) -> Int {
    let folder = job.folder.path("downloads")
    return (FileManager.default.subpaths(atPath: folder) ?? []).reduce(0) { sum, name in
      var status = stat()
      guard stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
      return sum + Int(status.st_blocks) * 512
    }
  }

  private static func killRun(_ job: Workspace, at count: Int) async throws {
    let run = try job.start(["run", "job.yaml"])
    let deadline = ContinuousClock.now + .seconds(120)
    while stored(job) < count, run.isRunning {
      try #require(ContinuousClock.now < deadline, "\(run.stdout)\(run.stderr)")
      // The test polls the files: without a terminal, ferry prints its progress only every 30 seconds.
      try await Task.sleep(for: .milliseconds(5))
    }
    run.signal(SIGKILL)
    _ = await run.end()
  }

  @Test func `that is killed again and again downloads only the rest, and each file is complete`()
    async throws
  {
    let site = try await Self.site()
    let job = try await Self.job(site)
    let total = Self.names.count * (Self.mebibytes << 20)
    // Two files are downloaded at a time. Each kill comes while files are incomplete.
    let half = Self.mebibytes << 19
    for kill in 1...Self.kills { try await Self.killRun(job, at: total / (Self.kills + 1) * kill - half) }
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == Self.names.count && report.run.roundClosed)
    let expected = try await TestFiles.digests(of: Self.names, under: site.path("root"))
    #expect(try await TestFiles.digests(of: Self.names, under: job.folder.path("downloads")) == expected)
    #expect(
      FileManager.default.subpaths(atPath: job.folder.path("downloads"))?.sorted() == [
        "a", "b", "c", "sub", "sub/d",
      ])
    let again = site.bodyBytesSent - total
    #expect(site.requests.filter { $0[0] == "206" }.count >= Self.kills)
    // After each kill, the server resends, for two files, the bytes that it sent after the last update of the
    // record, including those in the buffers of the sockets.
    #expect(again <= Self.kills * (16 << 20), "\(again) bytes were sent again")
    print("\(Self.names.count) × \(Self.mebibytes) MiB, \(Self.kills) kills: \(again) bytes sent again")
  }

  @Test func `whose session is reset has no parts any longer`() async throws {
    let site = try await Self.site()
    let job = try await Self.job(site)
    try await Self.killRun(job, at: Self.mebibytes << 19)
    func parts() -> [String] {
      (FileManager.default.subpaths(atPath: job.folder.path("downloads")) ?? []).filter {
        $0.contains(".ferry-kept-")
      }
    }
    let count = parts().count
    try #require(count > 0)
    let reset = try await job.ferry("reset", "large.s", "--format", "json")
    #expect(
      reset.status == 0 && reset.stdout.contains("\"parts\" : \(count)"), "\(reset.stdout)\(reset.stderr)")
    #expect(parts() == [])
  }

  @Test func `downloads a file that changes under way from its start`() async throws {
    let site = try await Self.site()
    let job = try await Self.job(site)
    try await Self.killRun(job, at: Self.mebibytes << 19)
    for name in Self.names { try Self.write(name, to: site) }
    #expect(try await job.run().command.status == 0)
    let expected = try await TestFiles.digests(of: Self.names, under: site.path("root"))
    #expect(try await TestFiles.digests(of: Self.names, under: job.folder.path("downloads")) == expected)
  }
}
