import Foundation
import Testing

/// The permissions of the files that a fetch or a report writes.
@Suite struct `A file that is replaced` {
  /// The option that writes the file: a fetch's `save_to`, or `--report`.
  enum Writer: String, CaseIterable, Sendable {
    case fetch, report
    var name: String { self == .fetch ? "catalog.json" : "report.json" }
  }

  private static let combinations = Writer.allCases.flatMap { writer in
    ["000", "022", "077"].map { (writer, $0) }
  }

  private func run(_ writer: Writer, umask: String = "022", before script: String = "true") async throws
    -> Workspace
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, writer == .fetch ? JobText.catalog() : JobText.puts))
    try job.write("a", to: "a.txt")
    let program = "\(Product.path("ferry")) run job.yaml --quiet"
    let run = writer == .fetch ? program : program + " --report report.json"
    let command = try await job.start(["-ec", "\(script); umask \(umask); exec \(run)"], program: "/bin/sh")
      .end()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(job.folder.text(writer.name).contains("{"))
    return job
  }

  private func status(_ job: Workspace, _ writer: Writer) throws -> stat {
    var status = stat()
    #expect(lstat(job.folder.path(writer.name), &status) == 0)
    return status
  }

  @Test(arguments: combinations)
  func `keeps its mode, and a new file gets the mode that the umask allows`(_ writer: Writer, _ umask: String)
    async throws
  {
    let mask = mode_t(umask, radix: 8) ?? 0
    #expect(try status(await run(writer, umask: umask), writer).st_mode & 0o7777 == 0o666 & ~mask)
    for mode in ["600", "640", "666", "444"] {
      let job = try await run(
        writer, umask: umask, before: "echo {} > \(writer.name); chmod \(mode) \(writer.name)")
      #expect(try status(job, writer).st_mode & 0o7777 == mode_t(mode, radix: 8), "\(mode)")
    }
    // The setuid and setgid bits are dropped, as a write to the file would do.
    let job = try await run(writer, before: "echo {} > \(writer.name); chmod 6755 \(writer.name)")
    #expect(try status(job, writer).st_mode & 0o7777 == 0o755)
  }

  @Test(.enabled("only root may give files away", { geteuid() == 0 }), arguments: Writer.allCases)
  func `keeps its owner and group`(_ writer: Writer) async throws {
    let name = writer.name
    let job = try await run(writer, before: "echo {} > \(name); chmod 640 \(name); chown 65534:65533 \(name)")
    let status = try status(job, writer)
    #expect(status.st_uid == 65534 && status.st_gid == 65533 && status.st_mode & 0o7777 == 0o640)
  }

  @Test(.enabled("only root may become another user", { geteuid() == 0 }), arguments: Writer.allCases)
  func `is accessible only to its owner if the previous owner cannot be kept`(_ writer: Writer) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, writer == .fetch ? JobText.catalog() : JobText.puts))
    try job.write("a", to: "a.txt")
    try job.folder.write(Data("{}".utf8), to: writer.name)
    let name = job.folder.path(writer.name)
    chown(name, 65531, 65532)
    chmod(name, 0o664)
    chown(job.folder.url.path, 65534, 65534)
    var words = [
      "--reuid=65534", "--regid=65534", "--clear-groups", Product.path("ferry"), "run", "job.yaml", "--quiet",
    ]
    if writer == .report { words += ["--report", "report.json"] }
    // Another user can run this ferry only if the build folder is readable for other users.
    guard try await Command.run("setpriv", Array(words[..<4]) + ["--version"]).status == 0 else {
      FileHandle.standardError.write(Data("skipped: another user cannot run this ferry\n".utf8))
      return
    }
    let command = try await job.start(words, program: "/usr/bin/setpriv").end()
    #expect(command.status == 0, "\(command.stderr)")
    let status = try status(job, writer)
    #expect(status.st_uid == 65534 && status.st_mode & 0o7777 == 0o604, "\(String(status.st_mode, radix: 8))")
  }

  /// The ACL allows user 1, but not the file's group, to read the file. The group bits of the mode show the ACL's mask.
  @Test(arguments: Writer.allCases) func `keeps its access ACL`(_ writer: Writer) async throws {
    let set = """
      import os, struct, sys
      entries = [(1, 6, 0xffffffff), (2, 4, 1), (4, 0, 0xffffffff), (16, 4, 0xffffffff), (32, 0, 0xffffffff)]
      acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
      os.setxattr(sys.argv[1], "system.posix_acl_access", acl)
      """
    let get = """
      import os, sys
      print(os.getxattr(sys.argv[1], "system.posix_acl_access").hex())
      """
    let folder = try TemporaryFolder()
    try folder.write(Data(), to: "trial")
    try folder.write(Data(set.utf8), to: "set.py")
    let script = folder.path("set.py")
    guard try await Command.run("python3", [script, folder.path("trial")]).status == 0 else {
      FileHandle.standardError.write(Data("skipped: the file system has no ACLs\n".utf8))
      return
    }
    let wanted = try await Command.run("python3", ["-c", get, folder.path("trial")]).stdout
    let job = try await run(writer, before: "echo {} > \(writer.name); python3 \(script) \(writer.name)")
    #expect(try await Command.run("python3", ["-c", get, job.folder.path(writer.name)]).stdout == wanted)
    #expect(try status(job, writer).st_mode & 0o777 == 0o640)
  }
}
