import Foundation
import Testing

/// Misleading responses that the real program receives.
@Suite struct `A response that is not what it seems` {
  private static func whole(_ body: String, _ fields: String...) -> String {
    (["HTTP/1.1 200 OK", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
      + "\r\n\r\n" + body
  }

  private func fetch(_ server: RawResponder, _ more: String...) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { quick: { timeout_for_request: 20s } }
      fetches:
        catalog:
          session: quick
          request: { url: "\(server.url)/catalog" }
          save_to: catalog
          retry: { limit: 0 }
      \(more.map { "    \($0)" }.joined(separator: "\n"))

      """)
    try job.folder.write(Data("old".utf8), to: "catalog")
    return job
  }

  // MARK: Fetches

  @Test(arguments: [
    "204 No Content\r\n\r\n", "205 Reset Content\r\nContent-Length: 0\r\n\r\n", "304 Not Modified\r\n\r\n",
    "206 Partial Content\r\nContent-Range: bytes 0-2/100\r\nContent-Length: 3\r\n\r\nnew",
    "203 Non-Authoritative Information\r\nContent-Length: 3\r\n\r\nnew",
  ])
  func `leaves the file and its validators unchanged if its status has no document`(_ response: String)
    async throws
  {
    let status = response.prefix(3)
    let named = response.replacing("\r\n\r\n", with: "\r\nETag: \"wrong\"\r\n\r\n", maxReplacements: 1)
    let server = try await RawResponder.start([
      "/catalog": [
        "HTTP/1.1 \(named)", Self.whole("first", "ETag: \"1\""), Self.whole("second", "ETag: \"2\""),
      ]
    ])
    let job = try fetch(server)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("catalog")?.result == "failed")
    #expect(report.node("catalog")?.reason?.code == "http_status")
    #expect(report.node("catalog")?.reason?.message.contains("with \(status)") == true)
    #expect(job.folder.text("catalog") == "old")
    #expect(try await job.run().report.node("catalog")?.result == "new_data")
    #expect(job.folder.text("catalog") == "first")
    _ = try await job.run()
    #expect(server.requests.map(\.condition) == ["", "", "\"1\""])
  }

  @Test func `is no failure if expect lists its status, and stores nothing`() async throws {
    let server = try await RawResponder.start([
      "/catalog": [Self.whole("first", "ETag: \"1\""), "HTTP/1.1 204 No Content\r\nETag: \"wrong\"\r\n\r\n"]
    ])
    let job = try fetch(server, "expect: { status: [200, 204] }")
    #expect(try await job.run().report.node("catalog")?.result == "new_data")
    for _ in 0..<2 {
      let (command, report) = try await job.run()
      #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
      #expect(report.node("catalog")?.result == "no_data")
      #expect(job.folder.text("catalog") == "first")
    }
    #expect(server.requests.map(\.condition) == ["", "\"1\"", "\"1\""])
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nETag: \"cut\"\r\n", "HTTP/1.1 200 OK\r\nETag: \"cut\"\r\nConte",
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nETag: \"cut\"\r\n",
    "HTTP/1.1 200 OK\r\nETag: \"cut\"\r\n\r\n",
    "HTTP/1.1 200 OK\r\nETag: \"cut\"\r\nContent-Length: 9\r\n\r\nnew",
  ])
  func `leaves the file and its validators unchanged if it is truncated`(_ response: String) async throws {
    let server = try await RawResponder.start(["/catalog": [response, Self.whole("new")]])
    let job = try fetch(server)
    let (command, report) = try await job.run()
    #expect(command.status == 5, "\(command.stdout)\(command.stderr)")
    #expect(report.node("catalog")?.reason?.code == "connection_lost")
    #expect(job.folder.text("catalog") == "old")
    #expect(try await job.run().report.node("catalog")?.result == "new_data")
    #expect(job.folder.text("catalog") == "new")
    #expect(server.requests.map(\.condition) == ["", ""])
  }

  @Test func `is not stored if its coding was not requested`() async throws {
    let coded = Self.whole("coded", "Content-Encoding: gzip", "ETag: \"1\"")
    let server = try await RawResponder.start(["/catalog": [coded]])
    let job = try fetch(server)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.node("catalog")?.reason?.code == "unexpected_answer")
    #expect(report.node("catalog")?.reason?.message.contains("Content-Encoding: gzip") == true)
    #expect(job.folder.text("catalog") == "old")
    let names = try FileManager.default.contentsOfDirectory(atPath: job.folder.path(""))
    #expect(!names.contains { $0.contains("ferry-part") })
  }

  // MARK: Validators

  @Test(arguments: ["\"a\u{1}b\"", "*", "abc", "\"a\", \"b\"", "\"\(String(repeating: "a", count: 2000))\""])
  func `stores no validator that cannot be sent`(_ tag: String) async throws {
    let server = try await RawResponder.start([
      "/catalog": [Self.whole("1", "ETag: \(tag)"), Self.whole("2", "ETag: \(tag)"), Self.whole("3")]
    ])
    let job = try fetch(server)
    for text in ["1", "2", "3"] {
      #expect(try await job.run().command.status == 0)
      #expect(job.folder.text("catalog") == text)
    }
    #expect(server.requests.allSatisfy { $0.condition.isEmpty })
  }

  @Test func `may have left a validator in the journal of an older version, which is ignored`() async throws {
    let server = try await RawResponder.start([
      "/catalog": [Self.whole("1", "ETag: \"1\""), Self.whole("2")]
    ])
    let job = try fetch(server)
    #expect(try await job.run().command.status == 0)
    let edit =
      "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(\"UPDATE node SET etag = '\\\"a' || char(1) || '\\\"'\").connection.commit()"
    #expect(try await Command.run("python3", ["-c", edit, job.state + "/sessions/e2e.quick.db"]).status == 0)
    #expect(try await job.run().report.node("catalog")?.result == "new_data")
    #expect(job.folder.text("catalog") == "2")
    #expect(server.requests.map(\.condition) == ["", ""])
  }

  @Test(arguments: [
    "400 Bad Request\r\nContent-Length: 0", "412 Precondition Failed\r\nContent-Length: 0",
    "304 Not Modified\r\nETag: \"other\"",
  ])
  func `to a validator causes one request without it`(_ refusal: String) async throws {
    let server = try await RawResponder.start([
      "/catalog": [
        Self.whole("1", "ETag: \"1\""), "HTTP/1.1 \(refusal)\r\n\r\n", Self.whole("2", "ETag: \"2\""),
        "HTTP/1.1 \(refusal)\r\n\r\n",
      ]
    ])
    let job = try fetch(server)
    #expect(try await job.run().command.status == 0)
    let second = try await job.run()
    #expect(second.command.status == 0, "\(second.command.stdout)\(second.command.stderr)")
    #expect(second.report.node("catalog")?.result == "new_data")
    #expect(job.folder.text("catalog") == "2")
    // If the server also rejects the request without a validator, the fetch fails.
    let third = try await job.run()
    #expect(third.command.status == 1, "\(third.command.stdout)\(third.command.stderr)")
    #expect(job.folder.text("catalog") == "2")
    #expect(server.requests.map(\.condition) == ["", "\"1\"", "", "\"2\"", ""])
  }

  // MARK: Steps of an upload

  private func upload(_ server: RawResponder, commit: String = "", allocate: String = "header: X-Id") throws
    -> Workspace
  {
    let job = try Workspace(
      """
      version: 1
      name: e2e
      sessions: { quick: { timeout_for_request: 20s } }
      uploads:
        files:
          session: quick
          files: { root: files }
          allocate: { request: { url: "\(server.url)/ids", method: POST }, capture: { id: { \(allocate) } } }
          transfer: { request: { url: "\(server.url)/ids/${allocate.id}" } }
          commit: { request: { url: "\(server.url)/commit", method: POST }\(commit.isEmpty ? "" : ", \(commit)") }
          retry: { limit: 1, initial: 1ms }

      """)
    try job.write("a", to: "a.txt")
    return job
  }

  private static let allocated = "HTTP/1.1 201 Created\r\nX-Id: 7\r\nContent-Length: 0\r\n\r\n"

  private static let lost: [(String, String)] = [
    ("HTTP/1.1 200 OK\r\n", ""),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "expect: { json: { /state: done } }"),
    ("HTTP/1.1 200 OK\r\nX-State: d", "expect: { header: { X-State: done } }"),
    ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n", ""),
    ("HTTP/1.1 200 OK\r\n\r\n{\"state\":\"do", "expect: { json: { /state: done } }"),
    ("HTTP/1.1 200 OK\r\n\r\nnot yet do", "expect: { regex: 'done' }"),
    (
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\ncoded",
      "expect: { json: { /state: done } }"
    ),
  ]

  @Test(arguments: lost)
  func `leaves a commit ambiguous, and the commit is not sent again`(_ response: String, _ expect: String)
    async throws
  {
    let server = try await RawResponder.start(["/ids": [Self.allocated], "/commit": [response]])
    let job = try upload(server, commit: expect)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.items.first?.state == "ambiguous")
    _ = try await job.run()
    #expect(server.count("/commit") == 1)
  }

  @Test func `rejects a commit if its JSON body is complete, even without a length`() async throws {
    let no = "HTTP/1.1 200 OK\r\n\r\n{\"state\":\"no\"}"
    let server = try await RawResponder.start(["/ids": [Self.allocated], "/commit": [no]])
    let (_, report) = try await upload(server, commit: "expect: { json: { /state: done } }").run()
    #expect(report.items.first?.state == "failed")
    #expect(report.items.first?.attempts.map(\.code) == ["unexpected_answer"])
  }

  @Test(arguments: [
    ("HTTP/1.1 201 Created\r\nX-Other: 1\r\n", "header: X-Id"),
    ("HTTP/1.1 201 Created\r\nX-Id: 9\r\n", "header: X-Id"),
    ("HTTP/1.1 201 Created\r\nX-Id: 7\r\n\r\n{\"id\":\"", "json: /id"),
  ])
  func `is requested again if it should have provided an upload ID`(_ cut: String, _ capture: String)
    async throws
  {
    let good = "HTTP/1.1 201 Created\r\nX-Id: 7\r\nContent-Length: 10\r\n\r\n{\"id\":\"7\"}"
    let server = try await RawResponder.start(["/ids": [cut, good]])
    let (command, report) = try await upload(server, allocate: capture).run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(server.count("/ids") == 2)
    #expect(server.count("/ids/7") == 1)
    #expect(server.count("/ids/9") == 0)
  }
}
