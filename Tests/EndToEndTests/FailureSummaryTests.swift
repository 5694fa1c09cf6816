import Foundation
import Testing

/// How a run summarizes the requests that failed.
@Suite struct `The failures of a run` {
  @Test func `are one line for one cause, with the URL, the reason phrase and the body`() async throws {
    let body =
      "{\"error\": \"field \\\"title\\\" missing\",\n \"echo\": \"\(Workspace.secret)\", \"color\": \"\u{1B}[31m\"}"
    let response =
      "HTTP/1.1 400 Title Required\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    let names = (0..<30).map { String(format: "%02d.txt", $0) }
    let server = try await RawResponder.start(
      Dictionary(uniqueKeysWithValues: names.map { ("/\($0)?key=abc", [response]) }))
    let job = try Workspace(
      JobText.text(
        server: server.url,
        """
        uploads:
          files:
            session: uploads
            files: { root: files }
            transfer:
              request: { url: "${vars.api}/${file.path}?key=abc", headers: { X-Key: "${secrets.client_secret}" } }
        """))
    for name in names { try job.write("text", to: name) }
    let (run, report) = try await job.run()
    #expect(run.status == 1, "\(run.stderr)")
    let line =
      "  files: 30 × 400 Title Required, PUT \(server.url)/00.txt?key=*** (first: 00.txt): "
      + #"{"error": "field \"title\" missing", "echo": "***", "color": "\033[31m"}"#
    #expect(run.stdout.split(separator: "\n").contains { $0 == line }, "\(run.stdout)")
    #expect(run.stdout.split(separator: "\n").count { $0.contains(".txt") } == 1)
    let reason = try #require(report.item("07.txt")?.reason)
    #expect(
      reason.method == "PUT" && reason.url == "\(server.url)/07.txt?key=***"
        && reason.reasonPhrase == "Title Required")
    #expect(reason.body?.hasPrefix(#"{"error": "field"#) == true)
    #expect(reason.proxy == nil)
    SecretForms.expectNone(
      of: [Workspace.secret], in: Data(job.folder.text("report.json").utf8), "the report")
  }

  @Test func `name a proxy that does not respond, without its password`() async throws {
    // No program listens on this port.
    let closed = "127.0.0.1:9"
    let job = try Workspace(JobText.text(server: "http://target.example:8080", JobText.puts))
    try job.write("text", to: "1.txt")
    let variables = ["http_proxy": "http://user:hunter2@\(closed)", "no_proxy": ""]
    let run = try await job.ferry("run", "job.yaml", "--report", "report.json", environment: variables)
    #expect(run.status == 5, "\(run.stdout)\(run.stderr)")
    let message = "connect to the proxy \(closed), for target.example:8080: Connection refused"
    #expect(run.stdout.contains(message), "\(run.stdout)")
    #expect(!(run.stdout + run.stderr).contains("hunter2"))
    let text = job.folder.text("report.json")
    #expect(text.contains(#""proxy":"\#(closed)""#) && !text.contains("hunter2"), "\(text)")
  }

  @Test func `name a proxy that refuses a tunnel`() async throws {
    let proxy = try await RawResponder.start([
      "target.example:443": ["HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]
    ])
    let address = proxy.url.dropFirst("http://".count)
    let job = try Workspace(JobText.text(server: "https://target.example", JobText.puts))
    try job.write("text", to: "1.txt")
    let run = try await job.ferry("run", "job.yaml", environment: ["https_proxy": proxy.url, "no_proxy": ""])
    #expect(run.status == 5, "\(run.stdout)\(run.stderr)")
    #expect(
      run.stdout.contains("the proxy \(address) refused a connection to target.example:443 with 403"),
      "\(run.stdout)")
  }
}
