import Foundation
import Testing

/// Responses with the status 200 and an error in the body.
@Suite struct `A response that does not have the expected value` {
  /// The receiver's faults respond with 200 and `{"error": …}`. Its ordinary responses contain no error.
  private static let nodes = JobText.uploadIDs(
    retry: JobText.retry,
    recognized: "expect: { regex: '\"sha256\"' }"
  ).replacing(
    "capture: { id: { json: /id } }",
    with:
      "expect: { regex: '\"expires_in\"' }\n      capture: { id: { regex: '\"(?:id|error)\":\"([^\"]*)\"' } }"
  ).replacing(
    "request: { url: \"${vars.api}/uploads/${allocate.id}/content\" }",
    with: "request: { url: \"${vars.api}/uploads/${allocate.id}/content\" }\n      expect: { status: [204] }")

  private func workspace(_ receiver: ReceiverProcess, _ nodes: String...) throws -> Workspace {
    let job = try Workspace(
      JobText.text(server: receiver.url, connections: 1, nodes.joined(separator: "\n")))
    try job.write("a file", to: "a.txt")
    return job
  }

  @Test(arguments: ["allocate", "content", "commit"])
  func `is an error if expect does not match`(_ route: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["\(route):status=200"])
    let (command, report) = try await workspace(receiver, Self.nodes).run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.state == "failed")
    let codes = route == "content" ? ["http_status"] : ["unexpected_answer"]
    #expect(report.items.first?.attempts.map(\.code) == codes)
    #expect(try await receiver.received().commits == 0)
  }

  @Test func `is an error of a token and of a request`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["token:status=200", "done:status=200"])
    let manifest = JobText.text(
      server: receiver.url, JobText.uploadIDs(),
      """
      requests:
        note:
          session: quick
          request: { method: POST, url: "${vars.api}/done", json: { a: 1 } }
          expect: { header: { X-Stored: "yes" } }
      """
    ).replacing(
      "access_token: { json: /access_token, secret: true }",
      with: "access_token: { regex: '(.)', secret: true }"
    ).replacing(
      "    capture:\n      access_token",
      with: "    expect: { json: { /token_type: Bearer } }\n    capture:\n      access_token"
    )
    .replacing("      expires_in: { json: /expires_in }\n", with: "")
    let job = try Workspace(manifest)
    try job.write("a", to: "a.txt")
    let (command, report) = try await job.run()
    #expect(command.status == 7, "\(command.stdout)\(command.stderr)")
    #expect(report.node("login")?.state == "failed")
    #expect(report.node("note")?.reason?.code == "unexpected_answer")
  }

  @Test(arguments: [
    "json: { /error: null }", "header: { X-Whole: \"yes\" }", "status: [201]", "regex: '^nothing$'",
  ])
  func `leaves the file of a fetch as it was`(_ expect: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.catalog("expect: { \(expect) }"))
    try Data("old".utf8).write(to: URL(filePath: job.folder.path("catalog.json")))
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("catalog")?.state == "failed")
    let code = expect.hasPrefix("status") ? "http_status" : "unexpected_answer"
    #expect(report.node("catalog")?.reason?.code == code)
    #expect(try String(contentsOf: URL(filePath: job.folder.path("catalog.json")), encoding: .utf8) == "old")
  }

  @Test func `is not an error if the body of a fetch is as expected`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.catalog("expect: { regex: 'modified|items|\\{' }"))
    let (command, report) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.node("catalog")?.result == "new_data")
  }

  @Test func `is not checked on a response that reports no change`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver, JobText.catalog("interval: { minimum: 1h }", "expect: { regex: '.' }"))
    #expect(try await job.run().command.status == 0)
    // Makes the fetch due again. The document has not changed.
    let edit =
      "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('UPDATE node SET fetched_at = 1').connection.commit()"
    let file = job.state + "/sessions/e2e.quick.db"
    #expect(try await Command.run("python3", ["-c", edit, file]).status == 0)
    #expect(try await job.run().report.node("catalog")?.state == "succeeded")
    let requests = try await receiver.received().requests
    let (third, report) = try await job.run()
    #expect(report.totals.requests == 0, "\(third.stdout)\(third.stderr)")
    #expect(try await receiver.received().requests == requests)
  }
}
