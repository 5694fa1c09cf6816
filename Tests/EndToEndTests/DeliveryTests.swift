import Foundation
import Testing

/// Failures during a delivery. After each failure, ferry neither loses a file nor sends it twice.
@Suite struct `A delivery` {
  private func workspace(
    _ receiver: ReceiverProcess, files count: Int = 6, connections: Int = 2, _ nodes: String
  ) throws -> Workspace {
    let job = try Workspace(JobText.text(server: receiver.url, connections: connections, nodes))
    for index in 0..<count { try job.write("file \(index)", to: "\(index).txt") }
    return job
  }

  // MARK: Lost responses

  @Test(arguments: [
    ("drop=after", 6), ("drop=after,cut=close", 6), ("drop=before", 5), ("drop=before,cut=close", 5),
  ])
  func `that cannot be repeated is ambiguous without a response, and never sent again`(
    _ fault: String, posts: Int
  ) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:every=3,times=1,\(fault)"])
    let job = try workspace(receiver, JobText.posts)
    let (command, report) = try await job.run()
    #expect(command.status == 1)
    #expect(report.totals.items.ambiguous == 1)
    #expect(report.totals.items.done == 5)
    #expect(report.items.map(\.state) == ["ambiguous"])
    let received = try await receiver.received()
    #expect(received.inbox.count == posts)
    #expect(received.requests == 6)

