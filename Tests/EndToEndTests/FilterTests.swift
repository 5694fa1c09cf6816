import Foundation
import Testing

/// The results of reference filters, as servers receive them.
@Suite struct `A manifest with filters` {
  private static func text(_ server: ScriptedServer, _ headers: String) -> String {
    """
    version: 1
    name: e2e
    vars: { api: "\(server.home)" }
    secrets: { client_secret: { env: E2E_SECRET } }
    sessions: { s: { timeout_for_request: 20s } }
    uploads:
      files:
        session: s
        files: { root: files }
        transfer:
          request:
            url: ${vars.api}/in/${file.path | lower}?n=${file.stem | query}
            headers:
    \(headers.split(separator: "\n").map { "          " + $0 }.joined(separator: "\n"))
        retry: { limit: 0 }

    """
  }

  @Test func `sends names with spaces and umlauts in header fields as their formats require`() async throws {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(
      Self.text(
        server,
        """
        Destination: "${vars.api}/photos/${file.path | url}"
        Dropbox-API-Arg: '{"path": "/${file.path | json}"}'
        Upload-Metadata: "filename ${file.path | base64}"
        X-Digest: "${file.path | lower | sha256}"
        """))
    _ = try job.folder.makeFolder("files/A b")
    try job.write("hello", to: "A b/Süß & gut.JPG")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stderr)")
    let request = try #require(server.requests.first)
    #expect(request.path == "/in/a%20b/s%C3%BC%C3%9F%20%26%20gut.jpg?n=S%C3%BC%C3%9F%20%26%20gut")
    #expect(request.headers["destination"] == "\(server.home)/photos/A%20b/S%C3%BC%C3%9F%20%26%20gut.JPG")
    #expect(request.headers["dropbox-api-arg"] == #"{"path": "/A b/S\u00fc\u00df & gut.JPG"}"#)
    #expect(request.headers["upload-metadata"] == "filename QSBiL1PDvMOfICYgZ3V0LkpQRw==")
    #expect(
      request.headers["x-digest"] == "194a8abc6152cf01e2ee66c5ad274f3780302decfe0b5d0e62bfd58e3bf11d80")
  }

  @Test func `fails an item whose name is not UTF-8 if a filter needs characters, and no other`() async throws
  {
    let server = try await ScriptedServer.start([:])
    let job = try Workspace(Self.text(server, #"X-Name: "${file.name | json}""#))
    try job.write("hello", to: "a.txt")
    // open(2) is called, because Foundation's paths must be valid Unicode.
    let descriptor = open(
      (Array(job.folder.path("files/b").utf8) + [0xFF, 0]).map(CChar.init(bitPattern:)), O_CREAT, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(server.lines == ["home PUT /in/a.txt?n=a"])
    let failed = try #require(report.items.first { $0.pathBase64 != nil })
    #expect(failed.state == "failed" && failed.reason?.code == "request")
    #expect(
      failed.reason?.message
        == "${file.name | json}: the value is not UTF-8, which the filter 'json' requires")
  }

  /// A filtered secret is still a secret: ferry does not send it to other origins.
  @Test func `does not send a filtered secret to another origin`() async throws {
    let server = try await ScriptedServer.start([
      "/in/a.txt?n=a": .init(status: 307, headers: ["Location": "{away}/steal"])
    ])
    let job = try Workspace(Self.text(server, #"X-Key: "${secrets.client_secret | base64}""#))
    try job.write("hello", to: "a.txt")
    let (command, _) = try await job.run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(server.lines == ["home PUT /in/a.txt?n=a"])
    let text = command.stdout + command.stderr + job.folder.text("report.json")
    #expect(text.contains("secrets.client_secret"))
    SecretForms.expectNone(of: [Workspace.secret], in: Data(text.utf8), "the output")
  }
}
