import Foundation
import Testing

/// The files that a list of downloads cannot replace.
@Suite struct `A list of downloads` {
  @Test func `cannot replace the list of another batch or the document of another fetch`() async throws {
    let names = ["listB.json", "Doc", "listA.JSON", "doc/a", "b", "Sub", "sub/deep", "ok"]
    let elements = names.map { "{\"name\": \"\($0)\"}" }
    let server = try await ScriptedServer.start([
      "/a": .init(status: 200, body: "[\(elements.joined(separator: ", "))]"),
      "/b": .init(status: 200, body: "[{\"name\": \"honest\"}]"),
      "/doc": .init(status: 200, body: "document"),
      "/evil": .init(status: 200, body: "[]"), "/honest": .init(status: 200, body: "honest"),
    ])
    let job = try Workspace(
      """
      version: 1
      name: lists
      sessions: { s: {} }
      fetches:
        a: { session: s, request: { url: "\(server.home)/a" }, save_to: dl/listA.json }
        b: { session: s, request: { url: "\(server.home)/b" }, save_to: dl/listB.json }
        doc: { session: s, request: { url: "\(server.home)/doc" }, save_to: dl/doc }
        deep: { session: s, request: { url: "\(server.home)/doc" }, save_to: dl/sub/deep/doc }
      downloads:
        fromA:
          session: s
          items: { from: a, json: "", url: "\(server.home)/evil", save_to: "dl/${item.name}" }
        fromB:
          session: s
          needs: [fromA]
          items: { from: b, json: "", url: "\(server.home)/honest", save_to: "dl/b/${item.name}" }

      """)
    let (command, report) = try await job.run()
    let problems = try #require(report.node("fromA")?.problems, "\(command.stdout)\(command.stderr)")
    #expect(problems.map(\.path) == (0...6).map { "/\($0)" })
    #expect(problems.allSatisfy { $0.message.hasPrefix("its file is") }, "\(problems.map(\.message))")
    #expect(job.folder.text("dl/listB.json").contains("honest"))
    #expect(job.folder.text("dl/ok") == "[]")
    #expect(command.status == 1 && job.folder.text("dl/sub/deep/doc") == "document", "\(command.stdout)")
  }
}
