import Foundation
import Testing

/// State folders that another user can change, or that another user has prepared.
@Suite struct `A state folder` {
  private static let isRoot = geteuid() == 0
  private static let commands = [
    ["run", "job.yaml"], ["plan", "job.yaml"], ["status"], ["journal", "check"], ["journal", "export"],
    ["orphans"],
    ["reset", "e2e.uploads"], ["submit", "job.yaml", "files", "files/a.txt"], ["report"],
  ]

  private func workspace(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    return job
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  /// Checks that no command uses the folder, and that each command reports the problem and a remedy.
  private func expectRefusal(_ job: Workspace, of place: String, says: String) async throws {
    for words in Self.commands {
      let end = try await job.start(words).end()
      #expect(end.status == 70, "\(words): \(end.stdout)\(end.stderr)")
      #expect(end.stderr.contains("\(place): "), "\(words): \(end.stderr)")
      #expect(end.stderr.contains(says) && end.stderr.contains("help: "), "\(words): \(end.stderr)")
    }
  }

  @Test(arguments: ["", "/sessions", "/runs"])
  func `that others may write to is used by no command`(_ folder: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let before = try job.stateFiles()
    for mode in [0o777, 0o720, 0o1777] as [mode_t] {
      chmod(job.state + folder, mode)
      try await expectRefusal(job, of: job.state + folder, says: "other users can write to it")
    }
    #expect(try job.stateFiles() == before)
    chmod(job.state + folder, 0o755)
    #expect(try await job.ferry("run", "job.yaml").status == 0)
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }), arguments: ["", "/sessions", "/runs"])
  func `of another user, or of root, is used by no command`(_ folder: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    for name in ["", "/sessions", "/runs"] { mkdir(job.state + name, 0o755) }
    chown(job.state + folder, 65534, 65534)
    try await expectRefusal(job, of: job.state + folder, says: "it belongs to user 65534")
    #expect(try job.stateFiles().isEmpty)
  }

  /// The meaning of `..` depends on the path before it.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }), arguments: ["theirs/../own", "theirs/own"])
  func `behind a folder of another user in a sticky one is used by no command`(_ path: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    for name in ["shared/theirs", "shared/own"] { _ = try job.folder.makeFolder(name) }
    chmod(job.folder.path("shared"), 0o1777)
    chown(job.folder.path("shared/theirs"), 65534, 65534)
    let end = try await job.ferry("run", "job.yaml", "--state", "shared/\(path)/state")
    #expect(end.status == 70 && end.stderr.contains("belongs to user 65534"), "\(end.stderr)")
    #expect(try await receiver.received().requests == 0)
  }

  @Test func `below a folder in which anyone may replace it is used by no command`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    chmod(job.folder.url.path, 0o777)
    try await expectRefusal(job, of: job.folder.url.path, says: "any user can replace its contents")
    // A system's temporary folder has this mode.
    chmod(job.folder.url.path, 0o1777)
    #expect(try await job.ferry("run", "job.yaml").status == 0)
  }

  @Test(arguments: [
    "sessions/e2e.uploads.lock", "sessions/e2e.uploads.db", "sessions/e2e.uploads.db-wal", "ferry.lock",
    "ferry.db",
    "sessions", "runs",
  ])
  func `contains no link that is followed`(_ name: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let path = "\(job.state)/\(name)"
    let target = job.folder.path("target")
    if name.contains(".") {
      try Data("precious".utf8).write(to: URL(filePath: target))
      unlink(path)
    } else {
      try FileManager.default.moveItem(atPath: path, toPath: target)
    }
    #expect(symlink(target, path) == 0)
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("\(path): ") && end.stderr.contains("it is a symbolic link"), "\(end.stderr)")
    #expect(end.stderr.contains("help: "))
    if name.contains(".") { #expect(job.folder.text("target") == "precious") }
  }

  /// The note is safe in ferry.db. ferry writes to the file that wakes the session's holder only if the user owns it.
  @Test func `does not follow a link in place of an inbox`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    try job.folder.write(Data("precious".utf8), to: "target")
    let inbox = job.state + "/sessions/e2e.uploads.inbox"
    unlink(inbox)
    #expect(symlink(job.folder.path("target"), inbox) == 0)
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/a.txt").status == 0)
    #expect(job.folder.text("target") == "precious")
  }

  @Test(arguments: ["000", "022", "277", "777"])
  func `is accessible only to its user, whatever the umask is`(_ umask: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let script = "umask \(umask); exec \(Product.path("ferry")) run job.yaml --quiet"
    let end = try await job.start(["-ec", script], program: "/bin/sh").end()
    #expect(end.status == 0, "\(end.stderr)")
    #expect(mode(job.state) == 0o700)
    for name in FileManager.default.subpaths(atPath: job.state) ?? [] {
      let path = "\(job.state)/\(name)"
      var status = stat()
      #expect(lstat(path, &status) == 0)
      #expect(status.st_mode & 0o7777 == (status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600), "\(name)")
    }
    #expect(try job.stateFiles().keys.contains { $0.hasSuffix("/report.json") })
  }
}
