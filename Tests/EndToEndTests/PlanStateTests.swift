import Foundation
import Testing

@Suite struct `The plan of a round that is open` {
  @Test func `shows requests that have failed or were skipped in the round, with the reason`() async throws {
    let server = try await ScriptedServer.start([
      "/good": .init(status: 200, body: ""), "/bad": .init(status: 404),
    ])
    let job = try Workspace(
      """
      version: 1
      name: open
      sessions: { quick: {} }
      requests:
        good: { session: quick, request: { method: PUT, url: "\(server.home)/good" } }
        bad: { session: quick, request: { method: PUT, url: "\(server.home)/bad" } }
        after: { session: quick, needs: [bad], request: { method: PUT, url: "\(server.home)/good" } }
        unreachable:
          session: quick
          request: { method: PUT, url: "http://127.0.0.1:1/" }
          retry: { limit: 0 }
      """)
    let (command, report) = try await job.run()
    #expect(command.status != 0 && !report.run.roundClosed, "\(command.stdout)\(command.stderr)")
    let plan = try await job.ferry("plan", "job.yaml", "--format", "json")
    struct Document: Decodable {
      struct Node: Decodable {
        var name: String
        var state: String
        var reason: RunReport.Reason?
      }
      var nodes: [Node]
    }
    let nodes = try plan.json(Document.self).nodes
    #expect(nodes.first { $0.name == "good" }?.state == "done")
    let bad = try #require(nodes.first { $0.name == "bad" })
    #expect(bad.state == "failed" && bad.reason?.message.contains("404") == true, "\(plan.stdout)")
    let after = try #require(nodes.first { $0.name == "after" })
    #expect(after.state == "skipped" && after.reason?.code == "needs", "\(plan.stdout)")
    #expect(nodes.first { $0.name == "unreachable" }?.state == "run")
    let text = try await job.ferry("plan", "job.yaml").stdout
    #expect(text.contains("failed: ") && text.contains("done in this round"), "\(text)")
  }
}
