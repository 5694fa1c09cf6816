import Foundation
import Testing

/// The scripts of `ferry shard`, run by the engines.
@Suite struct `The scripts for shards` {
  private static let files = 40

  private func job(_ receiver: ReceiverProcess) throws -> Workspace {
    let notes = """
      requests:
        before: { session: quick, token: login, request: { url: "${vars.api}/done", json: { node: before } } }
        after:
          session: quick
          token: login
          needs: [files]
          request: { url: "${vars.api}/done", json: { node: after } }
      """
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, JobText.uploadIDs(), notes))
    for number in 0..<Self.files { try job.write("content \(number)", to: "f\(number).txt") }
    return job
  }

  private func write(_ job: Workspace, _ engine: String, _ options: String...) async throws -> Command {
    try await job.start(
      ["shard", "job.yaml", "--shards", "4", "--engine", engine, "--program", Product.path("ferry")]
        + options.flatMap { ["--engine-option", $0] }
    ).end()
  }

  /// Runs a script with the variables that ferry needs.
  private func run(_ job: Workspace, _ script: String, _ environment: [String: String] = [:]) async throws
    -> Command
  {
    try await Command.run(
      "bash", [job.folder.path("shards/\(script)")],
      environment: ["E2E_SECRET": Workspace.secret].merging(environment) { $1 }, in: job.folder.url)
  }

  private func checkDelivery(_ receiver: ReceiverProcess) async throws {
    let received = try await receiver.received()
    #expect(received.commits == Self.files && received.uploads.allSatisfy { $0.commits == 1 })
    #expect(received.done.map(\.node) == ["before", "after"])
  }

  @Test(.enabled(if: SlurmCluster.isPossible))
  func `let two nodes of Slurm commit each file once, between the requests before and after`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let written = try await write(job, "slurm", "--output=task-%a.txt", "--cpus-per-task=1")
    #expect(written.status == 0, "\(written.stderr)")
    let cluster = try await SlurmCluster.start()
    let submitted = try await run(job, "submit.sh", cluster.environment)
    #expect(submitted.status == 0, "\(submitted.stderr)")
    try await cluster.finish(within: .seconds(90))
    try await checkDelivery(receiver)
    let merged = try await job.ferry("report", "merge", job.state, "--format", "json")
    #expect(merged.status == 0, "\(merged.stdout) \(merged.stderr)")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(merged.stdout.utf8)) as? [String: Any])
    let totals = try #require(report["totals"] as? [String: Any])
    #expect((totals["items"] as? [String: Any])?["done"] as? Int == Self.files)
    for task in 1...4 {
      #expect(FileManager.default.fileExists(atPath: job.folder.path("shards/task-\(task).txt")))
    }
  }

  /// The programs `ferry` and `scontrol` in a folder, which record their arguments. `ferry` exits with a code.
  private func programs(_ job: Workspace, code: Int) throws {
    for (name, end) in [("ferry", "exit \(code)"), ("scontrol", "exit 0")] {
      let text = "#!/bin/sh\necho \"\(name) $*\" >> \(job.folder.path("calls.txt"))\n\(end)\n"
      try job.folder.write(Data(text.utf8), to: "bin/\(name)")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: job.folder.path("bin/\(name)"))
    }
  }

  @Test(arguments: [
    (5, "0", true), (6, "0", true), (8, "0", true), (10, "0", true), (143, "0", true), (5, "19", true),
    (5, "20", false), (0, "0", false), (1, "0", false), (2, "0", false), (7, "0", false), (70, "0", false),
  ])
  func `requeue a task of Slurm if the next run can succeed, a limited number of times`(
    _ code: Int, _ restarts: String, _ isRequeued: Bool
  ) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    try programs(job, code: code)
    let written = try await job.start([
      "shard", "job.yaml", "--shards", "4", "--engine", "slurm", "--program", job.folder.path("bin/ferry"),
    ]).end()
    #expect(written.status == 0, "\(written.stderr)")
    let path = job.folder.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let task = try await run(
      job, "shards.sbatch",
      [
        "PATH": path, "SLURM_ARRAY_JOB_ID": "71", "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": restarts,
      ])
    #expect(task.status == Int32(code))
    let calls = job.folder.text("calls.txt").split(separator: "\n")
    #expect(calls.first?.hasSuffix("--shard 3/4") == true, "\(calls)")
    #expect(calls.dropFirst() == (isRequeued ? ["scontrol requeue 71_3"] : []))
  }

  @Test func `are not started with an option that would be another line`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let command = try await write(job, "slurm", "--time=1\nrm x")
    #expect(
      command.status == 2 && command.stderr.contains("an option must not contain a line break"),
      "\(command.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("shards")))
  }

  private static let hasParallel: Bool = {
    if RunningCommand.find("parallel") != nil { return true }
    FileHandle.standardError.write(Data("\n!!!! SKIPPED: the test of GNU parallel needs parallel\n\n".utf8))
    return false
  }()

  @Test(.enabled(if: hasParallel))
  func `let GNU parallel commit each file once, and do not repeat shards that have succeeded`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    #expect(try await write(job, "parallel", "--jobs", "2").status == 0)
    let first = try await run(job, "run.sh")
    #expect(
      first.status == 0 && first.stdout.contains("\(Self.files) done"), "\(first.stdout) \(first.stderr)")
    try await checkDelivery(receiver)
    let log = job.folder.text("shards/joblog").split(separator: "\n").count
    #expect(log == 5)
  }
}
