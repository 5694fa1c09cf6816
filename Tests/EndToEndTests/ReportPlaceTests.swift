import Foundation
import Testing

/// The destinations of `--report` and of standard output, and the reasons why ferry cannot write to them.
@Suite struct `The destination of a report` {
  private func workspace(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a", to: "a.txt")
    return job
  }

  private func kind(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
  }

  private func storedReport(_ job: Workspace) throws -> RunReport {
    let reports = try job.stateFiles().filter { $0.key.hasSuffix("/report.json") }
    let last = try #require(reports.max { $0.key < $1.key })
    return try RunReport.decode(last.value)
  }

  @Test func `may be a link, which stays, and whose target is replaced`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    _ = try job.folder.makeFolder("real")
    for (name, target) in [("report.json", "real/there.json"), ("chain.json", "report.json")] {
      try FileManager.default.createSymbolicLink(atPath: job.folder.path(name), withDestinationPath: target)
    }
    #expect(try await job.run().command.status == 0)
    #expect(kind(job.folder.path("report.json")) == S_IFLNK)
    #expect(kind(job.folder.path("real/there.json")) == S_IFREG)
    #expect(try await job.ferry("run", "job.yaml", "--report", "chain.json").status == 0)
    #expect(kind(job.folder.path("chain.json")) == S_IFLNK && kind(job.folder.path("report.json")) == S_IFLNK)
    #expect(try job.report().totals.itemsDoneInRun == 0)
    // No temporary file remains in the folder of the link's target.
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("real")) == ["there.json"])
  }

  @Test func `may be a FIFO, which is written to`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let fifo = job.folder.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let reader = try RunningCommand("cat", [fifo])
    let end = try await job.ferry("run", "job.yaml", "--report", "fifo")
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try RunReport.decode(Data(await reader.end().stdout.utf8)).totals.itemsDoneInRun == 1)
    #expect(kind(fifo) == S_IFIFO)
    // If no process reads from the FIFO, the run does not wait for one.
    let alone = try await job.ferry("run", "job.yaml", "--report", "fifo")
    #expect(
      alone.status == 70 && alone.stderr.contains("no process has it open for reading"), "\(alone.stderr)")
    #expect(kind(fifo) == S_IFIFO)
  }

  @Test(arguments: [
    ("/dev/stdout", "echo before > log; FERRY >> log"), ("/dev/fd/1", "{ echo before; FERRY; } > log"),
    ("/proc/self/fd/7", "echo before > log; FERRY 7>> log"), ("log", "echo before > log; FERRY >> log"),
    ("link", "echo before > log; FERRY 2>> log"),
  ])
  func `may be an open descriptor, which is written to and never replaced`(
    _ place: String, _ script: String
  ) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    try FileManager.default.createSymbolicLink(atPath: job.folder.path("link"), withDestinationPath: "log")
    let run = "\(Product.path("ferry")) run job.yaml --quiet --report \(place)"
    let command = try await job.start(["-ec", script.replacing("FERRY", with: run)], program: "/bin/sh").end()
    #expect(command.status == 0, "\(command.stderr)")
    let log = job.folder.text("log")
    #expect(log.hasPrefix("before\n"), "\(log)")
    #expect(try RunReport.decode(Data(log.dropFirst(7).utf8)).totals.itemsDoneInRun == 1)
  }

  /// The run writes the report after it has unlocked all sessions.
  @Test func `may be a full FIFO, which delays no other run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let fifo = job.folder.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let reader = open(fifo, O_RDWR | O_NONBLOCK)
    #expect(reader >= 0)
    defer { close(reader) }
    var count = 0
    while write(reader, [0x20], 1) == 1 { count += 1 }
    let run = try job.start(["run", "job.yaml", "--quiet", "--report", "fifo"])
    let deadline = ContinuousClock.now + .seconds(60)
    while try !job.stateFiles().keys.contains(where: { $0.hasSuffix("/report.json") }), .now < deadline {
      // The test polls, because another process, the run, writes the report.
      try await Task.sleep(for: .milliseconds(10))
    }
    let other = try await job.ferry("run", "job.yaml", "--wait-lock", "20s")
    #expect(other.status == 0, "\(other.stderr)")
    #expect(run.isRunning)
    let cat = try RunningCommand("head", ["-c", "\(count + 200)", fifo])
    let end = await run.end()
    close(open(fifo, O_RDONLY | O_NONBLOCK))
    cat.signal(SIGTERM)
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try storedReport(job).run.exitCode == 0)
  }

  @Test func `in a world-writable folder is not a link, file or FIFO of another user`() async throws {
    guard geteuid() == 0 else {
      FileHandle.standardError.write(Data("skipped: only root may give files away\n".utf8))
      return
    }
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    _ = try job.folder.makeFolder("shared")
    chmod(job.folder.path("shared"), 0o1777)
    try job.folder.write(Data("precious".utf8), to: "target")
    #expect(symlink(job.folder.path("target"), job.folder.path("shared/link")) == 0)
    try job.folder.write(Data("theirs".utf8), to: "shared/file")
    #expect(mkfifo(job.folder.path("shared/fifo"), 0o666) == 0)
    for name in ["link", "file", "fifo"] { lchown(job.folder.path("shared/\(name)"), 65534, 65534) }
    // The user's own link leads to a file of the same user.
    #expect(symlink("shared/link", job.folder.path("mine")) == 0)
    for name in ["shared/link", "shared/file", "shared/fifo", "mine"] {
      let end = try await job.ferry("run", "job.yaml", "--report", name)
      #expect(end.status == 2, "\(name): \(end.stderr)")
      #expect(
        end.stderr.contains("it belongs to user 65534") && end.stderr.contains("help: "), "\(end.stderr)")
    }
    #expect(job.folder.text("target") == "precious" && job.folder.text("shared/file") == "theirs")
    #expect(try await receiver.received().requests == 0)
    #expect(try await job.ferry("run", "job.yaml", "--report", "shared/own").status == 0)
    #expect(try await job.ferry("run", "job.yaml", "--report", "shared/own").status == 0)
  }

  /// The owner of the folder or link could redirect the path after its last component has been checked.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }), arguments: ["folder", "link"])
  func `is not below a folder or a link of another user in such a folder`(_ name: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    _ = try job.folder.makeFolder("shared/folder")
    _ = try job.folder.makeFolder("precious")
    chmod(job.folder.path("shared"), 0o1777)
    #expect(symlink("../precious", job.folder.path("shared/link")) == 0)
    lchown(job.folder.path("shared/\(name)"), 65534, 65534)
    let end = try await job.ferry("run", "job.yaml", "--report", "shared/\(name)/report.json")
    #expect(end.status == 2, "\(end.stderr)")
    #expect(end.stderr.contains("shared/\(name) ") && end.stderr.contains("user 65534"), "\(end.stderr)")
    #expect(try await receiver.received().requests == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("precious")).isEmpty)
  }

  /// A number is a valid file name, too, for example if a report is named for a build number.
  @Test(.enabled("only root may give files away", { geteuid() == 0 }), arguments: ["fd", "self"])
  func `is not a descriptor of another process behind another user's link`(_ kind: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    try job.folder.write(Data("precious".utf8), to: "precious")
    _ = try job.folder.makeFolder("shared")
    chmod(job.folder.path("shared"), 0o1777)
    let descriptor = open(job.folder.path("precious"), O_WRONLY | O_APPEND)
    defer { close(descriptor) }
    let target = kind == "self" ? "/proc/self/fd" : "/proc/\(getpid())/fd"
    #expect(symlink(target, job.folder.path("shared/builds")) == 0)
    lchown(job.folder.path("shared/builds"), 65534, 65534)
    let number = kind == "self" ? 2 : descriptor
    let end = try await job.ferry("run", "job.yaml", "--report", "shared/builds/\(number)")
    #expect(end.status == 2 && end.stderr.contains("symbolic link of user 65534"), "\(end.stderr)")
    #expect(job.folder.text("precious") == "precious")
    #expect(try await receiver.received().requests == 0)
  }

  @Test func `may have a name as long as the file system allows`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let name = String(repeating: "r", count: 250) + ".json"
    let end = try await job.ferry("run", "job.yaml", "--report", name)
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try RunReport.decode(Data(job.folder.text(name).utf8)).totals.itemsDoneInRun == 1)
  }

  @Test(arguments: ["nowhere/x.json", "job.yaml/x.json", "files", "loop", "new/", "slash", ""])
  func `that cannot be used is reported before any work starts`(_ place: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    for (link, target) in [("loop", "loop"), ("slash", "new/")] {
      try FileManager.default.createSymbolicLink(atPath: job.folder.path(link), withDestinationPath: target)
    }
    for options in [[], ["--fresh"]] {
      let end = try await job.start(["run", "job.yaml", "--report", place] + options).end()
      #expect(end.status == 2, "\(end.stdout)\(end.stderr)")
      #expect(end.stderr.contains("--report \(place)") && end.stderr.contains("help: "), "\(end.stderr)")
    }
    #expect(!FileManager.default.fileExists(atPath: job.state))
    #expect(try await receiver.received().requests == 0)
  }

  /// The test creates a device node, which only some users may do. Like /dev/full, the device accepts no data.
  @Test func `that cannot be written at the end fails the run, which does everything else`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let device = job.folder.path("full")
    guard mknod(device, S_IFCHR | 0o600, dev_t(1 << 8 | 7)) == 0, access(device, W_OK) == 0,
      case let descriptor = open(device, O_WRONLY), descriptor >= 0
    else {
      FileHandle.standardError.write(Data("skipped: no device can be made here\n".utf8))
      return
    }
    close(descriptor)
    let text = job.folder.text("job.yaml").replacing(
      "identifier: e2e.uploads", with: "identifier: e2e.uploads\n    on_events: [./told]")
    try job.write(manifest: text)
    try job.folder.write(Data("#!/bin/sh\ncd / && cp \"$FERRY_REPORT\" \"$1\"\n".utf8), to: "told")
    let told = job.folder.path("told.json")
    try job.write(manifest: text.replacing("[./told]", with: "[./told, \(told)]"))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    // The path of the state folder is resolved against the current folder, but the command runs in the manifest's
    // folder.
    let place = try job.folder.makeFolder("elsewhere")
    let end = try await job.ferry(
      "run", "../job.yaml", "--report", device, "--state", "../state", in: place)
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(
      end.stderr.contains("\(device): the report cannot be written: No space left on device"),
      "\(end.stderr)")
    #expect(end.stderr.contains("help: "))
    #expect(kind(device) == S_IFCHR)
    let stored = try storedReport(job)
    #expect(stored.run.exitCode == 70 && stored.totals.itemsDoneInRun == 1 && stored.run.roundClosed)
    let deadline = ContinuousClock.now + .seconds(60)
    while job.folder.text("told.json").isEmpty, .now < deadline {
      // The test polls, because the run does not wait indefinitely for the command.
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try RunReport.decode(Data(job.folder.text("told.json").utf8)).run.id == stored.run.id)
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test(arguments: [
    "status", "journal check", "journal export", "plan job.yaml", "schema", "--help", "report",
  ])
  func `on a full standard output makes a command exit with 70, but a closed pipe does not`(
    _ words: String
  ) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    #expect(try await job.run().command.status == 0)
    let shell = "exec \(Product.path("ferry")) \(words)"
    func run(_ text: String) async throws -> Command {
      try await job.start(["-c", text], program: "/bin/sh").end()
    }
    // ferry opens the device and writes to it. It must not replace the device by renaming a file.
    let full = try await run("\(shell) > /dev/full")
    #expect(full.status == 70, "\(full.stderr)")
    #expect(
      full.stderr.contains("ferry: cannot write to standard output: No space left on device\nhelp: "))
    let gone = try await run("{ sleep 0.2; \(shell); } 2> gone.txt | true")
    #expect(gone.status == 0 && job.folder.text("gone.txt").isEmpty, "\(job.folder.text("gone.txt"))")
  }
}
