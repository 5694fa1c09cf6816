import Foundation
import Testing

/// A server that fails in every run does not keep the round open forever.
@Suite(
  .enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere }
) struct `A round with a server that fails in every run` {
  private func run(_ job: Workspace, at minutes: Int) async throws -> RunReport {
    let clock = job.folder.path("clock")
    try Data("\(minutes * 60)".utf8).write(to: URL(filePath: clock), options: .atomic)
    let command = try job.start(
      ["run", "job.yaml", "--report", "report.json"],
      environment: try await StateFaults.environment(clock: clock))
    _ = await command.end()
    return try job.report()
  }

  /// The failures of an ephemeral session are not recorded.
  @Test(arguments: [
    (500, "[]", "default"), (200, "<html>Log in</html>", "default"), (500, "[]", "ephemeral"),
  ])
  func `is closed once timeout_for_resource has passed since the first failure`(
    _ status: Int, _ list: String, _ kind: String
  ) async throws {
    let server = try await ScriptedServer.start([
      "/list": .init(status: status, body: list),
      "/put/a": .init(status: 403, next: [.init(status: 200)]),
    ])
    let job = try Workspace(
      """
      version: 1
      name: rounds
      sessions:
        s: { timeout_for_resource: 1h }
        lists: { kind: \(kind), timeout_for_resource: 1h }
      fetches:
        list: { session: lists, request: { url: "\(server.home)/list" }, save_to: list.json, retry: { limit: 0 } }
      downloads:
        d: { session: s, items: { from: list, json: "", url: "${item.url}", save_to: "dl/${item.name}" } }
      uploads:
        u: { session: s, files: { root: files }, transfer: { request: { url: "\(server.home)/put/${file.path}" } } }

      """)
    try job.write("a", to: "a")
    #expect(try await !run(job, at: 0).run.roundClosed)
    #expect(try await !run(job, at: 30).run.roundClosed)
    let last = try await run(job, at: 61)
    #expect(last.run.roundClosed, "\(last.nodes)")
    #expect(last.node("d")?.state == (status == 200 ? "failed" : "skipped"))
    #expect(server.lines.filter { $0.hasSuffix("/put/a") }.count == 1)
    let next = try await run(job, at: 62)
    #expect(!next.run.roundClosed && next.node("u")?.state == "succeeded")
    #expect(server.lines.filter { $0.hasSuffix("/put/a") }.count == 2)
  }

  /// A new file before each run has its own time, and the times of items in an ephemeral session are not recorded.
  @Test(arguments: [("background", "upload"), ("ephemeral", "upload"), ("ephemeral", "download")])
  func `is closed even if an item in it was queued later`(_ kind: String, _ node: String) async throws {
    let server = try await ScriptedServer.start(["/bad": .init(status: 503)])
    let items =
      node == "download"
      ? """
      downloads:
        d: { session: bad, items: { urls: ["\(server.home)/bad"], save_to: "dl/${item.name}" }, retry: { limit: 0 } }

      """
      : """
      uploads:
        u:
          session: bad
          files: { root: files }
          transfer: { request: { method: PUT, url: "\(server.home)/bad" } }
          retry: { limit: 0 }

      """
    let job = try Workspace(
      """
      version: 1
      name: rounds
      sessions:
        s: { timeout_for_resource: 1h }
        bad: { kind: \(kind), timeout_for_resource: 1h }
      fetches:
        good: { session: s, request: { url: "\(server.home)/good" }, save_to: good.json }

      """ + items)
    for (minutes, isClosed) in [(0, false), (30, false), (61, true), (62, false)] {
      try job.write("x", to: "\(minutes)")
      let report = try await run(job, at: minutes)
      #expect(report.run.roundClosed == isClosed, "\(minutes) min: \(report.nodes)")
    }
    #expect(server.lines.filter { $0.hasSuffix("/good") }.count == 2)
  }
}
