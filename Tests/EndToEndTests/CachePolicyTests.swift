import Foundation
import Testing

/// The four values of `cache_policy`, over several rounds.
@Suite struct `A cache policy` {
  private static func manifest(_ server: ScriptedServer, _ policy: String) -> String {
    """
    version: 1
    name: news
    sessions: { s: { cache_policy: \(policy) } }
    fetches:
      catalog:
        session: s
        request: { url: "\(server.home)/catalog" }
        save_to: catalog.json
        retry: { limit: 0 }
    requests:
      notify: { session: s, needs: [catalog], request: { method: PUT, url: "\(server.home)/notify" } }

    """
  }

  /// Runs one more round. Returns its exit code and, for each of its requests for the catalog, the value of
  /// `If-None-Match`, or `whole` if the field is absent.
  private func round(_ job: Workspace, _ server: ScriptedServer) async throws -> (Int32, [String]) {
    let before = server.requests.count
    let (command, _) = try await job.run()
    return (
      command.status,
      server.requests.dropFirst(before).filter { $0.path == "/catalog" }
        .map { $0.headers["if-none-match"] ?? "whole" }
    )
  }

  private static let tagged = ScriptedServer.Response(status: 200, headers: ["ETag": "\"1\""])
  private static let fresh = ScriptedServer.Response(
    status: 200, headers: ["ETag": "\"1\"", "Cache-Control": "private, max-age=3600"])

  @Test func `of the protocol validates a document that is not fresh, and uses a fresh one`() async throws {
    let server = try await ScriptedServer.start(["/catalog": Self.tagged])
    let job = try Workspace(Self.manifest(server, "use_protocol_cache_policy"))
    #expect(try await round(job, server) == (0, ["whole"]))
    #expect(try await round(job, server) == (0, ["\"1\""]))

    let other = try await ScriptedServer.start(["/catalog": Self.fresh])
    let fresh = try Workspace(Self.manifest(other, "use_protocol_cache_policy"))
    #expect(try await round(fresh, other) == (0, ["whole"]))
    let (command, report) = try await fresh.run()
    #expect(command.status == 0 && other.requests.filter { $0.path == "/catalog" }.count == 1)
    #expect(other.requests.filter { $0.path == "/notify" }.count == 2, "the next node runs")
    #expect(report.node("catalog")?.state == "succeeded" && report.node("catalog")?.notBefore != nil)
    let plan = try await fresh.ferry("plan", "job.yaml").stdout
    #expect(plan.contains("not due before 2"), "\(plan)")
    #expect(try await fresh.ferry("journal", "check").status == 0)
    let export = try await fresh.ferry("journal", "export").stdout
    #expect(export.contains("\"fresh_until\""), "\(export)")

    // The file has changed, so the server is asked for the whole document.
    try fresh.folder.write(Data("other".utf8), to: "catalog.json")
    #expect(try await round(fresh, other) == (0, ["whole"]))
  }

  @Test func `that ignores the stored document requests the whole document every time`() async throws {
    let server = try await ScriptedServer.start(["/catalog": Self.fresh])
    let job = try Workspace(Self.manifest(server, "reload_ignoring_local_cache"))
    for _ in 0..<3 { #expect(try await round(job, server) == (0, ["whole"])) }
  }

  @Test func `that prefers the stored document requests it only if it is not there`() async throws {
    let server = try await ScriptedServer.start(["/catalog": Self.tagged])
    let job = try Workspace(Self.manifest(server, "return_cache_data_else_load"))
    #expect(try await round(job, server) == (0, ["whole"]))
    #expect(try await round(job, server) == (0, []))
    let plan = try await job.ferry("plan", "job.yaml").stdout
    #expect(plan.contains("not sent, the stored file is used (cache_policy)"), "\(plan)")
    let (_, report) = try await job.run()
    let node = try #require(report.node("catalog"))
    #expect(node.state == "succeeded" && node.reason?.code == "stored")
    try FileManager.default.removeItem(atPath: job.folder.path("catalog.json"))
    #expect(try await round(job, server) == (0, ["whole"]))
  }

  @Test func `that forbids requests fails without a stored document, and sends nothing`() async throws {
    let server = try await ScriptedServer.start(["/catalog": Self.tagged])
    let job = try Workspace(Self.manifest(server, "return_cache_data_dont_load"))
    let (command, report) = try await job.run()
    #expect(command.status == 1 && server.requests.isEmpty)
    let node = try #require(report.node("catalog"))
    #expect(node.state == "failed" && node.reason?.code == "not_stored")
    let message =
      "no document is stored, and 'cache_policy: return_cache_data_dont_load' does not allow a request"
    #expect(command.stdout.contains(message), "\(command.stdout)")
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains(message))

    try job.write(manifest: Self.manifest(server, "reload_ignoring_local_cache"))
    #expect(try await round(job, server) == (0, ["whole"]))
    try job.write(manifest: Self.manifest(server, "return_cache_data_dont_load"))
    #expect(try await round(job, server) == (0, []))
  }
}
