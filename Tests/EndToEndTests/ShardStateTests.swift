import Foundation
import Testing

/// The state folders of parts: through links, with other manifests, and after they were exchanged.
@Suite struct `The state folder of a part` {
  private static let files = 8

  /// A job whose upload sends everything in the folder of the manifest, except the manifests.
  private func job(_ server: ScriptedServer) throws -> Workspace {
    let job = try Workspace(Self.manifest("e2e", server))
    try job.folder.write(Data(Self.manifest("other", server).utf8), to: "other.yaml")
    for number in 0..<Self.files { try job.write("content \(number)", to: "f\(number)") }
    return job
  }

  private static func manifest(_ name: String, _ server: ScriptedServer) -> String {
    """
    version: 1
    name: \(name)
    sessions: { s: { kind: background, identifier: s } }
    uploads:
      all:
        session: s
        files: { root: ., include: ["**"], exclude: ["*.yaml"] }
        transfer: { request: { url: "\(server.home)/put/\(name)/${file.path}" } }
    budgets: { any: { limit: 1GB, per: month } }
    engine: { budgets: shared }

    """
  }

  private func parts(_ job: Workspace, _ manifest: String = "job.yaml") async throws {
    for part in ["1/2", "2/2"] {
      let run = try await job.ferry("run", manifest, "--shard", part)
      #expect(run.status == 0, "\(run.stderr)")
    }
  }

