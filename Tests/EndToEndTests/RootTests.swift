import Foundation
import Testing

/// Which files belong to an upload's root, even if another user changes the root while ferry runs.
@Suite struct `The root of an upload` {
  private static let patience = "retry: { limit: 1000, initial: 10ms, max: 100ms }"
  private static let content = Data(repeating: 0x61, count: 1000)

  /// A job with a file in `files/sub` and links to this file. The file and all links are listed.
  private func linked(_ server: String, _ nodes: String) throws -> Workspace {
    let job = try Workspace(JobText.text(server: server, nodes))
    try job.folder.write(Self.content, to: "files/sub/real")
    let real = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    let absolute = job.folder.path("files/sub/real").replacing(
      FileManager.default.temporaryDirectory.path, with: real)
    // A relative link, an absolute link, and a link that leaves the root and leads back into it.
    for (name, target) in [("a", "sub/real"), ("b", absolute), ("c", "../files/sub/real")] {
      #expect(symlink(target, job.folder.path("files/\(name)")) == 0)
    }
    return job
  }

  @Test func `includes links that lead to another of its files`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try linked(receiver.url, JobText.puts)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == 4)
    #expect(try await receiver.received().puts == ["a": 1, "b": 1, "c": 1, "sub/real": 1])
  }

  @Test(arguments: ["openat2=ENOSYS", "openat2=EPERM"])
  func `has the same files on an old kernel, and no others`(_ answer: String) async throws {
    guard try await OldKernel.isThere() else { return }
    let receiver = try await ReceiverProcess.start(faults: ["allocate:status=503"])
    let job = try linked(receiver.url, JobText.uploadIDs(retry: Self.patience))
    for name in ["d", "e/f"] { try job.folder.write(Self.content, to: "files/\(name)") }
    let run = try await OldKernel.start(job, without: [answer])
    _ = try await receiver.received { $0.requests >= 8 }
    let change = """
      cp -p files/d secret && ln -sf "$PWD/secret" files/d
      mv files/e moved && ln -s ../moved files/e
      """
    #expect(try await Command.run("sh", ["-ec", change], in: job.folder.url).status == 0)
    try await receiver.clearFaults()
    let command = await run.end()
    #expect(command.status == 4, "\(command.stdout)\(command.stderr)")
    let report = try job.report()
    for name in ["d", "e/f"] {
      let reason = report.item(name)?.reason
      #expect(reason?.code == "source_changed", "\(name): \(String(describing: reason))")
      #expect(reason?.message.contains("leads out of the root") == true, "\(String(describing: reason))")
    }
    #expect(report.totals.items.done == 4)
  }

  /// The journal contains the file's upload ID, but the new listing does not contain the file.
  @Test func `is not escaped by a link that replaces a started file`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["content:status=503"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs(retry: Self.patience)))
    try job.folder.write(Self.content, to: "files/x")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.requests >= 3 }
    run.signal(SIGTERM)
    #expect(await run.end().status == 143)
    try await receiver.clearFaults()
    let change = "cp -p files/x secret && ln -sf ../secret files/x"
    #expect(try await Command.run("sh", ["-ec", change], in: job.folder.url).status == 0)
    let (command, report) = try await job.run()
    #expect(command.status == 4, "\(command.stdout)\(command.stderr)")
    #expect(report.item("x")?.reason?.message.contains("leads out of the root") == true)
    #expect(try await receiver.received().byName["x"]?.contents ?? 0 == 0)
  }

  /// Linux applies the same rule if fs.protected_symlinks is 1, which is not the kernel's default.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: ["shared/link", "shared/link/sub"])
  func `is not behind a link of another user in a world-writable folder`(_ root: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts.replacing("root: files", with: "root: \(root)")))
    try job.folder.write(Self.content, to: "private/sub/key")
    _ = try job.folder.makeFolder("shared")
    chmod(job.folder.path("shared"), 0o1777)
    #expect(symlink("../private", job.folder.path("shared/link")) == 0)
    #expect(try await job.ferry("plan", "job.yaml").status == 0)
    lchown(job.folder.path("shared/link"), 65534, 65534)
    for command in ["run", "plan"] {
      let end = try await job.ferry(command, "job.yaml")
      #expect(end.status == 2, "\(end.status): \(end.stdout)\(end.stderr)")
      #expect(end.stderr.contains("shared/link is a symbolic link of user 65534"), "\(end.stderr)")
    }
    #expect(try await receiver.received().requests == 0)
  }

  /// The actions that an earlier run left pending for delivered files are not performed behind a link of
  /// another user, either.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }))
  func `that another user replaced by a link has no pending file moved behind it`() async throws {
    let receiver = try await ReceiverProcess.start()
    let nodes =
      JobText.puts.replacing("root: files", with: "root: shared/box") + "\n    after: { move_to: sent }"
    let job = try Workspace(JobText.text(server: receiver.url, nodes))
    try job.folder.write(Self.content, to: "shared/box/x")
    // `sent` already contains this name, so the file stays and its move remains pending.
    try job.folder.write(Data("other".utf8), to: "shared/box/sent/x")
    chmod(job.folder.path("shared"), 0o1777)
    #expect(try await job.ferry("run", "job.yaml").status == 5)
    let (box, archive) = (job.folder.path("shared/box"), job.folder.path("archive"))
    _ = try job.folder.makeFolder("archive")
    #expect(link(box + "/x", archive + "/x") == 0)
    try FileManager.default.removeItem(atPath: box)
    #expect(symlink(archive, box) == 0)
    lchown(box, 65534, 65534)
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 2 && end.stderr.contains("symbolic link of user 65534"), "\(end.stderr)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: archive) == ["x"])
  }

  @Test func `is the folder that was listed, even if another takes its name`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["allocate:status=503"])
    let job = try Workspace(JobText.text(server: receiver.url, JobText.uploadIDs(retry: Self.patience)))
    try job.folder.write(Self.content, to: "files/x")
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.requests >= 3 }
    let change =
      "mkdir other && cp -p files/x other/x && printf b | dd of=other/x conv=notrunc status=none && "
      + "touch -r files/x other/x && mv files listed && ln -s other files"
    #expect(try await Command.run("sh", ["-ec", change], in: job.folder.url).status == 0)
    try await receiver.clearFaults()
    let command = await run.end()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digest = try await TestFiles.digests(of: ["x"], under: job.folder.path("listed"))["x"]
    #expect(try await receiver.received().byName["x"]?.sha256 == digest)
  }
}
