import Foundation
import Testing

/// The scripts of `ferry shard`, run by the engines.
@Suite struct `The scripts for shards` {
  private static let files = 40

  private func job(_ receiver: ReceiverProcess, _ more: String...) throws -> Workspace {
    let notes = """
      requests:
        before: { session: quick, token: login, request: { url: "${vars.api}/done", json: { node: before } } }
        after:
          session: quick
          token: login
          needs: [files]
          request: { url: "${vars.api}/done", json: { node: after } }
      """
    let nodes = ([JobText.uploadIDs(), notes] + more).joined(separator: "\n")
    let job = try Workspace(JobText.text(server: receiver.url, connections: 2, nodes))
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

  /// The tasks of the array, each with its state and start time.
  private func queue(_ cluster: SlurmCluster) async throws -> [String] {
    let queue = try await Command.run(
      "squeue", ["-h", "-r", "-n", "ferry-e2e", "-o", "%K %T %S"], environment: cluster.environment)
    return queue.stdout.split(separator: "\n").map(String.init)
  }

  @Test(.enabled(if: SlurmCluster.isPossible))
  func `let Slurm start a task again when its budget has a new window, and not if the task is canceled`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(
      receiver, "budgets: { any: { limit: 20kB, per: month } }", "engine: { slurm: { cpus: 1 } }")
    #expect(try await write(job, "slurm", "--output=task-%a.txt").status == 0)
    let cluster = try await SlurmCluster.start()
    #expect(try await run(job, "submit.sh", cluster.environment).status == 0)
    // Midnight in UTC on the first day of the next month, in local time.
    let date = try await Command.run(
      "bash", ["-c", "date -d \"$(date -u +%Y-%m-01T00:00:00Z) + 1 month\" +%Y-%m-%dT%H:%M:%S"])
    let start = date.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    // A shard with few files may stay within its part of the budget.
    try await cluster.wait(for: "tasks with a start time", within: .seconds(90)) {
      let tasks = try await queue(cluster)
      return tasks.count >= 2 && tasks.allSatisfy { $0.hasSuffix("PENDING \(start)") }
    }
    let cancelled = try await Command.run("scancel", ["-n", "ferry-e2e"], environment: cluster.environment)
    #expect(cancelled.status == 0, "\(cancelled.stderr)")
    try await cluster.finish(within: .seconds(90))
    #expect(try await receiver.received().commits < Self.files)
  }

