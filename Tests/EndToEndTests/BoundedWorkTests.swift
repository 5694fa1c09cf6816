import Foundation
import Testing

/// Servers that would use unlimited time, disk space or CPU time.
@Suite struct `A server that would keep ferry busy` {
  private func job(_ nodes: String, session: String = "{}") throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: bounded
      sessions: { s: \(session) }
      \(nodes)
      """)
  }

  private static let drip = """
      send(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000000\\r\\n\\r\\n")
      while True:
        send(b"1")
        time.sleep(0.1)
    """

  private static let digits = """
      if not path.startswith("/digits"):
        send(b"HTTP/1.1 200 OK\\r\\nContent-Length: 10\\r\\n\\r\\nid=7 items")
        return
      send(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1048576\\r\\n\\r\\n" + b"7" * 1048574 + b" s")
    """

  // MARK: Time

  @Test func `that trickles bytes is abandoned after timeout_for_resource`() async throws {
    let server = try await ByteServer.start(Self.drip)
    let job = try job(
      """
      fetches:
        catalog: { session: s, request: { url: "\(server.url)/f" }, save_to: out/catalog }
      requests:
        note: { session: s, request: { method: POST, url: "\(server.url)/r" } }
      """, session: "{ timeout_for_resource: 1s }")
    let (command, report) = try await job.run("--max-duration", "60s")
    #expect(report.node("catalog")?.state == "failed", "\(command.stdout)")
    #expect(report.node("catalog")?.reason?.code == "resource_timeout")
    #expect(report.node("note")?.state == "ambiguous")
    #expect(report.node("note")?.reason?.code == "answer_lost")
    #expect(job.names(in: "out") == [])
    #expect(command.status == 4 || command.status == 1, "\(command.status)")
  }

  @Test func `that trickles the bytes of a token leaves the files for the next run`() async throws {
    let server = try await ByteServer.start(Self.drip)
    let job = try job(
      """
      tokens:
        login:
          session: s
          request: { method: POST, url: "\(server.url)/token" }
          capture: { access: { json: /a, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      uploads:
        up:
          session: s
          token: login
          files: { root: files }
          transfer: { request: { url: "\(server.url)/${file.path}" } }
      """, session: "{ timeout_for_resource: 1s }")
    try job.write("a", to: "a.txt")
    let (command, report) = try await job.run("--max-duration", "60s")
    #expect(command.status == 5, "\(command.stdout)")
    #expect(report.node("up")?.state == "waiting")
    #expect(report.node("login")?.reason?.code == "resource_timeout")
  }

  // MARK: Disk space

  @Test(arguments: [true, false])
  func `that sends more than max_size leaves the old file in place`(isAnnounced: Bool) async throws {
    let header = isAnnounced ? "Content-Length: 3000000" : "Connection: close"
    let server = try await ByteServer.start(
      "  send(b\"HTTP/1.1 200 OK\\r\\n\(header)\\r\\n\\r\\n\" + b\"x\" * 3000000)")
    let job = try job(
      """
      fetches:
        catalog: { session: s, request: { url: "\(server.url)/f" }, save_to: out/catalog, max_size: 1MB }
      """)
    _ = try job.folder.makeFolder("out")
    try job.folder.write(Data("old".utf8), to: "out/catalog")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)")
    #expect(report.node("catalog")?.reason?.code == "answer_too_large")
    let what = isAnnounced ? "the response of 3000000 bytes" : "the response"
    #expect(
      report.node("catalog")?.reason?.message.hasSuffix("\(what) is larger than max_size, 1000000 bytes")
        == true)
    #expect(job.names(in: "out") == ["catalog"])
    #expect(FileManager.default.contents(atPath: job.folder.path("out/catalog")) == Data("old".utf8))
  }

  @Test(.enabled("a C compiler is needed: scripts/setup test") { StateFaults.isThere })
  func `that sends more than the disk holds leaves only the old file`() async throws {
    let server = try await ByteServer.start(
      "  send(b\"HTTP/1.1 200 OK\\r\\nContent-Length: 3000000\\r\\n\\r\\n\" + b\"x\" * 3000000)")
    let job = try job(
      """
      fetches:
        catalog: { session: s, request: { url: "\(server.url)/f" }, save_to: out/catalog }
      """)
    _ = try job.folder.makeFolder("out")
    try job.folder.write(Data("old".utf8), to: "out/catalog")
    let environment = try await StateFaults.environment(
      ["FAIL": "3", "ERROR": "ENOSPC", "STAYS": "1"], state: job.folder.path("out"),
      log: job.folder.path("faults.log"))
    let end = try await job.ferry("run", "job.yaml", "--report", "report.json", environment: environment)
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    let reason = try job.report().node("catalog")?.reason
    #expect(reason?.code == "destination")
    #expect(reason?.message.contains("No space left on device after ") == true, "\(reason?.message ?? "")")
    #expect(job.names(in: "out") == ["catalog"])
    #expect(FileManager.default.contents(atPath: job.folder.path("out/catalog")) == Data("old".utf8))
  }

  // MARK: CPU time

  @Test func `whose response exhausts a pattern fails only that step`() async throws {
    let server = try await ByteServer.start(Self.digits)
    let job = try job(
      """
      requests:
        large: { session: s, request: { url: "\(server.url)/digits" }, capture: { n: { regex: '(\\d+) items' } } }
        looked: { session: s, request: { url: "\(server.url)/digits" }, expect: { regex: '(\\d+) items' } }
        small: { session: s, request: { url: "\(server.url)/small" }, capture: { n: { regex: '(\\d+) items' } } }
      """)
    let (command, report) = try await job.run("--max-duration", "60s")
    #expect(command.status == 1, "\(command.stdout)")
    #expect(report.node("large")?.reason?.code == "capture")
    #expect(
      report.node("large")?.reason?.message
        == "searching this response for the pattern of 'n' takes too many steps")
    #expect(report.node("looked")?.reason?.code == "unexpected_answer")
    #expect(report.node("small")?.state == "succeeded")
  }

  @Test func `whose response exhausts a pattern does not block signals`() async throws {
    let server = try await ByteServer.start(Self.digits)
    // The searches run one after another and take more than a minute in total. When the signals arrive, all but the first
    // are waiting.
    let nodes = (0..<120).map {
      "  r\($0): { session: s, request: { url: \"\(server.url)/digits/\($0)\" }, capture: { n: { regex: '(\\d+) items' } } }"
    }
    let job = try job(
      "requests:\n" + nodes.joined(separator: "\n"), session: "{ max_connections_per_host: 120 }")
    let run = try job.start(["run", "job.yaml"])
    try await server.hasRead("/digits/0")
    let clock = ContinuousClock()
    let begin = clock.now
    run.signal(SIGINT)
    run.signal(SIGINT)
    let end = await run.end()
    #expect(end.status == 130, "\(end.stdout)\(end.stderr)")
    #expect(begin.duration(to: clock.now) < .seconds(40))
  }

  @Test func `that sends an invalid ID fails only that item`() async throws {
    let server = try await ByteServer.start(
      """
        body = b'{"id":"' + b"a" * 100000 + b'"}'
        send(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
      """)
    let job = try job(
      """
      requests:
        note: { session: s, request: { url: "\(server.url)/id" }, capture: { id: { json: /id } } }
      """)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)")
    #expect(report.node("note")?.reason?.code == "capture")
    #expect(
      report.node("note")?.reason?.message
        == "the size of 'id' is 100000 bytes, which exceeds its 'max_size' of 65536")
  }
}

extension Workspace {
  fileprivate func names(in name: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path(name)).sorted()) ?? []
  }
}
