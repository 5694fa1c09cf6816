import Foundation
import Testing

/// An upload of so many files that the first ones are sent while the others are listed.
@Suite(.enabled(if: NginxServer.isPossible)) struct `An upload of many files` {
  private static let count = 4_500

  private func job(_ server: NginxServer, include: String = "'**'") throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: many
      sessions: { uploads: { kind: background, max_connections_per_host: 6 } }
      uploads:
        files:
          session: uploads
          files: { root: files, include: [\(include)] }
          transfer: { request: { url: "\(server.url)/${file.name}" } }

      """)
    for part in 0..<3 { _ = try job.folder.makeFolder("files/\(part)") }
    for number in 0..<Self.count { try job.write("\(number)", to: "\(number / 1_500)/\(number)") }
    return job
  }

  @Test func `delivers each of them, and reports globs that match nothing and links that lead out`()
    async throws
  {
    let server = try await NginxServer.start()
    let job = try job(server, include: "'**', 'photos/*.jpg'")
    try FileManager.default.createSymbolicLink(
      atPath: job.folder.path("files/2/zzz"), withDestinationPath: job.folder.path("job.yaml"))
    let (command, report) = try await job.run("--progress-interval", "10s")
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == Self.count && report.run.roundClosed)
    #expect(report.totals.requests == Self.count)
    #expect(try await server.delivered().count == Self.count)
    #expect(command.stderr.contains("started with at least 2049 items"))
    #expect(command.stderr.contains("pattern 'photos/*.jpg' does not match any file"))
    #expect(command.stderr.contains("2/zzz: it is a link that leads out of the root"))

    let (again, later) = try await job.run()
    #expect(again.status == 0 && later.totals.items.unchanged == Self.count)
    #expect(later.totals.requests == 0)
  }

  @Test func `is listed before its first request if the number of files is limited`() async throws {
    let server = try await NginxServer.start()
    let job = try job(server)
    let (command, report) = try await job.run("--limit", "1")
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == 1 && report.totals.items.waiting == Self.count - 1)
  }

  /// Starts a run, and waits until it has sent a file. It is still listing files then, because a portion is listed only
  /// when the previous one is on disk.
  private func runThatLists(_ job: Workspace) async throws -> RunningCommand {
    let run = try job.start(
      ["run", "job.yaml", "--quiet", "--events", "-"], environment: ["FERRY_SYNC_DELAY": "6s"])
    _ = try await run.line(after: "{\"type\":\"item\"")
    let status = try await job.ferry("status", "--format", "json").stdout
    #expect(status.contains("\"listing\" : true"), "\(status)")
    return run
  }

  @Test func `resumes after a kill during the listing`() async throws {
    let server = try await NginxServer.start()
    let job = try job(server)
    let run = try await runThatLists(job)
    run.signal(SIGKILL)
    _ = await run.end()
    #expect(try await server.delivered().count < Self.count)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == Self.count && report.run.roundClosed)
    #expect(try await server.delivered().count == Self.count)
  }

  @Test func `that is stopped during the listing remains open, and the next run completes it`() async throws {
    let server = try await NginxServer.start()
    let job = try job(server)
    let run = try await runThatLists(job)
    run.signal(SIGTERM)
    let end = await run.end()
    #expect(end.status == 143, "\(end.stderr)")
    #expect(try await server.delivered().count < Self.count)
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(report.totals.items.done == Self.count && report.run.roundClosed)
    #expect(try await server.delivered().count == Self.count)
  }
}
