import Foundation
import Testing

/// Servers quote the request-target in error pages, and some send the URL of an upload as a relative reference.
@Suite struct `A secret URL that a server quotes` {
  private static let secret = "S3cretS1gnature0123456789"

  private struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// The nodes of the manifest; `HOME` is the URL of the server.
    var nodes: String
    var responses: [String: ScriptedServer.Response]
    var secret = ""
    /// A line that the run prints.
    var line: String
  }

  private static let cases = [
    Case(
      testDescription: "a captured URL with a signature",
      nodes: """
        uploads:
          files:
            session: quick
            files: { root: files }
            allocate: { request: { url: "HOME/allocate" }, capture: { url: { json: /url, secret: true } } }
            transfer: { request: { url: "${allocate.url}" } }
            retry: { limit: 0 }
        """,
      responses: [
        "/allocate": .init(status: 200, body: #"{"url": "{home}/bucket/key?sig=\#(secret)&e=1"}"#),
        "/bucket/key?sig=\(secret)&e=1": .init(
          status: 403, body: "Cannot PUT /bucket/key?sig=\(secret)&amp;e=1 with \(secret)"),
      ],
      line: "PUT ***: Cannot PUT *** with ***"),
    Case(
      testDescription: "a URL in a secret",
      nodes: """
        secrets: { hook: { env: HOOK } }
        requests:
          call: { session: quick, request: { method: POST, url: "${secrets.hook}", json: {} } }
        """,
      responses: [
        "/services/T0/\(secret)": .init(
          status: 404, body: "No resource services/T0/\(secret): Cannot POST /services/T0/\(secret)")
      ],
      secret: "/services/T0/\(secret)", line: "***: No resource ***: Cannot POST ***"),
    Case(
      testDescription: "the URL of a tus upload, relative to the creation",
      nodes: """
        uploads:
          files:
            session: quick
            files: { root: files }
            transfer: { protocol: tus, request: { url: "HOME/files" } }
            retry: { limit: 0 }
        """,
      responses: [
        "/files": .init(
          status: 201, headers: ["Location": "/files/\(secret)", "Tus-Resumable": "1.0.0"], body: ""),
        "/files/\(secret)": .init(
          status: 400, headers: ["Tus-Resumable": "1.0.0", "Content-Location": secret],
          body: "upload /files/\(secret) is not acceptable"),
      ],
      line: "PATCH ***: upload *** is not acceptable"),
    Case(
      testDescription: "the target of a redirect",
      nodes: """
        fetches:
          list:
            session: quick
            request: { url: "HOME/list" }
            save_to: list
        """,
      responses: [
        "/list": .init(
          status: 302, headers: ["Location": "{home}/object?sig=\(secret)"],
          body: "<a href='{home}/object?sig=\(secret)'>Found</a>"),
        "/object?sig=\(secret)": .init(
          status: 403, headers: ["X-Target": "/object?sig=\(secret)"],
          body: "bad signature /object?sig=\(secret)"),
      ],
      line: "/object?sig=***: bad signature /object?sig=***"),
  ]

  @Test(arguments: cases)
  private func `is masked in the output, the report, the log, the events and the trace`(_ one: Case)
    async throws
  {
    let server = try await ScriptedServer.start(one.responses)
    let job = try Workspace(
      "version: 1\nname: quoted\nsessions: { quick: { kind: background } }\n"
        + one.nodes.replacing("HOME", with: server.home) + "\n")
    try job.write("x", to: "a")
    let arguments = [
      "run", "job.yaml", "--report", "report.json", "--trace", "trace.har", "--log", "log", "--events",
      "events",
    ]
    let run = try await job.start(arguments, environment: ["HOOK": server.home + one.secret]).end()
    #expect(run.status == 1, "\(run.stderr)")
    #expect((run.stdout + run.stderr).contains(one.line), "\(run.stdout)\(run.stderr)")
    for name in ["report.json", "trace.har", "log", "events"] {
      #expect(!job.folder.text(name).isEmpty)
      SecretForms.expectNone(of: [Self.secret], in: Data(job.folder.text(name).utf8), name)
    }
    SecretForms.expectNone(of: [Self.secret], in: Data((run.stdout + run.stderr).utf8), "the output")
    #expect(server.lines.contains { $0.contains(Self.secret) })
  }

  /// A server that receives the password of a URL returns it as an upload ID.
  @Test(arguments: [secret, "Basic " + Data("user:\(secret)".utf8).base64EncodedString()])
  func `is masked as a capture`(_ id: String) async throws {
    let server = try await ScriptedServer.start([
      "/allocate": .init(status: 200, body: #"{"id": "\#(id)"}"#),
      "/put/a": .init(status: 403, body: "not \(id)"),
    ])
    let job = try Workspace(
      """
      version: 1
      name: quoted
      sessions: { quick: { kind: background } }
      secrets: { server: { env: SERVER } }
      uploads:
        files:
          session: quick
          files: { root: files }
          allocate: { request: { url: "${secrets.server}/allocate" }, capture: { id: { json: /id } } }
          transfer: { request: { url: "\(server.home)/put/${file.name}", headers: { id: "${allocate.id}" } } }

      """)
    try job.write("x", to: "a")
    let url = server.home.replacing("http://", with: "http://user:\(Self.secret)@")
    let run = try await job.start(
      ["run", "job.yaml", "--report", "report.json"], environment: ["SERVER": url]
    ).end()
    #expect(run.status == 1 && run.stdout.contains("not ***"), "\(run.stdout)")
    var output = run.stdout + run.stderr + job.folder.text("report.json")
    for command in [
      ["orphans", "quoted.quick"], ["journal", "export"], ["explain", "a", "--manifest", "job.yaml"],
    ] {
      let result = try await job.start(command).end()
      #expect(!result.stdout.isEmpty, "\(command): \(result.stderr)")
      output += result.stdout
    }
    SecretForms.expectNone(of: [Self.secret], in: Data(output.utf8), "the output")
  }
}
