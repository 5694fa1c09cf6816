import Foundation
import Testing

@testable import Receiver

/// Each hostile response, as it arrives on a plain socket.
@Suite struct HostileResponseTests {
  /// The bytes that arrive in response to `GET /catalog.json?a=b`, and how the connection ends.
  private func play(
    _ fault: Fault, atMost limit: Int = 4 << 20
  ) async throws -> (text: String, bytes: Data, end: TestConnection.Broken?) {
    var played = (text: "", bytes: Data(), end: TestConnection.Broken?.none)
    try await TestServer.run({ $0.faults = [fault] }) { server in
      let connection = try server.connect()
      try await connection.send("GET /catalog.json?a=b HTTP/1.1\r\nHost: example.test:81\r\n\r\n")
      let (data, end) = try await connection.bytes(atMost: limit)
      played = (String(decoding: data, as: UTF8.self), data, end)
    }
    return played
  }

  private static let h = "HTTP/1.1 200 Hostile\r\n"
  private static let tag = "ETag: \"hostile\"\r\n"
  private static let hint = "HTTP/1.1 103 Early Hints\r\nLink: </hostile.css>; rel=preload\r\n\r\n"

  /// Settings of a fault, and the first bytes that it sends.
  private static let beginnings: [(String, String)] = [
    ("redirect,status=303", "HTTP/1.1 303 Hostile\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    (
      "redirect,location=http://other.test/",
      "HTTP/1.1 307 Hostile\r\nContent-Length: 0\r\nLocation: http://other.test/\r\n"
    ),
    ("redirect-loop", "HTTP/1.1 307 Hostile\r\nContent-Length: 0\r\nLocation: /catalog.json?a=b\r\n"),
    (
      "redirect-to-file-scheme",
      "HTTP/1.1 307 Hostile\r\nContent-Length: 0\r\nLocation: file:///etc/passwd\r\n"
    ),
    (
      "redirect-to-userinfo",
      "HTTP/1.1 307 Hostile\r\nContent-Length: 0\r\nLocation: http://user:password@example.test:81/\r\n"
    ),
    (
      "duplicate-location,location=https://other.test/",
      "HTTP/1.1 307 Hostile\r\nContent-Length: 0\r\nLocation: http://example.test:81/\r\nLocation: https://other.test/\r\n"
    ),
    (
      "foreign-url,location=http://other.test/a",
      "HTTP/1.1 201 Hostile\r\nContent-Length: 62\r\nLocation: http://other.test/a\r\n"
    ),
    (
      "partial-content",
      "HTTP/1.1 206 Hostile\r\n\(tag)Content-Range: bytes 0-9/1000\r\nContent-Length: 10\r\n"
    ),
    ("not-modified", "HTTP/1.1 304 Hostile\r\n\(tag)Connection: close\r\n\r\n"),
    ("no-content", "HTTP/1.1 204 Hostile\r\n\(tag)Connection: close\r\n\r\n"),
    ("reset-content", "HTTP/1.1 205 Hostile\r\nContent-Length: 0\r\n\(tag)"),
    ("other-status,status=600", "HTTP/1.1 600 Hostile\r\nContent-Length: \(length)\r\n\(tag)"),
    ("other-status,status=199", "HTTP/1.1 199 Hostile\r\n\(tag)Connection: close\r\n\r\n"),
    ("etag-control-character", "\(h)Content-Length: \(length)\r\nETag: \"a\u{1}b\u{7f}\"\r\n"),
    ("etag-not-ascii", "\(h)ETag: \"\u{fffd}"),
    ("etag-folded", "\(h)Content-Length: \(length)\r\nETag: \"folded\r\n  tag\"\r\n"),
    ("etag-long,size=6", "\(h)ETag: \"0123\"\r\nContent-Length: \(length)\r\n"),
    (
      "last-modified-control-character",
      "\(h)Content-Length: \(length)\r\nLast-Modified: Sun, 06 Nov 1994\u{1} 08"
    ),
    ("early-hints", "\(hint)\(hint)\(hint)"),
    ("long-reason-phrase,size=5", "HTTP/1.1 200 aaaaa\r\nContent-Length: \(length)\r\n"),
    ("long-header-line,size=5", "\(h)X-Hostile: aaaaa\r\nContent-Length: \(length)\r\n"),
    ("many-headers,size=150", "\(h)X-0000000000: \(String(repeating: "a", count: 50))\r\nX-0000000001: a"),
    ("content-encoding-gzip", "\(h)\(tag)Content-Encoding: gzip\r\nContent-Length: \(length + 23)\r\n"),
    ("content-encoding-not-gzip", "\(h)\(tag)Content-Encoding: gzip\r\nContent-Length: \(length)\r\n"),
    ("transfer-encoding-gzip", "\(h)\(tag)Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n"),
    (
      "transfer-encoding-not-gzip",
      "\(h)\(tag)Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n\(String(length, radix: 16))\r\n{"
    ),
    ("transfer-encoding-unknown", "\(h)\(tag)Transfer-Encoding: hostile, chunked\r\n"),
    ("gzip-bomb,size=3000", "\(h)\(tag)Content-Encoding: gzip\r\nContent-Length: 35\r\n"),
    (
      "transfer-encoding-gzip-bomb,size=3000",
      "\(h)\(tag)Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\nd\r\n"
    ),
    ("wrong-content-length", "\(h)\(tag)Content-Length: \(length / 2)\r\nConnection: close\r\n\r\n{"),
    (
      "conflicting-content-lengths",
      "\(h)\(tag)Content-Length: \(length / 2)\r\nContent-Length: \(length)\r\n"
    ),
    ("content-length-and-chunked", "\(h)\(tag)Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
    ("malformed-content-length", "\(h)\(tag)Content-Length: -1\r\n"),
    ("close-delimited", "\(h)\(tag)Connection: close\r\n\r\n\(HostileScript.document)"),
    ("http-0.9", "<html>"),
    ("garbage", "\u{16}\u{3}\u{1}\u{2}\0"),
  ]
  private static let length = HostileScript.document.utf8.count

  /// The complete output of each truncated response, with the status 409.
  private static let cuts: [(HostileResponse, String)] = {
    let status = "HTTP/1.1 409 Hostile\r\n"
    let lines = "\(status)\(tag)Content-Type: application/json\r\n"
    let chunked = "\(status)\(tag)Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    let digits = String(repeating: "0123456789", count: 10)
    let letters = String(repeating: "a", count: 100)
    return [
      (.cutInStatusLine, "HTTP/1.1 40"),
      (.cutAfterStatusLine, status),
      (.cutInHeaderLine, "\(lines)Content-Le"),
      (.cutInHeader, lines),
      (.cutAfterEarlyHints, hint),
      (.cutInHeaderAfterEarlyHints, "\(hint)\(lines)"),
      (.cutInBody, "\(status)\(tag)Content-Length: 1000\r\nConnection: close\r\n\r\n\(digits)"),
      (.cutInChunk, "\(chunked)3e8\r\n\(letters)"),
      (.cutBeforeLastChunk, "\(chunked)\(String(length, radix: 16))\r\n\(HostileScript.document)\r\n"),
    ]
  }()

  @Test(arguments: beginnings)
  func `begins with the expected bytes, and the connection ends cleanly`(settings: String, start: String)
    async throws
  {
    let played = try await play(Fault(spec: "catalog:response=\(settings)"))
    #expect(played.text.hasPrefix(start), "\(played.text.prefix(400))")
    #expect(played.end == .ended)
  }

  @Test func `that is late arrives after its interval, on a connection that stays open`() async throws {
    let response = "\(Self.h)\(Self.tag)Content-Length: \(Self.length)\r\n\r\n\(HostileScript.document)"
    let start = ContinuousClock.now
    let played = try await play(
      Fault(spec: "catalog:response=late-response,interval=0.2"), atMost: 2 * response.utf8.count)
    #expect(played.text == response + response)
    #expect(played.end == nil)
    #expect(ContinuousClock.now - start >= .milliseconds(200))
  }

  @Test(arguments: cuts)
  func `that is truncated sends exactly these bytes`(response: HostileResponse, text: String) async throws {
    var fault = Fault.response(response, on: .catalog, status: 409)
    let closed = try await play(fault)
    #expect(closed.text == text)
    #expect(closed.end == .ended)
    fault.cut = .reset
    let reset = try await play(fault)
    #expect(reset.text == text)
    #expect(reset.end == .reset)
  }

  @Test(arguments: HostileResponse.allCases)
  func `ends when the client goes away, and the receiver serves others`(response: HostileResponse)
    async throws
  {
    var fault = Fault.response(response, on: .inbox)
    fault.status = response.settings.statuses?.lowerBound
    fault.location = response.settings.takesLocation ? "http://127.0.0.1:1/" : nil
    fault.interval = response.settings.interval.map { _ in 0 }
    let faults = [fault]
    try await TestServer.run({ $0.faults = faults }) { server in
      let connection = try server.connect()
      try await connection.send(TestServer.message("POST", "/inbox?name=a", body: Data([1])))
      if response != .silence { #expect(try await !connection.bytes(atMost: 300 << 10).data.isEmpty) }
      #expect(try await server.request("GET", "/catalog.json").status == 200)
      // The request was not executed. The receiver stops while the client is still connected.
      #expect(try await server.server.received().inbox.isEmpty)
      withExtendedLifetime(connection) {}
    }
  }

  @Test(arguments: [
    (HostileResponse.digits, 1000), (.nestedJSON, 1000), (.manyValuesJSON, 1000), (.manyKeysJSON, 998),
    (.hugeNumberJSON, 1000), (.hugeCapture, 1000),
  ])
  func `that is expensive to read has a complete body of its size`(response: HostileResponse, size: Int)
    async throws
  {
    let played = try await play(.response(response, on: .catalog, size: 1000))
    let parts = played.text.split(separator: "\r\n\r\n", maxSplits: 1)
    let body = try #require(parts.last)
    #expect(body.utf8.count >= size - 1 && body.utf8.count <= size)
    #expect(parts.first?.contains("Content-Length: \(body.utf8.count)\r\n") == true)
    // Foundation rejects numbers of this length.
    guard response != .digits, response != .hugeNumberJSON else { return }
    let value = try JSONSerialization.jsonObject(with: Data(body.utf8))
    switch value {
    case let object as [String: Any]: #expect(object["id"] != nil)
    case let array as [Any]: #expect(!array.isEmpty)
    default: Issue.record("\(value)")
    }
    if response == .manyKeysJSON { #expect((value as? [String: Any])?.count == 67) }
  }

  @Test func `that is endless continues for as long as the client reads`() async throws {
    for response in [
      HostileResponse.endlessHeader, .earlyHintsFlood, .endlessBody, .tinyChunks, .endlessChunkExtension,
      .endlessTrailer,
    ] {
      let played = try await play(.response(response, on: .catalog), atMost: 8 << 20)
      #expect(played.bytes.count == 8 << 20, "\(response)")
      #expect(played.end == nil)
    }
  }

  @Test func `that is slow waits between two pieces`() async throws {
    let start = ContinuousClock.now
    let played = try await play(.response(.dripHeader, on: .catalog, interval: 0.02), atMost: 38)
    #expect(played.text == "HTTP/1.1 200 Hostile\r\nX-Hostile: aaaaa")
    // The receiver waits at least four times. On a busy machine, each wait may take longer.
    #expect(ContinuousClock.now - start >= .milliseconds(80))
  }

  @Test func `comes after the responses to earlier requests on its connection`() async throws {
    try await TestServer.run({ $0.faults = [.response(.http09, on: .inbox)] }) { server in
      let connection = try server.connect()
      try await connection.send(
        TestServer.message("PUT", "/files/a", body: Data([1])) + TestServer.message("GET", "/catalog.json")
          + TestServer.message("POST", "/inbox?name=a", body: Data([1])))
      #expect(try await connection.answer().status == 201)
      #expect(try await connection.answer().status == 200)
      #expect(try await connection.bytes().data == Data("<html>no status line</html>\n".utf8))
    }
  }

  @Test func `comes before or after the work`() async throws {
    try await TestServer.run { server in
      let path = try await server.allocate("a")
      _ = try await server.request("PUT", "\(path)/content", text: "abc")
      for (work, commits) in [(Fault.Work.none, 0), (.done, 1)] {
        try await server.server.add(.response(.redirect, on: .commit, times: 1, status: 303, work: work))
        #expect(try await server.request("POST", "\(path)/commit").status == 303)
        #expect(try await server.received("a")?.commits == commits)
      }
    }
  }

  @Test func `takes a long body first`() async throws {
    try await TestServer.run({ $0.faults = [.response(.cutInHeader, on: .content)] }) { server in
      let path = try await server.allocate("a")
      let connection = try server.connect()
      let body = Data(repeating: 1, count: 4 << 20)
      try await connection.send(TestServer.message("PUT", "\(path)/content", body: body))
      let (data, end) = try await connection.bytes()
      #expect(data.starts(with: Data("HTTP/1.1 200".utf8)))
      #expect(end == .ended)
      #expect(try await server.received("a")?.contents == 0)
    }
  }

  @Test func `is added while the server runs, and shown`() async throws {
    try await TestServer.run { server in
      let text = """
        {"route":"catalog","response":"redirect","status":302,"location":"/login","times":1,"work":"done"}
        """
      let added = try await server.request("POST", "/faults", text: text)
      let expected = Fault.response(
        .redirect, on: .catalog, times: 1, status: 302, work: .done, location: "/login")
      #expect(try added.json([Fault].self) == [expected])
      #expect(try await server.request("GET", "/catalog.json")["location"] == "/login")
      #expect(try await server.request("GET", "/catalog.json").status == 200)
    }
  }

  @Test func `is in the list with its parameters`() {
    let lines = FaultList.text.split(separator: "\n")
    for response in HostileResponse.allCases {
      #expect(lines.contains { $0.hasPrefix("  \(response.rawValue) ") }, "\(response)")
    }
    #expect(FaultList.text.contains("[status=200 (200 to 599); size=1099511627776; interval=1.0]"))
  }

  @Test func `is in the documentation as it is in the list`() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: package.appending(path: "docs/receiver.md"), encoding: .utf8)
    let rows = FaultList.text.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { line in
      let words = line.drop { $0 == " " }
      let name = words.prefix { $0 != " " }
      return "| `\(name)` | \(words.dropFirst(name.count).drop { $0 == " " }) |"
    }
    #expect(rows.count == HostileResponse.allCases.count)
    #expect(rows.filter { !page.contains("\n\($0)\n") } == [])
  }

  @Test func `is in the record of client requests, and nothing is missing there`() async throws {
    let record = FileManager.default.temporaryDirectory.appending(path: "record-\(UUID().uuidString)")
    defer { unlink(record.path(percentEncoded: false)) }
    try await TestServer.run({ $0.record = record }) { server in
      let message = TestServer.message(
        "POST", "/inbox?name=a", headers: ["X-Key": "geheim"], body: Data([1, 2]))
      let connection = try server.connect()
      try await connection.send(message)
      #expect(try await connection.answer().status == 201)
      #expect(try Data(contentsOf: record) == message)
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: record.path(percentEncoded: false))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }
}
