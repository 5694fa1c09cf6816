import Foundation
import Testing

/// A list of files that a node of the same manifest writes.
@Suite struct `A list that a fetch writes` {
  private func job(_ server: ScriptedServer, list: String = "wanted.txt", more: String = "") throws
    -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: lists
      sessions: { quick: {}, uploads: { kind: background } }
      fetches:
        wanted:
          session: quick
          request: { url: "\(server.home)/wanted" }
          save_to: ./wanted.txt
          retry: { limit: 1, initial: 10ms }
      uploads:
        files:
          session: uploads
          needs: [wanted]
          files: { root: files, list: \(list) }
          transfer: { request: { url: "\(server.home)/put/${file.path}" } }
          \(more)

      """)
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    return job
  }

  private func server(_ list: String) async throws -> ScriptedServer {
    try await ScriptedServer.start(["/wanted": .init(status: 200, body: list)])
  }

  private func sent(_ server: ScriptedServer) -> [String] {
    server.lines.filter { $0.contains(" PUT ") }.sorted()
  }

  @Test func `is read when the upload opens, not before, also in later rounds`() async throws {
    let server = try await server("a\nb\n")
    let job = try job(server)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(sent(server) == ["home PUT /put/a", "home PUT /put/b"])
    #expect(server.lines.first == "home GET /wanted")
    #expect(report.totals.items.done == 2 && report.run.roundClosed)

    // The old list names a file that the new list does not name.
    try job.folder.write(Data("c\n".utf8), to: "wanted.txt")
    let (again, later) = try await job.run()
    #expect(again.status == 0, "\(again.stderr)")
    #expect(sent(server) == ["home PUT /put/a", "home PUT /put/b"])
    #expect(later.totals.items.unchanged == 2 && later.totals.items.done == 0)
  }

  @Test func `causes the upload to be skipped if the fetch fails, and a missing file fails alone`()
    async throws
  {
    let failing = try await ScriptedServer.start(["/wanted": .init(status: 404)])
    let skipped = try job(failing)
    try skipped.folder.write(Data("a\n".utf8), to: "wanted.txt")
    let (command, report) = try await skipped.run()
    #expect(command.status == 1)
    #expect(sent(failing) == [] && report.node("files")?.state == "skipped")

    let server = try await server("a\nmissing\n")
    let (partly, problems) = try await job(server).run()
    #expect(partly.status == 1)
    #expect(sent(server) == ["home PUT /put/a"])
    #expect(problems.node("files")?.problems?.map(\.path) == ["missing"])
  }

  @Test func `that cannot be read when the upload opens ends the run with 2, and the next run reads it`()
    async throws
  {
    let server = try await server("a\n")
    let job = try job(server, list: "other.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 2, "\(command.stderr)")
    #expect(report.node("wanted")?.state == "succeeded")
    #expect(report.node("files")?.state == "waiting")
    #expect(report.node("files")?.reason?.message.hasPrefix("cannot read the list ") == true)
    #expect(command.stderr.contains("files: cannot read the list "), "\(command.stderr)")
    try job.folder.write(Data("a\n".utf8), to: "other.txt")
    #expect(try await job.run().command.status == 0)
    #expect(sent(server) == ["home PUT /put/a"])
    #expect(server.lines.count { $0 == "home GET /wanted" } == 1)
  }

  @Test func `does not exclude submitted files, and content is compared`() async throws {
    let server = try await server("a\nb\n")
    let job = try job(server, more: "compare: content")
    #expect(try await job.ferry("submit", "job.yaml", "files", "files/c").status == 0)
    #expect(try await job.run().command.status == 0)
    #expect(sent(server) == ["home PUT /put/a", "home PUT /put/b", "home PUT /put/c"])
    // A file that was touched is not sent again, but a file with new content is.
    try job.write("a", to: "a")
    try job.write("B", to: "b")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(sent(server).count == 4 && sent(server).count { $0 == "home PUT /put/b" } == 2)
    #expect(report.totals.items.unchanged == 1)
  }

  @Test func `is known at run time in a plan, and the first run does not need the file`() async throws {
    let server = try await server("a\n")
    let job = try job(server)
    let before = try await job.ferry("plan", "job.yaml")
    #expect(before.status == 0, "\(before.stderr)")
    #expect(
      before.stdout.contains(
        "      files known at run time: a fetch that the upload needs writes their list\n"),
      "\(before.stdout)")
    #expect(try await job.ferry("run", "job.yaml").status == 0)
    // The plan does not show the list of the last run.
    let after = try await job.ferry("plan", "job.yaml")
    #expect(
      after.stdout.contains("files known at run time") && !after.stdout.contains("unchanged"),
      "\(after.stdout)")
    let simulation = try await job.ferry("plan", "job.yaml", "--simulate", "--bandwidth", "1MB")
    #expect(simulation.status == 0, "\(simulation.stderr)")
  }
}
