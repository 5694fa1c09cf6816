import Foundation
import Testing

/// The environment in which ferry starts a command of `on_events`.
@Suite struct `A command of on_events` {
  private static let script = """
    #!/bin/sh
    env > env.txt
    # Not the shell's own list: it keeps its script and what it redirects open.
    python3 - > descriptors.txt <<'END'
    import os
    folder = "/proc/self/fd/"
    print("\\n".join(number for number in sorted(os.listdir(folder)) if os.path.exists(folder + number)))
    END
    ps -o sid= -p $$ | tr -d ' ' > session.txt
    echo $$ >> session.txt
    mv session.txt done.txt
    """

  private func job(_ receiver: ReceiverProcess, command: String = "./told") throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts)
        .replacing(
          "identifier: e2e.uploads", with: "identifier: e2e.uploads\n    on_events: [\(command)]"))
    try job.write("a", to: "a.txt")
    try job.folder.write(Data(Self.script.utf8), to: "told")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    return job
  }

  /// Waits for the end of the command, and returns its environment variables.
  private func told(_ job: Workspace) async throws -> [String: String] {
    let done = job.folder.path("done.txt")
    let deadline = ContinuousClock.now + .seconds(60)
    while !FileManager.default.fileExists(atPath: done), .now < deadline {
      // The test polls, because the run does not wait indefinitely for the command.
      try await Task.sleep(for: .milliseconds(10))
    }
    var variables: [String: String] = [:]
    for line in try String(contentsOfFile: job.folder.path("env.txt"), encoding: .utf8).split(separator: "\n")
    {
      let sides = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if sides.count == 2 { variables[String(sides[0])] = String(sides[1]) }
    }
    return variables
  }

  @Test func `gets a small environment, without a variable that a secret is read from`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let end = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", environment: ["MORE": "more", "LC_TIME": "C"])
    #expect(end.status == 0, "\(end.stderr)")
    let variables = try await told(job)
    #expect(variables["FERRY_SESSION"] == "e2e.uploads")
    #expect(FileManager.default.fileExists(atPath: variables["FERRY_REPORT"] ?? ""))
    #expect(try variables["FERRY_RUN"] == job.report().run.id)
    #expect(variables["FERRY_STATE"].map { URL(filePath: $0).lastPathComponent } == "state")
    #expect(variables["PATH"] != nil && variables["LC_TIME"] == "C")
    let known: Set = [
      "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
      "LC_TIME",
      "FERRY_REPORT", "FERRY_RUN", "FERRY_SESSION", "FERRY_STATE",
      // The shell sets these variables.
      "PWD", "OLDPWD", "SHLVL", "_",
    ]
    let others = variables.keys.filter { !known.contains($0) && !$0.hasPrefix("LC_") }
    #expect(others.isEmpty, "\(others)")
    #expect(!variables.values.contains(Workspace.secret))
  }

  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }), arguments: ["./told", "./link"])
  func `is not another user's program in a world-writable folder`(_ command: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, command: command)
    #expect(symlink("told", job.folder.path("link")) == 0)
    chmod(job.folder.url.path, 0o1777)
    chown(job.folder.path("told"), 65534, 65534)
    let end = try await job.ferry("run", "job.yaml")
    #expect(end.status == 0 && end.stderr.contains("belongs to user 65534"), "\(end.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("env.txt")))
  }

  @Test func `never gets a secret, even if its variable is one of those that are passed on`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: text.replacing("env: E2E_SECRET", with: "env: LC_SECRET"))
    let end = try await job.ferry(
      "run", "job.yaml", environment: ["LC_SECRET": Workspace.secret, "LC_TIME": "C"])
    #expect(end.status == 0, "\(end.stderr)")
    let variables = try await told(job)
    #expect(variables["LC_SECRET"] == nil && variables["LC_TIME"] == "C")
    #expect(!variables.values.contains(Workspace.secret))
  }

  @Test func `gets the variables that the manifest sets with env`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver, command: "env, \"LEVEL=${env.LEVEL}\", ./told")
    let end = try await job.ferry("run", "job.yaml", environment: ["LEVEL": "high"])
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try await told(job)["LEVEL"] == "high")
  }

  @Test func `has only the standard descriptors, and its own session`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    // The command does not inherit the descriptors that ferry itself has inherited.
    let end = try await job.start(
      ["-c", "exec \(Product.path("ferry")) run job.yaml 7< job.yaml"], program: "/bin/sh"
    ).end()
    #expect(end.status == 0, "\(end.stderr)")
    _ = try await told(job)
    let numbers = try String(contentsOfFile: job.folder.path("descriptors.txt"), encoding: .utf8)
      .split(separator: "\n")
    #expect(numbers == ["0", "1", "2"], "\(numbers)")
    let session = try String(contentsOfFile: job.folder.path("done.txt"), encoding: .utf8).split(
      separator: "\n")
    #expect(session.count == 2 && session.first == session.last, "\(session)")
  }

  @Test(arguments: [("exit 3", "exited with status 3"), ("kill -9 $$", "was terminated by signal 9")])
  func `that fails is reported, and does not change the exit code`(_ script: String, words: String)
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try job.folder.write(Data("#!/bin/sh\n\(script)\n".utf8), to: "told")
    let (end, report) = try await job.run("--quiet")
    #expect(end.status == 0, "\(end.stderr)")
    #expect(end.stderr == "ferry: warning: on_events of session 'uploads': ./told \(words)\n")
    let command = try #require(report.run.onEvents?.first)
    #expect(command.session == "uploads" && command.command == "./told" && command.isRunning == nil)
    #expect(command.exitStatus == (script == "exit 3" ? 3 : nil))
    #expect(command.signal == (script == "exit 3" ? nil : 9))
    let summary = try await job.ferry("report")
    #expect(
      summary.stdout.contains("\n  on_events of session 'uploads': ./told \(words)\n"), "\(summary.stdout)")
  }

  @Test func `that succeeds is in the report, and nothing is printed`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let (end, report) = try await job.run("--quiet")
    #expect(end.status == 0 && end.stderr == "")
    #expect(report.run.onEvents?.map(\.exitStatus) == [0])
    #expect(try await !job.ferry("report").stdout.contains("on_events"))
  }

  @Test func `may start a run of the same session`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try job.folder.write(
      Data("#!/bin/sh\nE2E_SECRET=x exec \"$0.ferry\" run --state \"$FERRY_STATE\" --quiet job.yaml\n".utf8),
      to: "told")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("told.ferry"), withDestinationPath: Product.path("ferry"))
    let (end, report) = try await job.run("--quiet")
    #expect(end.status == 0, "\(end.stderr)")
    #expect(report.run.onEvents?.map(\.exitStatus) == [0], "\(end.stderr)")
  }

  @Test func `that does not exit does not delay the end of the run`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try job.folder.write(Data("#!/bin/sh\nexec sleep 100 2> /dev/null > /dev/null\n".utf8), to: "told")
    let began = ContinuousClock.now
    let (end, report) = try await job.run("--quiet", "--max-duration", "3s")
    #expect(end.status == 0, "\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(60))
    #expect(report.run.onEvents?.map(\.isRunning) == [true])
  }

  @Test(arguments: [
    (SIGTERM, ""), (SIGINT, ""), (SIGHUP, ""), (SIGHUP, "execution_window: { foreground: 1h }\n"),
  ])
  func `is not waited for after a signal, and the report is written`(
    _ signal: Int32, _ window: String
  ) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    let text = job.folder.text("job.yaml")
    try job.write(manifest: text.replacing("name: e2e\n", with: "name: e2e\n\(window)"))
    try job.folder.write(
      Data("#!/bin/sh\nexec 2> /dev/null > /dev/null\ntouch started\nexec sleep 100\n".utf8), to: "told")
    let run = try job.start([
      "run", "job.yaml", "--quiet", "--launch", "foreground", "--report", "report.json",
    ])
    while !FileManager.default.fileExists(atPath: job.folder.path("started")), run.isRunning {
      // The test polls, because the run does not wait indefinitely for the command.
      try await Task.sleep(for: .milliseconds(10))
    }
    let began = ContinuousClock.now
    run.signal(signal)
    let end = await run.end()
    #expect(end.status == 0, "\(end.stderr)")
    #expect(began.duration(to: .now) < .seconds(9), "without a signal, the run waits for 10 seconds")
    let report = try job.report()
    #expect(report.run.exitCode == 0 && report.run.onEvents?.map(\.isRunning) == [true])
  }

  /// A job with six files in six batches.
  private func batches(_ receiver: ReceiverProcess, _ script: String) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { uploads: { kind: background, on_events: [./told] } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          batch: { max_items: 1 }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }

      """)
    for index in 0..<6 { try job.write("file \(index)", to: "\(index).txt") }
    try job.folder.write(Data(script.utf8), to: "told")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    return job
  }

  private func lines(_ job: Workspace, _ name: String = "told.txt") throws -> [String] {
    try String(contentsOfFile: job.folder.path(name), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func `starts when each batch completes, and gets the report only at the end of the run`() async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=0.5"])
    let job = try batches(
      receiver, "#!/bin/sh\necho \"$FERRY_RUN ${FERRY_REPORT-none}\" >> told.txt\n")
    let (end, report) = try await job.run("--quiet")
    #expect(end.status == 0 && end.stderr == "", "\(end.stderr)")
    let told = try lines(job)
    #expect(told.dropLast() == Array(repeating: "\(report.run.id) none", count: 5)[...], "\(told)")
    #expect(told.last?.hasSuffix("/report.json") == true, "\(told)")
    let starts = try #require(report.run.onEvents)
    #expect(starts.map(\.exitStatus) == Array(repeating: 0, count: 6))
    let times = starts.compactMap(\.startedAt)
    #expect(times.count == 6 && times == times.sorted())
    #expect(times[4] < report.run.endedAt && report.run.endedAt < times[5], "\(times), \(report.run.endedAt)")
    #expect(try await job.status().session("e2e.uploads")?.eventsPending == false)
  }

  @Test func `is started once more for the batches that complete while it is running`() async throws {
    let receiver = try await ReceiverProcess.start()
    // The first command ends when all batches have completed.
    let job = try batches(
      receiver,
      """
      #!/bin/sh
      mkdir running || echo overlap >> told.txt
      echo "${FERRY_REPORT:+report}" >> told.txt
      while ! [ -e gate ]; do sleep 0.05; done
      rmdir running

      """)
    let run = try job.start(["run", "job.yaml", "--report", "report.json", "--quiet"])
    while try await receiver.received().files.count < 6, run.isRunning {
      try await Task.sleep(for: .milliseconds(20))
    }
    try job.folder.write(Data(), to: "gate")
    let end = await run.end()
    #expect(end.status == 0 && end.stderr == "", "\(end.stderr)")
    #expect(try String(contentsOfFile: job.folder.path("told.txt"), encoding: .utf8) == "\nreport\n")
    #expect(try job.report().run.onEvents?.map(\.exitStatus) == [0, 0])
  }

  @Test func `that is still running at the end of the run is started again by the next one`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try batches(
      receiver, "#!/bin/sh\necho told >> told.txt\n[ -e gate ] || exec sleep 100 2> /dev/null > /dev/null\n")
    let (end, report) = try await job.run("--quiet", "--max-duration", "5s")
    #expect(
      end.stderr
        == "ferry: warning: on_events of session 'uploads': ./told is still running; the next run will start it again\n"
    )
    #expect(end.status == 0 && report.run.onEvents?.map(\.isRunning) == [true])
    #expect(try await job.status().session("e2e.uploads")?.eventsPending == true)
    try job.folder.write(Data(), to: "gate")
    let next = try await job.run("--quiet")
    #expect(next.report.run.onEvents?.map(\.exitStatus) == [0])
    #expect(try lines(job).count == 2)
    #expect(try await job.status().session("e2e.uploads")?.eventsPending == false)
  }

  @Test func `of on_expiry is started once when the window ends, and its failure is a warning`() async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    let job = try Workspace(
      """
      version: 1
      name: e2e
      execution_window: { background: 2s, on_expiry: [./told, "a word"] }
      sessions: { quick: { identifier: e2e.quick } }
      uploads:
        files:
          session: quick
          files: { root: files }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }

      """)
    for index in 0..<3 { try job.write("file \(index)", to: "\(index).txt") }
    try job.folder.write(
      Data(
        "#!/bin/sh\necho \"$1 $FERRY_RUN $FERRY_TIME_REMAINING ${FERRY_SESSION-none}\" >> told.txt\nexit 3\n"
          .utf8),
      to: "told")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: job.folder.path("told"))
    let (end, report) = try await job.run("--launch", "background", "--quiet")
    #expect(end.status == 10)
    #expect(end.stderr.contains("ferry: warning: on_expiry: ./told exited with status 3\n"), "\(end.stderr)")
    #expect(report.run.onExpiry?.map(\.exitStatus) == [3] && report.run.onEvents == nil)
    #expect(report.run.onExpiry?.first?.session == nil)
    #expect(try lines(job) == ["a word \(report.run.id) 0 none"])
    let summary = try await job.ferry("report")
    #expect(summary.stdout.contains("\n  on_expiry: ./told exited with status 3\n"), "\(summary.stdout)")
  }

  @Test func `gets the time that remains of the window, as the status of the running session shows it`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try batches(
      receiver,
      """
      #!/bin/sh
      echo "$FERRY_TIME_REMAINING" >> told.txt
      "$0.ferry" status --state "$FERRY_STATE" --format json > status.json.new && mv status.json.new status.json
      while ! [ -e gate ]; do sleep 0.05; done

      """)
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("told.ferry"), withDestinationPath: Product.path("ferry"))
    let text = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(
      manifest: text.replacing("name: e2e\n", with: "name: e2e\nexecution_window: { event: 1h }\n"))
    // The response to the last file is delayed, so that the run is still in progress when the first command starts.
    try await receiver.add(spec: "file:every=6,delay=300")
    let run = try job.start(["run", "job.yaml", "--quiet", "--launch", "event"])
    let path = job.folder.path("status.json")
    while !FileManager.default.fileExists(atPath: path), run.isRunning {
      try await Task.sleep(for: .milliseconds(20))
    }
    let window = try #require(try await job.status().session("e2e.uploads")?.window)
    #expect((3000..<3600).contains(window.remainingSeconds), "\(window)")
    let told = try #require(Int(try lines(job).first ?? ""))
    #expect((3000..<3600).contains(told), "\(told)")
    let people = try await job.ferry("status", "e2e.uploads")
    #expect(people.stdout.contains("\n  execution window: about "), "\(people.stdout)")
    try job.folder.write(Data(), to: "gate")
    run.signal(SIGTERM)
    run.signal(SIGTERM)
    _ = await run.end()
    #expect(try await job.status().session("e2e.uploads")?.window == nil)
  }
}
