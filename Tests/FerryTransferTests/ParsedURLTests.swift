import FerryPlan
import Testing

@testable import FerryTransfer

/// URLs that are parsed before libcurl receives them, one after another in the same handle.
@Suite struct ParsedURLTests {
  /// Each path follows another one, from which nothing may remain.
  static let targets = [
    ("/", "/"), ("/a/b.bin", "/a/b.bin"), ("/a/c.bin", "/a/c.bin"), ("/%C3%A9/%2F", "/%C3%A9/%2F"),
    ("/%c3%A9", "/%c3%A9"), ("/a", "/a"), ("/a?q=1&r=%2F", "/a?q=1&r=%2F"), ("/b", "/b"),
    ("/b/./c/../d", "/b/d"), ("/b//d", "/b//d"), ("/b?", "/b?"), ("/c#f", "/c"), ("/d", "/d"),
    ("?q", "/?q"), ("", "/"), ("/e;f=1,2!'()*", "/e;f=1,2!'()*"), ("/.hidden", "/.hidden"),
    ("/a.tar.gz", "/a.tar.gz"),
  ]

  @Test func eachRequestHasItsOwnTarget() throws {
    let server = try RawServer { connection, _ in
      while connection.readRequest() != nil { connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
    }
    let loop = try TransferLoop()
    for (written, _) in Self.targets {
      let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url + written))
      #expect(outcome.answer?.status == 204, "\(written)")
      #expect(outcome.answer?.url == server.url + written)
    }
    #expect(server.requests.map(\.target) == Self.targets.map(\.1))
  }

  @Test func aHostOrUserOfAnotherURLDoesNotRemain() throws {
    let servers = try (0..<2).map { _ in
      try RawServer { connection, _ in
        while connection.readRequest() != nil { connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
      }
    }
    let loop = try TransferLoop()
    let urls = servers.map(\.url)
    let withUser = urls[0].replacing("http://", with: "http://user:pass@")
    for url in [urls[0] + "/1", urls[1] + "/2", withUser + "/3", withUser + "/4", urls[0] + "/5"] {
      #expect(try loop.run(TransferRequest(id: 1, method: "GET", url: url)).answer?.status == 204)
    }
    #expect(servers[0].requests.map(\.target) == ["/1", "/3", "/4", "/5"])
    #expect(servers[1].requests.map(\.target) == ["/2"])
    let basic = "Basic dXNlcjpwYXNz"
    #expect(servers[0].requests.map { $0.header("authorization") } == [nil, basic, basic, nil])
  }

  @Test func aURLThatLibcurlRejectsFails() throws {
    let loop = try TransferLoop()
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: "http://a:99999999/"))
    #expect(outcome.failure?.code == .request)
  }
}
