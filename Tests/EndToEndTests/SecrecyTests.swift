import Foundation
import Testing

/// A secret must appear on the wire and nowhere else, neither in plain text nor percent-encoded nor in Base64.
@Suite struct `The secrets of a run` {
  /// A manifest whose token is sent in a header field and in a URL, so that as many messages as possible could quote
  /// it.
  private static func text(_ receiver: ReceiverProcess) -> String {
    JobText.text(
      server: receiver.url, connections: 1, JobText.uploadIDs(),
      """
      requests:
        tell:
          session: quick
          token: login
          request: { method: PUT, url: "${vars.api}/nowhere/${token.access_token}?s=${secrets.client_secret}" }
      """)
  }

  @Test func `stay out of outputs, reports, journals, plans and process titles`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--client-secret", Workspace.secret],
      faults: [
        "content:delay=0.1", "content:every=2,times=1,status=403", "commit:every=3,times=1,status=500",
      ])
    let job = try Workspace(Self.text(receiver))
    for index in 0..<6 { try job.write("file \(index)", to: "\(index).txt") }

    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    // By this time, there was also a response to the request with the token in its path.
    _ = try await receiver.received { $0.contents >= 2 && $0.requests >= 6 }
    // Some systems have no /proc.
    let title = (try? Data(contentsOf: URL(filePath: "/proc/\(run.pid)/cmdline"))) ?? Data()
    // The state of a running process, including the journal's write-ahead log.
    let working = try job.stateFiles()
    run.signal(SIGKILL)
    let killed = await run.end()
    let left = try job.stateFiles()
    let (command, _) = try await job.run()
    #expect(command.status == 1)
    // The next round sends the request with a new token.
    _ = try await job.run()
    let plan = try await job.ferry("plan", "job.yaml")
    let json = try await job.ferry("plan", "job.yaml", "--format", "json")
    let report = try await job.ferry("report")

    // The receiver's log shows the tokens in the paths of the requests.
    let tokens = Set(
      receiver.log.filter { $0.hasPrefix("PUT /nowhere/") }.compactMap {
        $0.split(separator: " ").dropFirst().first.map { String($0.dropFirst("/nowhere/".count)) }
      })
    #expect(tokens.count >= 2)
    let secrets = [Workspace.secret] + tokens
    SecretForms.expectNone(of: secrets, in: title, "the process's title")
    for (name, text) in [
      ("the killed run", killed), ("the run", command), ("the plan", plan), ("the plan as JSON", json),
      ("ferry report", report),
    ] {
      SecretForms.expectNone(of: secrets, in: Data(text.stdout.utf8), "the standard output of \(name)")
      SecretForms.expectNone(of: secrets, in: Data(text.stderr.utf8), "the standard error of \(name)")
    }
    SecretForms.expectNone(of: secrets, in: Data(job.folder.text("report.json").utf8), "--report")
    for files in [working, left, try job.stateFiles()] {
      #expect(files.keys.contains { $0.hasSuffix(".db") })
      for (name, data) in files { SecretForms.expectNone(of: secrets, in: data, name) }
    }
  }

  @Test func `stay out of messages when the token server rejects them`() async throws {
    let receiver = try await ReceiverProcess.start(["--client-secret", "another"])
    let job = try Workspace(Self.text(receiver))
    try job.write("a file", to: "a.txt")
    let (command, _) = try await job.run()
    #expect(command.status == 7)
    SecretForms.expectNone(
      of: [Workspace.secret], in: Data((command.stdout + command.stderr).utf8), "the output")
    SecretForms.expectNone(of: [Workspace.secret], in: Data(job.folder.text("report.json").utf8), "--report")
    for (name, data) in try job.stateFiles() {
      SecretForms.expectNone(of: [Workspace.secret], in: data, name)
    }
  }

  @Test func `are stored only in files that only their owner can read`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("a file", to: "a.txt")
    _ = try await job.run()
    let files = try job.stateFiles().keys.filter { $0.contains(".db") }
    #expect(!files.isEmpty)
    for name in files {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(job.state)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }
}
