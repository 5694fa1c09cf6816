import Foundation
import Testing

/// A fetch with an interval, over several runs.
@Suite struct `A fetch with an interval` {
  private static func manifest(_ server: ScriptedServer) -> String {
    """
    version: 1
    name: news
    sessions: { s: {} }
    fetches:
      catalog:
        session: s
        interval: { minimum: 1h }
        request: { url: "\(server.home)/catalog" }
        save_to: catalog.json
        retry: { limit: 0 }
    requests:
      notify: { session: s, needs: [catalog], request: { method: PUT, url: "\(server.home)/notify" } }

    """
  }

  @Test(arguments: [(500, 5 as Int32, "waiting"), (404, 1, "failed")])
  func `retries a failing server only after the minimum, and reports why`(
    status: Int, code: Int32, state: String
  ) async throws {
    let server = try await ScriptedServer.start(["/catalog": .init(status: status)])
    let job = try Workspace(Self.manifest(server))
    #expect(try await job.run().command.status == code)
    #expect(server.lines == ["home GET /catalog"])

    // The next run that cron starts.
    let (command, report) = try await job.run()
    #expect(command.status == code, "\(command.stdout)\(command.stderr)")
    #expect(server.lines == ["home GET /catalog"], "the server was asked again")
    let node = try #require(report.node("catalog"))
    #expect(node.state == state && node.result == nil)
    let reason = "the last attempt failed: the server responded with \(status) to GET"
    #expect(command.stdout.contains("fetch catalog: \(state), not due before 2"), "\(command.stdout)")
    #expect(command.stdout.contains("(\(reason))"), "\(command.stdout)")
    #expect(try await job.ferry("plan", "job.yaml").stdout.contains("; \(reason)"))
    #expect(try await job.ferry("next", "job.yaml").stdout.hasPrefix("2"))
    let status = try await job.ferry("status").stdout
    #expect(status.contains("not due before 2"), "\(status)")
    #expect(try await job.ferry("journal", "check").status == 0)

    // The user runs `ferry reset` to fetch again immediately.
    #expect(try await job.ferry("reset", "news.s").status == 0)
    #expect(try await job.run().command.status == code)
    #expect(server.lines.count == 2)
  }
}
