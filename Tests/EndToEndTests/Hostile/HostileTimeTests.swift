import Foundation
import Testing

/// Servers that try to make a run continue, grow or compute indefinitely.
@Suite struct `A server that takes its time` {
  private static func node(_ kind: String) -> String {
    switch kind {
    case "fetch":
      """
      fetches:
        slow:
          session: quick
          request: { url: "${vars.api}/catalog.json" }
          save_to: slow.json
      """
    case "token":
      """
      tokens:
        slow:
          session: quick
          request: { method: POST, url: "${vars.api}/oauth/token", form: { grant_type: client_credentials } }
          capture: { access_token: { json: /access_token, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access_token}" }
      requests:
        tell:
          session: quick
          token: slow
          request: { method: PUT, url: "${vars.api}/files/a", json: { a: 1 } }
      """
    default:
      """
      requests:
        slow:
          session: quick
          request: { method: \(kind), url: "${vars.api}/inbox?name=a", json: { a: 1 } }
      """
    }
  }

  /// Because a byte arrives every 100 ms, `timeout_for_request` never expires.
  @Test(arguments: ["fetch", "token", "POST"], ["drip,size=1000000", "drip-header"])
  func `is abandoned after timeout_for_resource`(_ kind: String, _ response: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["any:response=\(response),interval=0.1,work=done"]
    )
    let hostile = try HostileJob(receiver, resourceTimeout: "2s", Self.node(kind))
    let start = ContinuousClock.now
    let (command, report) = try await hostile.run(within: .seconds(60))
    #expect([1, 5, 7].contains(command.status), "\(command.stdout)\(command.stderr)")
    #expect(ContinuousClock.now - start < .seconds(50))
    switch kind {
    // The POST was executed, but ferry cannot determine that.
    case "POST":
      #expect(report.node("slow")?.state == "ambiguous")
      #expect(try await receiver.received().inbox.count == 1)
    case "fetch": #expect(report.node("slow")?.reason?.code == "resource_timeout")
    default: #expect(try await receiver.received().files.isEmpty)
    }
    #expect(!FileManager.default.fileExists(atPath: hostile.job.folder.path("slow.json")))
  }

  @Test(arguments: [
    "silence", "drip,interval=0.1,size=1000000", "drip-header,interval=0.1", "endless-body,interval=0.01",
    "early-hints-flood,interval=0.1", "endless-chunk-extension,interval=0.1", "endless-trailer,interval=0.1",
  ])
  func `does not block signals`(_ response: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["catalog:response=\(response)"])
    let hostile = try HostileJob(receiver, requestTimeout: "1m", resourceTimeout: "1h", Self.node("fetch"))
    let running = try hostile.job.start(["run", "job.yaml", "--quiet"])
    let deadline = ContinuousClock.now + .seconds(60)
    // The test polls, because the receiver offers no event to wait for.
    while receiver.log.isEmpty, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
    running.signal(SIGINT)
    let command = try await running.end(within: .seconds(40))
    #expect(command.status == 130, "\(command.stdout)\(command.stderr)")
    let left = try FileManager.default.contentsOfDirectory(
      atPath: hostile.job.folder.url.path(percentEncoded: false))
    // The received part of a document remains, so that the next run continues it.
    #expect(!left.contains { $0.contains("slow.json") && !$0.hasPrefix(".slow.json.ferry-kept-") }, "\(left)")
  }

  /// On 1 MiB of digits, the pattern takes a quadratic number of steps.
  @Test func `by a body that is hard to match fails the capture in bounded time`() async throws {
    let receiver = try await ReceiverProcess.start(faults: ["file:response=digits"])
    let hostile = try HostileJob(
      receiver,
      """
      requests:
        slow:
          session: quick
          request: { method: PUT, url: "${vars.api}/files/a", json: { a: 1 } }
          capture: { count: { regex: '(\\d+) items' } }
      """)
    let start = ContinuousClock.now
    let (command, report) = try await hostile.run(within: .seconds(60))
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(ContinuousClock.now - start < .seconds(50))
    #expect(report.node("slow")?.reason?.code == "capture", "\(report.node("slow")?.reason?.message ?? "")")
  }

  @Test(arguments: ["huge-capture", "huge-number-json", "nested-json", "many-values-json", "many-keys-json"])
  func `by a body that is large when decoded has little of it stored`(_ response: String) async throws {
    let receiver = try await ReceiverProcess.start(faults: ["allocate:response=\(response)"])
    let hostile = try HostileJob(
      receiver,
      """
      uploads:
        files:
          session: uploads
          files: { root: files }
          allocate:
            request: { url: "${vars.api}/uploads", json: { name: "${file.path}" } }
            capture: { id: { json: /id } }
          transfer: { request: { url: "${vars.api}/uploads/${allocate.id}/content" } }
          \(HostileJob.noRetry)
      """)
    try hostile.job.write("a", to: "a")
    let (command, report) = try await hostile.run(within: .seconds(60))
    // `many-keys-json` has a small number at /id, so it is a valid response, but the server does not know that ID.
    #expect([1, 5].contains(command.status), "\(command.stdout)\(command.stderr)")
    if response != "many-keys-json" {
      #expect(report.item("a")?.reason?.code == "capture", "\(report.item("a")?.reason?.message ?? "")")
    }
    let size = try hostile.job.stateFiles().values.reduce(0) { $0 + $1.count }
    #expect(size < 1 << 20, "the state folder holds \(size) bytes")
  }

  /// libcurl 7.88 reads the whole body of a proxy's error response before it returns.
  @Test(arguments: ["Content-Length: 1000000000000000", "Transfer-Encoding: chunked"])
  func `with the refusal of a proxy does not block signals`(_ framing: String) async throws {
    let proxy = try await ByteServer.start(
      """
        send(b"HTTP/1.1 407 Who\\r\\nProxy-Authenticate: Basic\\r\\n\(framing)\\r\\n\\r\\n")
        while True: send(b"8000\\r\\n" + b"a" * 0x8000 + b"\\r\\n")
      """)
    let job = try Workspace(
      """
      version: 1
      name: proxy
      sessions:
        s: { timeout_for_resource: 1h }
      requests:
        r: { session: s, request: { url: "https://127.0.0.1:9/r" } }
      """)
    let running = try job.start(
      ["run", "job.yaml", "--quiet"], environment: ["https_proxy": proxy.url, "no_proxy": ""])
    try await proxy.hasRead("127.0.0.1:9")
    running.signal(SIGTERM)
    let command = try await running.end(within: .seconds(20))
    #expect(command.status == 143, "\(command.stdout)\(command.stderr)")
  }
}
