import Foundation
import Testing

/// Listed paths whose files ferry has delivered and then deleted or moved.
@Suite struct `A list that names files which ferry has taken away` {
  /// - Parameters:
  ///   - path: the first path segment of the URLs.
  ///   - isFetched: whether a fetch writes the list.
  private func manifest(
    _ server: ScriptedServer, path: String = "put", after: String, isFetched: Bool = false
  ) -> String {
    let fetch = """
      fetches:
        wanted: { session: quick, request: { url: "\(server.home)/wanted" }, save_to: ./list.txt }

      """
    return """
      version: 1
      name: lists
      sessions: { quick: {}, uploads: { kind: background } }
      \(isFetched ? fetch : "")uploads:
        files:
          session: uploads
          \(isFetched ? "needs: [wanted]" : "deliver: when_changed")
          files: { root: files, list: list.txt }
          transfer: { request: { url: "\(server.home)/\(path)/${file.path}" } }
          after: \(after)
          retry: { limit: 1, initial: 5m }
      requests:
        last:
          session: quick
          needs: [files]
          request: { method: POST, url: "\(server.home)/last" }

      """
  }

  private func exists(_ job: Workspace, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: job.folder.path("files/\(name)"))
  }

  @Test(arguments: ["delete", "{ move_to: sent }"])
  func `is completed by the run after a kill, without failures`(_ after: String) async throws {
    // The third file waits for a retry until the run is killed.
    let server = try await ScriptedServer.start(["/put/c": .init(status: 503)])
    let job = try Workspace(manifest(server, after: after))
    for name in ["a", "b", "c"] { try job.write(name, to: name) }
    try job.folder.write(Data("a\nb\nc\n".utf8), to: "list.txt")
    let killed = try job.start(["run", "job.yaml"])
    while exists(job, "a") || exists(job, "b") || !server.lines.contains("home PUT /put/c") {
      try #require(killed.isRunning)
      try await Task.sleep(for: .milliseconds(10))
    }
    killed.signal(SIGKILL)
    #expect(await killed.end().status == 137)
    #expect(exists(job, "c"))

    try job.write(manifest: manifest(server, path: "again", after: after))
    let plan = try await job.ferry("plan", "job.yaml")
    #expect(plan.status == 0 && !plan.stdout.contains("not listed"), "\(plan.stdout)")
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("files")?.problems == nil && report.totals.items.failed == 0)
    #expect(report.node("last")?.state == "succeeded" && report.run.roundClosed)
    #expect(
      server.lines.sorted() == [
        "home POST /last", "home PUT /again/c", "home PUT /put/a", "home PUT /put/b", "home PUT /put/c",
      ])
  }

  @Test(arguments: [false, true])
  func `is not a failure in a later round either`(isFetched: Bool) async throws {
    let server = try await ScriptedServer.start(["/wanted": .init(status: 200, body: "a\nb\nnever\n")])
    let job = try Workspace(manifest(server, after: "delete", isFetched: isFetched))
    for name in ["a", "b"] { try job.write(name, to: name) }
    try job.folder.write(Data("a\nb\n".utf8), to: "list.txt")
    _ = try await job.run()
    #expect(!exists(job, "a") && !exists(job, "b"))
    try job.folder.write(Data("a\nb\nnever\n".utf8), to: "list.txt")
    let submission = try await job.ferry("submit", "job.yaml", "files")
    #expect(submission.status == 0)
    #expect(submission.stderr == "ferry: files: never: it does not exist\n")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(report.node("files")?.problems?.map(\.path) == ["never"])
    #expect(server.lines.count { $0.contains(" PUT ") } == 2)
  }

  @Test func `reports a delivered file that someone else has removed`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(manifest(server, after: "keep"))
    try job.write("a", to: "a")
    try job.folder.write(Data("a\n".utf8), to: "list.txt")
    #expect(try await job.run().command.status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("files/a"))
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.node("files")?.problems?.map(\.path) == ["a"])
  }
}

/// Files that are submitted although they were delivered, because their `after` action was still pending.
@Suite struct `A submitted file that ferry has taken away` {
  /// A manifest whose file was delivered, but could not be moved.
  private func delivered(_ server: ScriptedServer) async throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: taken
      sessions: { uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files, include: ["in/**"] }
          transfer: { protocol: post, request: { url: "\(server.home)/${file.path}" } }
          after: { move_to: sent }

      """)
    try job.write("a", to: "in/a")
    // The folder cannot be created.
    try job.write("", to: "sent")
    let (command, report) = try await job.run()
    #expect(command.status != 0 && report.totals.items.done == 1, "\(command.stderr)")
    try FileManager.default.removeItem(atPath: job.folder.path("files/sent"))
    return job
  }

  @Test func `is not reported as missing, and is not sent again`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try await delivered(server)
    #expect(try await job.ferry("submit", "job.yaml", "files").status == 0)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.failed == 0)
    #expect(FileManager.default.fileExists(atPath: job.folder.path("files/sent/in/a")))
    // The journal still knows that this version was delivered.
    try FileManager.default.moveItem(
      atPath: job.folder.path("files/sent/in/a"), toPath: job.folder.path("files/in/a"))
    #expect(try await job.run().command.status == 0)
    #expect(server.lines == ["home POST /in/a"])
  }

  @Test func `is reported as missing if it was changed before, and someone else removed it`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try await delivered(server)
    try job.write("another version", to: "in/a")
    #expect(try await job.ferry("submit", "job.yaml", "files").status == 0)
    try FileManager.default.removeItem(atPath: job.folder.path("files/in/a"))
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.items.map(\.reason?.code) == ["source_missing"])
    #expect(server.lines == ["home POST /in/a"])
  }
}
