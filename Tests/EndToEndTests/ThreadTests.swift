import Foundation
import Testing

/// The system refuses to create threads. A command must exit with an error message, and must not hang.
@Suite(
  .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere }, .timeLimit(.minutes(5))
) struct `Where the system refuses threads` {
  /// The number of threads that a run creates before it acquires a lock.
  private static let needed = 10

  private func job(_ receiver: ReceiverProcess, host: String? = nil) throws -> Workspace {
    let server = host.map { "http://\($0):\(receiver.port)" } ?? receiver.url
    let job = try Workspace(JobText.text(server: server, JobText.puts))
    for index in 0..<3 { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  private func run(_ job: Workspace, threads: Int, _ options: String...) async throws -> Command {
    try await job.start(
      ["run", "job.yaml"] + options, environment: try await ThreadFaults.environment(threads: threads)
    ).end()
  }

  @Test(arguments: 0..<10)
  func `a run exits with 70 before it locks or does anything, and names the limit to raise`(_ threads: Int)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let end = try await run(job, threads: threads, "--skip-if-running")
    #expect(end.status == 70, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("cannot create the thread ferry-"), "\(end.stderr)")
    #expect(end.stderr.contains("help: ") && end.stderr.contains("ulimit -u"), "\(end.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.state))
    #expect(try await receiver.received().requests == 0)
  }

  @Test(arguments: [10, 11, 13])
  func `a run with exactly the threads that it needs sends everything`(_ threads: Int)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let end = try await run(job, threads: threads)
    #expect(end.status == 0, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(try await receiver.received().puts.count == 3)
  }

  @Test func `resolving a name without a thread fails temporarily, and reports why`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, host: "ferry-test.invalid")
    let end = try await run(job, threads: Self.needed)
    #expect(end.status == 5, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(end.stdout.contains("thread failed to start"), "\(end.stdout)\(end.stderr)")
  }

  @Test(arguments: [
    ["status"], ["plan", "job.yaml"], ["check", "job.yaml"], ["journal", "check"], ["report"], ["orphans"],
    ["cancel", "e2e.uploads"], ["journal", "export"], ["journal", "prune", "--runs", "30d"],
    ["next", "job.yaml"],
  ])
  func `any other command needs none`(_ words: [String]) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    #expect(try await job.run().command.status == 0)
    let end = try await job.start(words, environment: try await ThreadFaults.environment(threads: 0)).end()
    #expect(end.status == 0, "\(end.status) \(end.stdout)\(end.stderr)")
  }

  @Test func `waiting for a session without a thread to wait on exits with 70`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let job = try job(receiver)
    let first = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { $0.files.count >= 1 }
    let end = try await job.start(
      ["cancel", "e2e.uploads", "--wait-lock", "1m"],
      environment: try await ThreadFaults.environment(threads: 0)
    ).end()
    first.signal(SIGKILL)
    _ = await first.end()
    #expect(end.status == 70 || end.status == 0, "\(end.status) \(end.stdout)\(end.stderr)")
    if end.status == 70 { #expect(end.stderr.contains("cannot create the thread"), "\(end.stderr)") }
  }

  @Test(.enabled("root and prlimit are needed: RLIMIT_NPROC binds no root") { RefusedThreads.isThere })
  func `a user's process limit makes a run exit with 70, and does not hang it`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try await RefusedThreads.open(job.folder.path(""))
    // The shell counts as one process, and ferry as another.
    let end = try await RefusedThreads.run(job, processes: 4)
    #expect(end.status == 70, "\(end.status) \(end.stdout)\(end.stderr)")
    #expect(end.stderr.contains("cannot create the thread ferry-"), "\(end.stderr)")
    let whole = try await RefusedThreads.run(job, processes: 64)
    #expect(whole.status == 0, "\(whole.status) \(whole.stdout)\(whole.stderr)")
  }
}

/// Runs ferry as a user without other processes, with a limit on the number of processes (RLIMIT_NPROC).
private enum RefusedThreads {
  private static let user = "64251"

  static let isThere: Bool = {
    let ferry = Product.path("ferry")
    let check = ["--reuid", user, "--regid", user, "--clear-groups", "test", "-x", ferry]
    if getuid() == 0, RunningCommand.find("prlimit") != nil, let setpriv = RunningCommand.find("setpriv"),
      let trial = try? Process.run(URL(filePath: setpriv), arguments: check)
    {
      trial.waitUntilExit()
      if trial.terminationStatus == 0 { return true }
    }
    FileHandle.standardError.write(
      Data(
        "\n!!!! SKIPPED: the test of RLIMIT_NPROC needs root, prlimit, setpriv, and a build that everyone can run\n\n"
          .utf8))
    return false
  }()

  /// Allows the user to write to a folder and to read its contents.
  static func open(_ folder: String) async throws {
    _ = try await Command.run("chown", ["-R", "\(user):\(user)", folder])
  }

  static func run(_ job: Workspace, processes: Int) async throws -> Command {
    try await job.start(
      [
        "--reuid", user, "--regid", user, "--clear-groups", "prlimit", "--nproc=\(processes):\(processes)",
        Product.path("ferry"), "run", "job.yaml",
      ], program: "setpriv"
    ).end()
  }
}
