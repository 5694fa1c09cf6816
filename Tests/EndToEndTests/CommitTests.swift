import Foundation
import Testing

/// Commits whose responses are lost, and the settings that make repeated commits recognizable.
@Suite struct `A commit` {
  private static let key = "idempotency_key: { header: Idempotency-Key }"
  private static let noRetry = "retry: { limit: 0, initial: 10ms, max: 10ms }"

  private func workspace(
    _ receiver: ReceiverProcess, files count: Int = 5, retry: String = JobText.retry, recognized: String
  ) throws -> Workspace {
    let job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2, JobText.uploadIDs(retry: retry, recognized: recognized)))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  @Test(arguments: ["drop=after", "drop=after,cut=close", "drop=before", "drop=before,cut=close"])
  func `with an idempotency key is repeated and executed once`(_ fault: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:every=3,\(fault)"])
    let job = try workspace(receiver, recognized: Self.key)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.count == 5)
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.allocations == 1 })
  }

  @Test func `has the same idempotency key in every launch`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after"])
    let job = try workspace(receiver, files: 1, retry: Self.noRetry, recognized: Self.key)
    #expect(try await job.run().command.status == 5)
    try await receiver.clearFaults()
    // If the key were different, the server would respond with 409, which the manifest does not accept.
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let upload = try await receiver.received().byName["0.txt"]
    #expect(upload?.commits == 1)
    #expect(upload?.contents == 1)
    #expect(upload?.allocations == 1)
  }

  /// An upload without upload IDs, so that only the idempotency key identifies a commit.
  private static func keyed(
    _ server: ScriptedServer, _ route: String, deliver: String = "every_run", more: String = "",
    recognized: String = key
  ) -> String {
    """
    version: 1
    name: keyed
    vars: { api: "\(server.home)" }
    sessions: { s: { kind: background } }
    uploads:
      up:
        session: s
        files: { root: files }
        deliver: \(deliver)
        \(noRetry)
        transfer: { request: { url: "${vars.api}/files/${file.name}" } }
        commit:
          request: { url: "${vars.api}/\(route)/${file.name}" }
          \(recognized)
        \(more)

    """
  }

  private static func keys(_ server: ScriptedServer) -> [String?] {
    server.requests.filter { $0.server == "home" && $0.path.hasSuffix("/commit/a") }
      .map { $0.headers["idempotency-key"] }
  }

  private static func busy() async throws -> ScriptedServer {
    try await .start(["/busy/commit/a": .init(status: 500)])
  }

  /// The server executed the commit, but its response was lost. A run against another server then closed the round.
  @Test func `keeps its idempotency key in a later round`() async throws {
    let server = try await Self.busy()
    let job = try Workspace(Self.keyed(server, "busy/commit"))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: Self.keyed(server, "commit"))
    #expect(try await job.run(["--var", "api=\(server.away)"]).command.status == 0)
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let keys = Self.keys(server)
    #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1], "\(keys)")
    let item = try await job.ferry("journal", "export").stdout
    // The next delivery gets a new key, so the journal does not keep the old one.
    #expect(!item.contains("idempotency_key"))
  }

  @Test(arguments: [
    (["when_changed", ""], ["every_run", ""]), (["every_run", ""], ["when_changed", ""]),
    (["when_changed", "compare: content"], ["when_changed", ""]),
    (["when_changed", ""], ["when_changed", "compare: content"]),
  ])
  func `keeps its idempotency key when the manifest is edited`(_ before: [String], _ after: [String])
    async throws
  {
    let server = try await Self.busy()
    let job = try Workspace(Self.keyed(server, "busy/commit", deliver: before[0], more: before[1]))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 5)
    let key = Self.keys(server).first ?? nil
    #expect(try await job.ferry("journal", "export").stdout.contains(key ?? "no key"))
    try job.write(manifest: Self.keyed(server, "commit", deliver: after[0], more: after[1]))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(Self.keys(server) == [key, key])
  }

  @Test(arguments: ["already_done: { status: [409] }", "idempotency_key: { header: X-Key }"])
  func `is ambiguous if the first attempt did not carry the key`(_ recognized: String) async throws {
    let server = try await Self.busy()
    let job = try Workspace(Self.keyed(server, "busy/commit", recognized: recognized))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 5)
    try job.write(manifest: Self.keyed(server, "commit"))
    let (command, report) = try await job.run()
    #expect(command.status == 1 && report.item("a")?.state == "ambiguous", "\(command.stdout)")
    #expect(command.stdout.contains("the server would not recognize a repeated commit"), "\(command.stdout)")
    #expect(Self.keys(server) == [nil])
  }

  @Test(arguments: ["drop=after", "drop=after,cut=close", "drop=before", "drop=before,cut=close"])
  func `with a probe is checked, and sent again only if it was not executed`(
    _ fault: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: [
      "commit:every=3,\(fault)", "state:every=2,status=503",
    ])
    let job = try workspace(receiver, recognized: JobText.probe)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.count == 5)
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.allocations == 1 })
    #expect(!receiver.log.contains { $0.hasSuffix("/commit 409") })
    #expect(report.items.contains { $0.attempts.contains { $0.step == "commit" } })
  }

  /// The commit was executed, and the probe was redirected to a login page.
  @Test(
    arguments: ["{home}", "{away}"],
    [
      (404, "{ json: { /state: committed } }"), (200, "{ regex: committed }"), (200, "{ status: [200] }"),
      (401, "{ status: [200] }"),
    ])
  func `with a probe is not sent again because a page of another kind responds`(
    _ server: String, _ page: (status: Int, expect: String)
  ) async throws {
    let servers = try await ScriptedServer.start([
      "/commit/a": .init(status: 500),
      "/state/a": .init(status: 302, headers: ["Location": "\(server)/login"]),
      "/login": .init(status: page.status, body: "please log in"),
    ])
    let probe = "probe: { request: { url: \"${vars.api}/state/${file.name}\" }, expect: \(page.expect) }"
    let job = try Workspace(Self.keyed(servers, "commit", recognized: probe))
    try job.write("one", to: "a")
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 0)
    #expect(servers.lines.count { $0 == "home POST /commit/a" } == 1, "\(servers.lines)")
  }

  @Test func `with a probe is checked by a redirected response that shows it`() async throws {
    let servers = try await ScriptedServer.start([
      "/commit/a": .init(status: 500), "/state/a": .init(status: 302, headers: ["Location": "{home}/now/a"]),
      "/now/a": .init(status: 200, body: "{ \"state\": \"committed\" }"),
    ])
    let probe =
      "probe: { request: { url: \"${vars.api}/state/${file.name}\" }, expect: { json: { /state: committed } } }"
    let job = try Workspace(
      Self.keyed(servers, "commit", recognized: probe).replacing(Self.noRetry, with: JobText.retry))
    try job.write("one", to: "a")
    #expect(try await job.run().command.status == 0)
    #expect(servers.lines.count { $0 == "home POST /commit/a" } == 1, "\(servers.lines)")
  }

  @Test func `with a probe is checked by the launch that finds it sent`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after", "state:status=503"])
    let job = try workspace(receiver, files: 2, retry: Self.noRetry, recognized: JobText.probe)
    #expect(try await job.run().command.status == 5)
    try await receiver.clearFaults()
    #expect(try await job.run().command.status == 0)
    let received = try await receiver.received()
    #expect(received.commits == 2)
    #expect(receiver.log.filter { $0.contains("/commit ") && $0.hasSuffix(" 409") }.isEmpty)
  }

  /// The server may have executed the first commit after it responded to the probe.
  @Test func `with a probe and a key is sent again with the same key`() async throws {
    let server = try await Self.busy()
    let probe = """
      probe: { request: { url: "\(server.home)/state" }, expect: { json: { /state: committed } } }
      """
    let recognized = Self.key + "\n      " + probe
    let job = try Workspace(
      Self.keyed(server, "busy/commit", recognized: recognized)
        .replacing(Self.noRetry, with: "retry: { limit: 3, initial: 10ms }"))
    try job.write("a", to: "a")
    _ = try await job.run()
    let steps = server.lines.filter { !$0.contains("/files/") }
    #expect(steps.prefix(3) == ["home POST /busy/commit/a", "home GET /state", "home POST /busy/commit/a"])
    let keys = Self.keys(server)
    #expect(keys.count >= 2 && Set(keys).count == 1 && !keys.contains(nil))
  }

  @Test func `with a probe that is refused is ambiguous`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["commit:drop=after", "state:status=403"])
    let job = try workspace(receiver, files: 1, recognized: JobText.probe)
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.items.first?.state == "ambiguous")
    #expect(report.items.first?.reason?.code == "answer_lost")
    #expect(report.items.first?.ambiguity?.step == "commit")
    #expect(report.items.first?.ambiguity?.origin == receiver.url)
  }
}
