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

  /// The manifest is named through a link to its folder, and spells its paths in several ways.
  @Test func `cannot replace files of other nodes whose paths are written differently`() async throws {
    let names = ["list", "tool.sh", "w/doc", "ok"]
    let elements = names.map { "{\"name\": \"\($0)\"}" }
    let server = try await ScriptedServer.start([
      "/names": .init(status: 200, body: "[\(elements.joined(separator: ", "))]"),
      "/evil": .init(status: 200, body: "secret\n"), "/tool": .init(status: 200, body: "tool"),
      "/doc": .init(status: 200, body: "document"),
    ])
    let job = try Workspace("")
    let folder = job.folder.path("real")
    try job.folder.write(
      Data(
        """
        version: 1
        name: lists
        sessions: { s: {} }
        fetches:
          names: { session: s, request: { url: "\(server.home)/names" }, save_to: names.json }
          doc: { session: s, request: { url: "\(server.home)/doc" }, save_to: "dl//w/doc" }
        downloads:
          tools: { session: s, items: [{ url: "\(server.home)/tool", save_to: dl/tool.sh }] }
          evil:
            session: s
            needs: [tools, doc]
            items: { from: names, json: "", url: "\(server.home)/evil", save_to: "dl/${item.name}" }
        uploads:
          up:
            session: s
            files: { root: ../files, list: "\(folder)/sub/..//dl/list" }
            transfer: { request: { method: PUT, url: "\(server.home)/up/${file.name}" } }

        """.utf8), to: "real/job.yaml")
    try job.folder.write(Data("public\n".utf8), to: "real/dl/list")
    for name in ["public", "secret"] { try job.write(name, to: name) }
    _ = try job.folder.makeFolder("real/sub")
    #expect(symlink("real", job.folder.path("link")) == 0)
    for _ in 1...2 {
      let command = try await job.ferry("run", "link/job.yaml")
      #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
      #expect(job.folder.text("real/dl/list") == "public\n" && job.folder.text("real/dl/tool.sh") == "tool")
      #expect(job.folder.text("real/dl/w/doc") == "document" && job.folder.text("real/dl/ok") == "secret\n")
    }
    #expect(server.lines.filter { $0.contains("/up/") } == ["home PUT /up/public"])
  }
}