  private func sent(_ server: ScriptedServer, _ name: String = "e2e") -> [String] {
    let start = "home PUT /put/\(name)/"
    return server.lines.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.utf8.count)) }.sorted()
  }

  private let all = (0..<Self.files).map { "files/f\($0)" }

  @Test func `is not sent if the run reaches it through a link`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    try await parts(job)
    #expect(sent(server) == all)
    let links = try TemporaryFolder()
    let folder = job.state + "/shards/e2e"
    _ = try links.makeFolder("shards")
    for (link, target) in [("part", folder + "/1-of-2"), ("parts", folder), ("shards/e2e", folder)] {
      #expect(symlink(target, links.path(link)) == 0)
    }
    try FileManager.default.linkItem(
      atPath: folder + "/2-of-2/sessions/s.db", toPath: job.folder.path("files/linked"))
    for path in ["part", "parts/1-of-2", "shards/e2e/1-of-2"] {
      let run = try await job.ferry("run", "job.yaml", "--state", links.path(path))
      #expect(run.status == 0, "\(path): \(run.stderr)")
      let submission = try await job.ferry("submit", "job.yaml", "all", "--state", links.path(path))
      #expect(submission.status == 0 && !submission.stderr.contains("state folder"), "\(submission.stderr)")
    }
    try await parts(job)
    #expect(Set(sent(server)) == Set(all))
    // The ledger of all parts is next to their folders, and not next to the link.
    #expect(!FileManager.default.fileExists(atPath: links.path("budgets")))
  }

  /// The folders of parts may be on another disk.
  @Test(arguments: [("e2e", "disk/m"), ("e2e/1-of-2", "disk/m/1-of-2")])
  func `is not sent if a link leads to a folder below the root`(_ link: String, _ target: String) async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    let place = job.state + "/shards/" + link
    for path in [job.folder.path(target), URL(filePath: place).deletingLastPathComponent().path] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    try #require(symlink(job.folder.path(target), place) == 0)
    try await parts(job)
    let part = job.folder.path("disk/m/1-of-2")
    #expect(FileManager.default.fileExists(atPath: part + "/ferry.db"))
    // A hard link to a journal, and other paths to the same folders.
    try FileManager.default.linkItem(
      atPath: part + "/sessions/s.db", toPath: job.folder.path("files/linked"))
    try await parts(job)
    let name = URL(filePath: job.state).lastPathComponent
    for (path, isFound) in [(job.state + "/../" + name + "/shards/e2e/2-of-2", true), (part, false)] {
      let run = try await job.ferry("run", "job.yaml", "--state", path)
      #expect(run.status == (isFound ? 0 : 2), "\(path): \(run.stderr)")
      #expect(isFound || run.stderr.contains("the other parts cannot be found from"), "\(run.stderr)")
    }
    #expect(Set(sent(server)) == Set(all))
    // Another manifest in the whole state folder.
    let other = try await job.ferry("run", "other.yaml")
    #expect(other.status == 0, "\(other.stderr)")
    #expect(sent(server, "other") == all)
  }

  /// A run there would send the files of all shards again.
  @Test(arguments: ["m", "parts"]) func `is not replaced by a run at the target of a link`(_ name: String)
    async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    try await parts(job)
    let (links, disk) = (job.state + "/shards", try TemporaryFolder())
    let target = disk.path(name)
    chmod(disk.path(""), 0o700)
    if name == "m" {
      try FileManager.default.moveItem(atPath: links + "/e2e", toPath: target)
      try #require(symlink(target, links + "/e2e") == 0)
    } else {
      try FileManager.default.moveItem(atPath: links, toPath: target)
      try #require(symlink(target, links) == 0)
    }
    try await parts(job)
    let folder = name == "m" ? target : target + "/e2e"
    try FileManager.default.moveItem(atPath: folder + "/2-of-2", toPath: disk.path("aside"))
    for path in [target, folder, folder + "/1-of-2", folder + "/2-of-2"] {
      // Files that are submitted to an existing part are sent by its next run.
      for arguments in [["run", "job.yaml"]]
        + (path.hasSuffix("1-of-2") ? [] : [["submit", "job.yaml", "all"]])
      {
        let command = try await job.start(arguments + ["--state", path]).end()
        #expect(command.status == 2, "\(arguments) \(path): \(command.stdout)\(command.stderr)")
      }
    }
    try FileManager.default.moveItem(atPath: disk.path("aside"), toPath: folder + "/2-of-2")
    try await parts(job)
    #expect(sent(server) == all)
  }

  @Test func `accepts only its own manifest`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    try await parts(job)
    let folder = job.state + "/shards/e2e/2-of-2"
    for arguments in [
      ["run", "other.yaml"], ["run", "other.yaml", "--fresh"], ["plan", "other.yaml"],
      ["submit", "other.yaml", "all"],
    ] {
      let command = try await job.start(arguments + ["--state", folder]).end()
      #expect(
        command.status == 2 && command.stderr.contains("state folder of a part of 'e2e', not of 'other'"),
        "\(arguments): \(command.stderr)")
    }
    // The shard has not run yet.
    let submission = try await job.ferry(
      "submit", "other.yaml", "all", "--state", job.state + "/shards/e2e/1-of-3")
    #expect(
      submission.status == 2 && submission.stderr.contains("a part of 'e2e', not of 'other'"),
      "\(submission.stderr)")
    #expect(sent(server, "other").isEmpty)
    try await parts(job, "other.yaml")
    #expect(sent(server, "other") == all)
    // Nothing was reset.
    try await parts(job)
    #expect(sent(server) == all)
  }

  /// The parts of one manifest, or the same part of two manifests.
  @Test(arguments: ["e2e/2-of-2", "other/1-of-2"])
  func `is not used as that of another part after both were exchanged`(_ other: String) async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    for manifest in ["job.yaml", "other.yaml"] { try await parts(job, manifest) }
    let (first, second) = (job.state + "/shards/e2e/1-of-2", job.state + "/shards/" + other)
    func exchange() throws {
      for (old, new) in [(first, job.state + "/x"), (second, first), (job.state + "/x", second)] {
        try FileManager.default.moveItem(atPath: old, toPath: new)
      }
    }
    try exchange()
    for arguments in [["--shard", "1/2"], ["--state", first], ["--state", second]] {
      let run = try await job.start(["run", "job.yaml"] + arguments).end()
      #expect(
        run.status == 70 && run.stderr.contains("it contains the state of ")
          && run.stderr.contains("Move each folder back"), "\(arguments): \(run.stderr)")
    }
    let status = try await job.ferry("status", "--shards", job.state + "/shards/e2e")
    #expect(status.stdout.contains("it contains the state of \(other)"), "\(status.stdout) \(status.stderr)")
    try exchange()
    for manifest in ["job.yaml", "other.yaml"] { try await parts(job, manifest) }
    #expect(sent(server) == all && sent(server, "other") == all)
  }

  @Test func `is not created after files were submitted to the whole manifest`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server)
    #expect(try await job.ferry("submit", "job.yaml", "all", "files/f0").status == 0)
    let run = try await job.ferry("run", "job.yaml", "--shard", "1/2")
    #expect(run.status == 2 && run.stderr.contains("or files were submitted to it"), "\(run.stderr)")
  }
}
