import Foundation
import Testing

/// Conditions that prevent writes to a journal. Each ends the run with a message that names a remedy, and no file is
/// lost.
@Suite struct `A journal in trouble` {
  private func posting(_ receiver: ReceiverProcess, files: Int) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, JobText.posts))
    for number in 1...files {
      try job.write("text", to: "\(number)-\(String(repeating: "n", count: 200)).txt")
    }
    return job
  }

  /// Runs the manifest from a shell, after these shell commands.
  private func run(_ job: Workspace, after preparation: String) async throws -> Command {
    try await Command.run(
      "sh", ["-c", "\(preparation); exec \"$0\" run job.yaml", Product.path("ferry")],
      environment: ["FERRY_STATE": job.state, "E2E_SECRET": Workspace.secret], in: job.folder.url)
  }

  /// Checks that each posted item is done or waits for a user's decision, and that all others are posted once.
  private func goesOnWithoutRepeating(_ job: Workspace, _ receiver: ReceiverProcess, files: Int) async throws
  {
    let end = try await job.ferry("run", "job.yaml", "--quiet")
    #expect([0, 1].contains(end.status), "\(end.stderr)")
    let posts = try await receiver.received().inbox
    #expect(Set(posts.map(\.name)).count == posts.count)
    #expect(posts.count <= files)
    let states = try await RecordedItems.read(session: "e2e.uploads", of: job).states
    #expect(states.count == files)
    #expect(states.values.allSatisfy { $0 == .done || $0 == .ambiguous })
    #expect(states.values.filter { $0 == .done }.count <= posts.count)
    #expect(try await job.ferry("journal", "check").status == 0)
  }

  /// The limits are in blocks of 512 bytes, and so low that the journal can record only the first files, or none.
  @Test(arguments: [100, 400, 1200])
  func `in files that must not grow ends the run, and sends no post that is not recorded`(_ blocks: Int)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 1500)
    let end = try await run(job, after: "ulimit -f \(blocks)")
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    // If the run has started, it writes a report, which contains the error.
    let told = end.stdout + end.stderr
    #expect(told.contains("there is no space for the journal"), "\(told)")
    #expect(told.contains("help: free some space, or raise the quota or limit"), "\(told)")
    try await goesOnWithoutRepeating(job, receiver, files: 1500)
  }

  /// The outcomes of requests that are in progress when the journal fails are not outcomes of the requests of `on_end`.
  @Test func `does not prevent the requests of on_end`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.02", "inbox:delay=0.5"])
    let notify = """
      on_end:
        notify:
          session: quick
          request: { method: POST, url: "${vars.api}/inbox?name=end-${run.exit_code}" }
      """
    let job = try Workspace(JobText.text(server: receiver.url, connections: 8, JobText.puts, notify))
    for number in 1...1500 {
      try job.write("text", to: "\(number)-\(String(repeating: "n", count: 200)).txt")
    }
    let end = try await run(job, after: "ulimit -f 2400")
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(try await receiver.received().inbox.map(\.name) == ["end-70"])
  }

  @Test func `on a full disk ends the run, and sends no post that is not recorded`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 1500)
    try FileManager.default.createDirectory(atPath: job.state, withIntermediateDirectories: true)
    guard try await mount(job.state, "size=600k") else { return }
    let end = try await run(job, after: "true")
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    let told = end.stdout + end.stderr
    #expect(told.contains("there is no space for the journal"), "\(told)")
    let larger = try await Command.run("mount", ["-o", "remount,size=64m", job.state])
    #expect(larger.status == 0)
    try await goesOnWithoutRepeating(job, receiver, files: 1500)
    _ = try await Command.run("umount", ["-l", job.state])
  }

  @Test func `in a folder that is read-only ends the run before anything is sent`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 2)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let requests = try await receiver.received().requests
    try job.write("new", to: "new.txt")
    let copy = try TemporaryFolder()
    let content = job.state + "/"
    guard try await mount(copy.path("").trimmingSuffix("/"), "size=8m") else { return }
    #expect(try await Command.run("cp", ["-a", content + ".", copy.path("")]).status == 0)
    #expect(
      try await Command.run("mount", ["-o", "remount,ro", copy.path("").trimmingSuffix("/")]).status == 0)
    let end = try await job.ferry("run", "job.yaml", "--state", copy.path(""))
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("help: make the folder and its files writable"), "\(end.stderr)")
    #expect(try await job.ferry("journal", "check", "--state", copy.path("")).status == 0)
    #expect(try await receiver.received().requests == requests)
    _ = try await Command.run("umount", ["-l", copy.path("").trimmingSuffix("/")])
  }

  /// A preloaded library refuses every lock, as a file system without locks does.
  @Test func `on a file system without locks ends the run before anything is sent`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 2)
    let shim = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <fcntl.h>
      #include <stdarg.h>
      static int refuse(const char *name, int file, int command, void *argument) {
        if (command == F_SETLK || command == F_OFD_SETLK) { errno = ENOLCK; return -1; }
        int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
        return real(file, command, argument);
      }
      int fcntl(int file, int command, ...) {
        va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
        return refuse("fcntl", file, command, argument);
      }
      int fcntl64(int file, int command, ...) {
        va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
        return refuse("fcntl64", file, command, argument);
      }
      """
    try job.folder.write(Data(shim.utf8), to: "shim.c")
    let library = job.folder.path("shim.so")
    guard
      let compiler = ["cc", "clang", "gcc"].first(where: { RunningCommand.find($0) != nil }),
      try await Command.run(compiler, ["-shared", "-fPIC", "-o", library, job.folder.path("shim.c"), "-ldl"])
        .status == 0
    else {
      skip("there is no C compiler")
      return
    }
    let end = try await job.ferry("run", "job.yaml", environment: ["LD_PRELOAD": library])
    #expect(end.status == 70, "\(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("the file system does not support journals"), "\(end.stderr)")
    #expect(end.stderr.contains("help: choose a folder on a local file system with --state"))
    #expect(try await receiver.received().requests == 0)
  }

  @Test(arguments: ["PRAGMA user_version = 99", "PRAGMA application_id = 7"])
  func `of a newer ferry, or of another program, is rejected and left unchanged`(_ change: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 2)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let requests = try await receiver.received().requests
    let file = job.state + "/sessions/e2e.uploads.db"
    let edit = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(sys.argv[2])"
    #expect(try await Command.run("python3", ["-c", edit, file, change]).status == 0)
    let before = try Data(contentsOf: URL(filePath: file))
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 70 && end.stderr.contains("help: "), "\(end.stderr)")
    #expect(try Data(contentsOf: URL(filePath: file)) == before)
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("refused: "), "\(check.stdout)")
    #expect(try await receiver.received().requests == requests)
  }

  @Test func `that belongs to another user is rejected, and one that others can read is made private`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try posting(receiver, files: 2)
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    let requests = try await receiver.received().requests
    let file = job.state + "/sessions/e2e.uploads.db"
    chmod(file, 0o644)
    #expect(try await job.ferry("journal", "check").stdout.contains("open_to_others"))
    #expect(try await job.ferry("run", "job.yaml", "--quiet").status == 0)
    #expect(try await job.ferry("journal", "check").status == 0)
    guard chown(file, 65534, 65534) == 0 else {
      skip("only root may give a file away")
      return
    }
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 70 && end.stderr.contains("chown"), "\(end.stderr)")
    let check = try await job.ferry("journal", "check")
    #expect(check.status == 1 && check.stdout.contains("wrong_owner"), "\(check.stdout)")
    #expect(try await receiver.received().requests == requests)
  }

  // MARK: Helpers

  /// Mounts a file system in memory, if the user may mount one.
  private func mount(_ folder: String, _ options: String) async throws -> Bool {
    let command = try await Command.run(
      "mount", ["-t", "tmpfs", "-o", options + ",mode=0700", "ferry-test", folder])
    if command.status != 0 { skip("no file system can be mounted here") }
    return command.status == 0
  }

  private func skip(_ reason: String) {
    FileHandle.standardError.write(Data("skipped: \(reason)\n".utf8))
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