    _ = try await job.run()
    _ = try await job.run()
    #expect(try await receiver.received().requests == 6)
  }

  @Test func `that cannot be repeated continues after a response that reports that nothing was done`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(faults: ["inbox:every=2,status=425"])
    let job = try workspace(receiver, JobText.posts)
    #expect(try await job.run().command.status == 0)
    #expect(Set(try await receiver.received().inbox.map(\.name)).count == 6)
    #expect(try await receiver.received().inbox.count == 6)
  }

  @Test func `that can be repeated continues after dropped connections of every kind`() async throws {
    let receiver = try await ReceiverProcess.start(
      faults: [
        "allocate:every=4,drop=after", "content:every=5,drop=before", "content:every=7,drop=after,cut=close",
        "commit:every=3,drop=after",
      ])
    let job = try workspace(receiver, files: 20, JobText.uploadIDs())
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.count == 20)
    #expect(received.uploads.allSatisfy { $0.commits == 1 })
    // libcurl resends some requests on a new connection, and does not report that to ferry.
    #expect(report.totals.requests <= received.requests)
  }

  // MARK: Unreachable servers, and servers that ask clients to wait

  @Test func `to an unreachable server exits with 5, and resumes when the server is back`() async throws {
    let gone = try await ReceiverProcess.start()
    await gone.stop()
    let job = try workspace(gone, JobText.puts)
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stderr)")
    #expect(report.totals.items.waiting == 6)
    #expect(!report.run.roundClosed)
    #expect(report.items.first?.reason?.code == "connect")

    let receiver = try await ReceiverProcess.start(["--port", gone.port])
    let second = try await job.run()
    #expect(second.command.status == 0)
    #expect(second.report.run.round == report.run.round)
    #expect(try await receiver.received().files.map(\.puts) == [1, 1, 1, 1, 1, 1])
  }

  @Test func `waits as long as a 429 response requests`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:every=2,times=1,status=429,retry_after=1"])
    // `max` limits the wait that a server may request.
    let job = try workspace(
      receiver, files: 3, connections: 1, JobText.puts.replacing("max: 200ms", with: "max: 5s"))
    let begin = ContinuousClock.now
    let (command, report) = try await job.run()
    #expect(command.status == 0)
    #expect(ContinuousClock.now - begin >= .milliseconds(950))
    #expect(report.items.first?.attempts.map(\.status) == [429])
    #expect(try await receiver.received().requests == 4)
  }

  // MARK: Changed sources

  /// Runs a job whose server issues no upload ID until the file has changed, so that ferry does not read the
  /// file before the change.
  private func runWithChange(
    _ change: (Workspace) throws -> Void
  ) async throws -> (command: Command, report: RunReport, received: Received) {
    let receiver = try await ReceiverProcess.start(faults: ["allocate:status=503"])
    let job = try workspace(
      receiver, files: 4, JobText.uploadIDs(retry: "retry: { limit: 1000, initial: 10ms, max: 100ms }"))
    let run = try job.start(["run", "job.yaml", "--report", "report.json"])
    _ = try await receiver.received { $0.requests >= 3 }
    try change(job)
    try await receiver.clearFaults()
    let command = await run.end()
    return (command, try job.report(), try await receiver.received())
  }

  @Test func `of a file that changed after it was listed fails with 4 and is not committed`() async throws {
    let (command, report, received) = try await runWithChange {
      try $0.write("FILE 3 is longer", to: "3.txt")
    }
    #expect(command.status == 4, "\(command.stdout)\(command.stderr)")
    #expect(report.item("3.txt")?.state == "failed")
    #expect(report.item("3.txt")?.reason?.code == "source_changed")
    #expect(report.totals.items.done == 3)
    #expect(received.byName["3.txt"]?.commits ?? 0 == 0)
    #expect(received.commits == 3)
  }

  @Test func `of a missing file fails, and the others continue`() async throws {
    let (command, report, received) = try await runWithChange {
      try FileManager.default.removeItem(atPath: $0.folder.path("files/3.txt"))
    }
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.item("3.txt")?.state == "failed")
    #expect(report.item("3.txt")?.reason?.code == "source_missing")
    #expect(received.commits == 3)
  }

  // MARK: Tokens and upload IDs

  @Test func `gets a new token after 401 and continues`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token"],
      faults: ["allocate:every=3,times=1,status=401", "content:every=5,times=1,status=401"])
    let job = try workspace(receiver, JobText.uploadIDs())
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    #expect(received.uploads.allSatisfy { $0.commits == 1 && $0.contents == 1 && $0.allocations == 1 })
    #expect((2...3).contains(received.tokens))
    #expect(report.totals.tokenRefreshes == received.tokens - 1)
  }

  @Test func `fetches one token for all, and a new one before it expires`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--require-token", "--token-life", "2.5"], faults: ["content:delay=0.1"])
    let job = try Workspace(
      JobText.text(server: receiver.url, refresh: "before_expiry: 2s", JobText.uploadIDs()))
    for index in 0..<60 { try job.write("file \(index)", to: "\(index).txt") }
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect((2...20).contains(try await receiver.received().tokens))
    #expect(!receiver.log.contains { $0.hasSuffix(" 401") })
  }

  @Test func `exits with 7 if the token server rejects the secret`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token", "--client-secret", "another"])
    let job = try workspace(receiver, JobText.uploadIDs())
    let (command, report) = try await job.run()
    #expect(command.status == 7, "\(command.stderr)")
    #expect(report.node("login")?.state == "failed")
    #expect(try await receiver.received().uploads.isEmpty)
  }

  @Test func `exits with 7 if each new token is rejected`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"], faults: ["content:status=401"])
    let job = try workspace(receiver, files: 1, JobText.uploadIDs())
    let (command, _) = try await job.run()
    #expect(command.status == 7, "\(command.stderr)")
    #expect(receiver.log.filter { $0.hasSuffix("/content 401") }.count == 3)
  }

  @Test func `uses a new upload ID if the server no longer knows the old one`() async throws {
    let receiver = try await ReceiverProcess.start(
      ["--upload-life", "1.5"], faults: ["content:times=1,delay=2"])
    let job = try workspace(receiver, files: 1, JobText.uploadIDs())
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let upload = try await receiver.received().byName["0.txt"]
    #expect(upload?.allocations == 2)
    #expect(upload?.commits == 1)
    #expect(report.totals.idsAllocated == 2)
    #expect(report.totals.idsExpired == 1)
  }

  @Test func `keeps an upload ID whose commit may have been executed, however old it is`() async throws {
    // The fault applies twice, because libcurl resends the request on a new connection. After that, the ID is older
    // than `valid_for`.
    let receiver = try await ReceiverProcess.start(faults: ["commit:times=2,drop=after,delay=0.8"])
    let job = try workspace(receiver, files: 1, JobText.uploadIDs(validFor: "1s"))
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let upload = try await receiver.received().byName["0.txt"]
    #expect(upload?.commits == 1)
    #expect(upload?.allocations == 1)
  }

  // MARK: Redirects

  @Test(arguments: [307, 308])
  func `follows a redirect, and sends no credentials to another server`(_ status: Int) async throws {
    let other = try await EchoServer.start()
    let receiver = try await ReceiverProcess.start(["--require-token"])
    func job(to target: String) throws -> Workspace {
      let job = try Workspace(
        JobText.text(
          server: receiver.url,
          """
          uploads:
            files:
              session: uploads
              token: login
              files: { root: files }
              transfer:
                request: { url: "${vars.api}/redirect?status=\(status)&to=\(target)/files/${file.path}" }
          """
        ).replacing(
          "    kind: background\n", with: "    kind: background\n    redirects: { across_origins: strip }\n"))
      try job.write("a file", to: "a.txt")
      return job
    }
    #expect(try await job(to: receiver.url).run().command.status == 0)
    #expect(try await receiver.received().puts == ["a.txt": 1])

    let far = try await job(to: other.url).run().command
    #expect(far.status == 0, "\(far.stdout)")
    #expect(other.lines.first == "PUT /files/a.txt HTTP/1.1")
    #expect(!other.lines.contains { $0.lowercased().hasPrefix("authorization:") })
  }
}