  @Test(.enabled(if: SlurmCluster.isPossible))
  func `let Slurm requeue a task at its time limit and a task that was killed, but not one that is canceled`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:delay=300"])
    let job = try job(receiver, "engine: { slurm: { partition: main, time: 2h, cpus: 1 } }")
    #expect(try await write(job, "slurm", "--output=task-%a.txt").status == 0)
    let script = job.folder.text("shards/shards.sbatch")
    for option in ["--partition=main", "--time=02:00:00", "--cpus-per-task=1"] {
      #expect(script.contains("#SBATCH \(option)\n"), "\(script)")
    }
    let cluster = try await SlurmCluster.start()
    #expect(try await run(job, "submit.sh", cluster.environment).status == 0)
    try await cluster.wait(for: "four tasks", within: .seconds(60)) {
      let running = try await queue(cluster).filter { $0.contains("RUNNING") }
      let uploads = try await receiver.received().uploads
      return running.count == 4 && uploads.count >= 8
    }
    let ids = try await Command.run(
      "squeue", ["-h", "-r", "-n", "ferry-e2e", "-o", "%K %i"], environment: cluster.environment)
    let jobs = Dictionary(
      uniqueKeysWithValues: ids.stdout.split(separator: "\n").map { line in
        let words = line.split(separator: " ").map(String.init)
        return (words[0], words[1])
      })
    // Slurm sends the same signal before the time limit.
    let tasks = try (1...4).map { try #require(jobs["\($0)"]) }
    for arguments in [["--batch", "--signal=USR1", tasks[0]], [tasks[1]]] {
      #expect(try await Command.run("scancel", arguments, environment: cluster.environment).status == 0)
    }
    // The path of the state folder is unique.
    let found = try await Command.run("pgrep", ["-f", "\(job.state) .*--shard 3/4"])
    let pid = try #require(
      Int32(found.stdout.trimmingCharacters(in: .whitespacesAndNewlines)), "\(found.stdout)")
    #expect(kill(pid, SIGKILL) == 0)
    try await receiver.clearFaults()
    try await cluster.finish(within: .seconds(120))
    let merged = try await job.ferry("report", "merge", job.state, "--format", "json")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(merged.stdout.utf8)) as? [String: Any])
    let parts = try #require((report["run"] as? [String: Any])?["shards"] as? [[String: Any]])
    let restarts = Dictionary(
      uniqueKeysWithValues: parts.map { ($0["part"] as? String ?? "", $0["restarts"] as? Int ?? 0) })
    #expect(restarts["1/4"] == 1 && restarts["2/4"] == 0 && restarts["3/4"] == 1, "\(restarts)")
    let received = try await receiver.received()
    #expect(received.uploads.allSatisfy { $0.commits <= 1 } && received.commits < Self.files)
  }

  /// The programs `ferry` and `scontrol` in a folder, which record their arguments. `ferry` exits with a code, and `ferry
  /// next` prints a time.
  private func programs(_ job: Workspace, code: Int, next: String = "") throws {
    let ferry = "[ \"$1\" != next ] || { echo '\(next)'; exit 0; }\nexit \(code)"
    for (name, end) in [("ferry", ferry), ("scontrol", "exit 0")] {
      let text = "#!/bin/sh\necho \"\(name) $*\" >> \(job.folder.path("calls.txt"))\n\(end)\n"
      try job.folder.write(Data(text.utf8), to: "bin/\(name)")
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: job.folder.path("bin/\(name)"))
    }
  }

  /// Runs task 3 of the array 71 with these programs, and returns its exit code and their calls.
  private func runTask(_ job: Workspace, restarts: String) async throws -> (status: Int32, calls: [String]) {
    let written = try await job.start([
      "shard", "job.yaml", "--shards", "4", "--engine", "slurm", "--program", job.folder.path("bin/ferry"),
    ]).end()
    #expect(written.status == 0, "\(written.stderr)")
    let path = job.folder.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let task = try await run(
      job, "shards.sbatch",
      [
        "PATH": path, "TZ": "UTC", "SLURM_ARRAY_JOB_ID": "71", "SLURM_ARRAY_TASK_ID": "3",
        "SLURM_RESTART_COUNT": restarts,
      ])
    let calls = job.folder.text("calls.txt").split(separator: "\n").map(String.init)
    return (task.status, calls)
  }

  @Test(arguments: [
    (5, "0", true), (6, "0", true), (10, "0", true), (137, "0", true), (143, "0", true), (5, "19", true),
    (5, "20", false), (137, "20", false), (0, "0", false), (1, "0", false), (2, "0", false), (7, "0", false),
    (70, "0", false),
  ])
  func `requeue a task of Slurm if the next run can succeed, a limited number of times`(
    _ code: Int, _ restarts: String, _ isRequeued: Bool
  ) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    try programs(job, code: code)
    let (status, calls) = try await runTask(job, restarts: restarts)
    #expect(status == Int32(code))
    #expect(calls.first?.hasSuffix("--shard 3/4") == true, "\(calls)")
    #expect(Array(calls.dropFirst()) == (isRequeued ? ["scontrol requeue 71_3"] : []), "\(calls)")
  }

  @Test(arguments: [
    ("", "now+900", "0"), ("", "now+900", "20"), ("2031-02-03T04:05:06Z", "2031-02-03T04:05:06", "0"),
  ])
  func `requeue a task of Slurm that has to wait any number of times, for the time that ferry next prints`(
    _ next: String, _ start: String, _ restarts: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    try programs(job, code: 8, next: next)
    let (status, calls) = try await runTask(job, restarts: restarts)
    #expect(status == 8)
    try #require(calls.count == 4, "\(calls)")
    #expect(calls[0].hasSuffix("--shard 3/4"))
    #expect(calls[1].hasPrefix("ferry next ") && calls[1].hasSuffix("/shards/e2e/3-of-4"), "\(calls[1])")
    #expect(calls[2...] == ["scontrol requeue 71_3", "scontrol update JobId=71_3 StartTime=\(start)"])
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

  @Test func `run in their own folder, whatever CDPATH contains`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    #expect(try await write(job, "slurm").status == 0)
    _ = try job.folder.makeFolder("decoy/shards")
    try job.folder.write(Data("#!/bin/sh\npwd >> \(job.folder.path("calls.txt"))\n".utf8), to: "bin/sbatch")
    chmod(job.folder.path("bin/sbatch"), 0o755)
    let path = job.folder.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let command = try await Command.run(
      "bash", ["shards/submit.sh"], environment: ["PATH": path, "CDPATH": job.folder.path("decoy")],
      in: job.folder.url)
    #expect(command.status == 0, "\(command.stderr)")
    let folders = Set(job.folder.text("calls.txt").split(separator: "\n").map(String.init))
    #expect(folders.count == 1 && folders.allSatisfy { $0.hasSuffix("/shards") && !$0.contains("decoy") })
  }

  private static let hasParallel: Bool = {
    if RunningCommand.find("parallel") != nil { return true }
    FileHandle.standardError.write(Data("\n!!!! SKIPPED: the test of GNU parallel needs parallel\n\n".utf8))
    return false
  }()

  /// GNU parallel passes its words to a shell, and replaces `{}`.
  @Test(.enabled(if: hasParallel), arguments: ["shards", "it's {}; touch injected", "größe\n{}{.}"])
  func `let GNU parallel commit each file once, and do not repeat shards that have succeeded`(
    _ folder: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let written = try await job.ferry(
      "shard", "job.yaml", "--shards", "4", "--engine", "parallel", "--program", Product.path("ferry"),
      "--engine-option=--jobs=2", "--out", folder)
    #expect(written.status == 0, "\(written.stderr)")
    let first = try await Command.run(
      "bash", [job.folder.path("\(folder)/run.sh")], environment: ["E2E_SECRET": Workspace.secret],
      in: job.folder.url)
    #expect(
      first.status == 0 && first.stdout.contains("\(Self.files) done"), "\(first.stdout) \(first.stderr)")
    try await checkDelivery(receiver)
    let log = job.folder.text("\(folder)/joblog").split(separator: "\n").count
    #expect(log == 5)
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("\(folder)/injected")))
  }
}
