import Foundation
import Testing

/// `on_end`: requests that are sent at the end of a run, whatever its outcome.
@Suite struct `A request of on_end` {
  private static let code = #"{"code":"${run.exit_code}","status":"${run.status}","failed":"${run.failed}"}"#

  /// A job with one upload, the token `login`, and the request `notify` at its end.
  private func job(
    _ server: ScriptedServer, target: String = "${vars.home}/put", end: String = "", more: String = "",
    sessions: String = ""
  ) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: end
      vars: { home: "\(server.home)" }
      sessions: { quick: {}, uploads: { kind: background }\(sessions) }
      tokens:
        login:
          session: quick
          request: { method: POST, url: "${vars.home}/token" }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      uploads:
        files:
          session: uploads
          token: login
          files: { root: files }
          transfer: { request: { url: "\(target)/${file.path}" } }
          retry: { limit: 1, initial: 10ms }
      on_end:
        notify:
          session: quick
          request: { method: POST, url: "${vars.home}/end", json: \(Self.code) }
          retry: { limit: 2, initial: 10ms }
          \(end)
      \(more)

      """)
    try job.write("a", to: "a.txt")
    return job
  }

  private static let token = ScriptedServer.Response(status: 200, body: #"{"access":"key-1"}"#)

  /// The bodies of the requests to `/end`.
  private func told(_ server: ScriptedServer) -> [String] {
    server.requests.filter { $0.path == "/end" }.map(\.body)
  }

  private func body(_ code: Int, _ status: String, failed: Int = 0) -> String {
    #"{"code":\#(code),"status":"\#(status)","failed":\#(failed)}"#
  }

  @Test func `is sent after a success, and the summary and the report show it`() async throws {
    let server = try await ScriptedServer.start(["/token": Self.token])
    let (command, report) = try await job(server).run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(server.lines == ["home POST /token", "home PUT /put/a.txt", "home POST /end"])
    #expect(told(server) == [body(0, "success")])
    #expect(command.stdout.contains("\n  on_end notify: succeeded\n"), "\(command.stdout)")
    #expect(report.run.onEnd?.map(\.state) == ["succeeded"])
    #expect(report.totals.requests == 2)
    #expect(!report.nodes.contains { $0.name == "notify" })
  }

  @Test func `is sent if the token was refused, a file failed, or the root is missing`() async throws {
    let refused = try await ScriptedServer.start(["/token": .init(status: 403)])
    #expect(try await job(refused).run().command.status == 7)
    #expect(told(refused) == [body(7, "authorization")])

    let failing = try await ScriptedServer.start(["/token": Self.token, "/put/a.txt": .init(status: 400)])
    #expect(try await job(failing).run().command.status == 1)
    #expect(told(failing) == [body(1, "items_failed", failed: 1)])

    let server = try await ScriptedServer.start([:])
    let missing = try job(server)
    try FileManager.default.removeItem(atPath: missing.folder.path("files"))
    #expect(try await missing.ferry("run", "job.yaml").status == 2)
    #expect(told(server) == [body(2, "usage")])
  }

  @Test func `is sent if the server of the files does not respond, or a budget is used up`() async throws {
    let server = try await ScriptedServer.start(["/token": Self.token])
    #expect(try await job(server, target: "http://127.0.0.1:1/files").run().command.status == 5)
    #expect(told(server) == [body(5, "temporary")])

    let limited = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(limited, more: "budgets: { any: { limit: 8kB, per: month } }")
    for index in 0..<4 { try job.write(String(repeating: "x", count: 3000), to: "\(index).txt") }
    #expect(try await job.run().command.status == 8)
    #expect(told(limited) == [body(8, "deferred")])
  }

  @Test func `is sent if the work was canceled or a signal stopped it`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    for (stop, status, word) in [("cancel", Int32(1), "items_failed"), ("term", 143, "terminated")] {
      let server = try await ScriptedServer.start(["/token": Self.token])
      let job = try job(server, target: receiver.url + "/files")
      let run = try job.start(["run", "job.yaml", "--report", "report.json"])
      let deadline = ContinuousClock.now + .seconds(60)
      while !server.lines.contains("home POST /token"), .now < deadline {
        try await Task.sleep(for: .milliseconds(10))
      }
      if stop == "cancel" {
        #expect(try await job.ferry("cancel", "job.yaml").status == 0)
      } else {
        run.signal(SIGTERM)
      }
      #expect(await run.end().status == status)
      #expect(told(server) == [body(Int(status), word)])
    }
  }

  @Test func `is not sent if the signal used up its grace, or after a second signal`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    for (grace, count) in [("1s", 1), ("30s", 2)] {
      let server = try await ScriptedServer.start(["/token": Self.token])
      let job = try job(server, target: receiver.url + "/files", end: "grace: \(grace)")
      let run = try job.start(["run", "job.yaml", "--report", "report.json"])
      let deadline = ContinuousClock.now + .seconds(60)
      while !server.lines.contains("home POST /token"), .now < deadline {
        try await Task.sleep(for: .milliseconds(10))
      }
      // The upload begins after the token request and before the first signal.
      for _ in 0..<count {
        try await Task.sleep(for: .milliseconds(500))
        run.signal(SIGTERM)
      }
      let end = await run.end()
      #expect(end.status == 143)
      #expect(told(server) == [])
      #expect(try job.report().run.onEnd?.map(\.state) == ["failed"])
      #expect(
        end.stderr.contains("warning: on_end notify: failed: the run was stopped, and no time"),
        "\(end.stderr)")
    }
  }

  @Test func `is a warning if it fails, unless it is required`() async throws {
    for (required, status) in [("false", Int32(0)), ("true", 1)] {
      let server = try await ScriptedServer.start(["/token": Self.token, "/end": .init(status: 400)])
      let (command, report) = try await job(server, end: "required: \(required)").run()
      #expect(command.status == status)
      #expect(report.run.exitCode == status)
      #expect(report.run.onEnd?.map(\.state) == ["failed"])
      #expect(report.run.onEnd?.first?.reason?.status == 400)
      #expect(
        command.stderr.contains("warning: on_end notify: failed: the server responded with 400"),
        "\(command.stderr)")
      #expect(
        command.stdout.contains("\n  on_end notify: failed (the server responded with 400"),
        "\(command.stdout)")
    }
  }

  @Test func `ends with its grace if the server does not respond`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let server = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(
      server, end: "grace: 1s",
      more:
        "  slow: { session: quick, grace: 500ms, request: { method: PUT, url: \"\(receiver.url)/files/x\" } }"
    )
    let began = ContinuousClock.now
    let (command, report) = try await job.run()
    #expect(command.status == 0)
    #expect(ContinuousClock.now - began < .seconds(45))
    #expect(report.run.onEnd?.map(\.state) == ["succeeded", "failed"])
    #expect(
      report.run.onEnd?.last?.reason?.message.hasPrefix("the request did not succeed within 0.5 s") == true)
  }

  @Test func `states the time limit of its session if that is shorter than its grace`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let server = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(
      server,
      more:
        "  slow: { session: short, request: { method: PUT, url: \"\(receiver.url)/files/x\" } }",
      sessions: ", short: { timeout_for_resource: 300ms }")
    let (command, report) = try await job.run()
    let message = report.run.onEnd?.last?.reason?.message
    #expect(
      message?.hasPrefix("the request did not succeed within 0.3 s") == true, "\(command.stdout)")
  }

  @Test func `with a token gets one, and its when chooses the exit codes`() async throws {
    let server = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(
      server, end: "token: login",
      more: "  alert: { session: quick, when: failed, request: { url: \"\(server.home)/alert\" } }")
    let (_, report) = try await job.run()
    #expect(server.requests.first { $0.path == "/end" }?.headers["authorization"] == "Bearer key-1")
    #expect(!server.lines.contains("home GET /alert"))
    #expect(report.run.onEnd?.map(\.state) == ["succeeded", "skipped"])
    try FileManager.default.removeItem(atPath: job.folder.path("files"))
    #expect(try await job.ferry("run", "job.yaml").status == 2)
    #expect(server.lines.contains("home GET /alert"))
  }

  @Test func `is not sent by a run that cannot start`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=30"])
    let server = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(server, target: receiver.url + "/files")
    let run = try job.start(["run", "job.yaml"])
    _ = try await receiver.received { _ in server.lines.contains("home POST /token") }
    #expect(try await job.ferry("run", "job.yaml").status == 6)
    #expect(told(server) == [])
    run.signal(SIGKILL)
    _ = await run.end()
    #expect(told(server) == [])
    // The next run sends only the request for its own end.
    try await receiver.clearFaults()
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    #expect(told(server) == [body(0, "success")])
  }

  @Test func `have an unknown outcome in the report if the run is killed meanwhile`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:delay=60"])
    let server = try await ScriptedServer.start(["/token": Self.token])
    let job = try job(
      server,
      more:
        "  slow: { session: quick, grace: 60s, request: { method: PUT, url: \"\(receiver.url)/files/x\" } }")
    let run = try job.start(["run", "job.yaml"])
    let deadline = ContinuousClock.now + .seconds(60)
    while told(server).isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    run.signal(SIGKILL)
    _ = await run.end()
    let id = try #require(FileManager.default.contentsOfDirectory(atPath: job.state + "/runs").first)
    #expect(try await job.ferry("report", id).stderr.contains("there is nothing to resume"))
    try await receiver.clearFaults()
    let next = try await job.ferry("run", "job.yaml")
    #expect(
      next.status == 0
        && next.stderr.contains(
          "run \(id) was killed after its work had ended; it is unknown whether its on_end requests were sent\n"
        ),
      "\(next.stderr)")
    let command = try await job.ferry("report", id, "--format", "json")
    try ReportValidator.check(Data(command.stdout.utf8))
    let report = try RunReport.decode(Data(command.stdout.utf8))
    #expect(report.run.exitCode == 0 && report.run.state == "ended" && report.run.roundClosed)
    #expect(report.nodes.first { $0.name == "files" }?.state == "succeeded")
    #expect(report.run.onEnd?.map(\.state) == ["ambiguous", "ambiguous"])
  }

  @Test func `is listed by a plan and by a simulation`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try job(server, end: "grace: 10s")
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(
      plan.stdout.contains(
        """
        when the run ends, regardless of its exit code
          notify  [quick]  within 10 s
              request: POST \(server.home)/end

        """), "\(plan.stdout)")
    let simulation = try await job.ferry("plan", "job.yaml", "--simulate", "--bandwidth", "1MB")
    #expect(
      simulation.stdout.contains("\n  after each launch, not simulated: on_end notify\n"),
      "\(simulation.stdout)")
  }
}
