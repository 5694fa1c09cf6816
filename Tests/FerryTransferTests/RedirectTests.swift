import Crypto
import FerryPlan
import Testing

@testable import FerryTransfer

@Suite struct RedirectTests {
  let folder: TemporaryFolder
  let loop: TransferLoop
  let credential = TransferRequest.HeaderField(name: "X-Api-Key", value: "k", isCredential: true)

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  @Test(arguments: [1000, 4 << 20])
  func theBodyGoesToAnotherServerWithoutTheCredentials(size: Int) throws {
    let bytes = pattern(size)
    folder.write("f", bytes)
    let second = try RawServer { _ in answer("201 Created", body: "done") }
    let target = second.url + "/there"
    let first = try RawServer { _ in answer("307 Moved", headers: ["Location: \(target)"], body: "go") }
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "PUT", url: first.url, headers: [credential],
        body: .file(folder.source("f", wantsSHA256: true)), atMostOnce: true))
    #expect(outcome.answer?.status == 201)
    #expect(outcome.answer?.url == target)
    #expect(outcome.answer?.body == Array("done".utf8))
    #expect(outcome.answer?.sha256 == Array(SHA256.hash(data: bytes)))
    #expect(first.requests.first?.header("x-api-key") == "k")
    #expect(second.requests.first?.header("x-api-key") == nil)
    #expect(second.requests.first?.body == bytes)
    #expect(outcome.traffic.bodySent == Int64(2 * size))
    #expect(outcome.traffic.bodyReceived == 6)
  }

  @Test func credentialsStayDroppedOnTheWayBack() throws {
    let home = RedirectTarget()
    let away = try RawServer { _ in answer("302 Found", headers: ["Location: \(home.url)/end"]) }
    let awayURL = away.url
    let first = try RawServer {
      $0.target == "/end"
        ? answer() : answer("302 Found", headers: ["Location: \(awayURL)/"])
    }
    home.url = first.url
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: first.url + "/start", headers: [credential]))
    #expect(outcome.answer?.url == first.url + "/end")
    #expect(first.requests.map { $0.header("x-api-key") } == ["k", nil])
  }

  @Test func credentialsAreKeptWithinTheirOrigin() throws {
    let server = try RawServer {
      $0.target == "/a"
        ? answer("308 Moved", headers: ["Location: b"]) : answer()
    }
    _ = try loop.run(
      TransferRequest(
        id: 1, method: "PUT", url: server.url + "/a", headers: [credential], body: .bytes([1])))
    #expect(server.requests.map(\.target) == ["/a", "/b"])
    #expect(server.requests.map { $0.header("x-api-key") } == ["k", "k"])
    #expect(server.requests.map(\.body) == [[1], [1]])
    #expect(server.connectionCount == 1)
  }

  @Test func seeOtherBecomesAGet() throws {
    let server = try RawServer {
      $0.target == "/a"
        ? answer("303 See Other", headers: ["Location: /b"]) : answer()
    }
    let bytes = pattern(100_000)
    folder.write("f", bytes)
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "POST", url: server.url + "/a", headers: [.init(name: "Content-Type", value: "a/b")],
        body: .file(folder.source("f", wantsSHA256: true))))
    #expect(server.requests.map(\.method) == ["POST", "GET"])
    #expect(server.requests.last?.body == [])
    #expect(server.requests.last?.header("content-type") == nil)
    #expect(server.requests.last?.header("content-length") == nil)
    #expect(outcome.answer?.sha256 == Array(SHA256.hash(data: bytes)))
  }

  @Test func aLoopEnds() throws {
    let server = try RawServer { _ in answer("302 Found", headers: ["Location: /again"]) }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.failure?.code == .redirect)
    #expect(server.requests.count == 11)
  }

  @Test func notModifiedIsAnAnswer() throws {
    let server = try RawServer { _ in "HTTP/1.1 304 Not Modified\r\nLocation: /z\r\nETag: \"1\"\r\n\r\n" }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.answer?.status == 304)
    #expect(outcome.answer?.header("ETag") == "\"1\"")
  }
}

/// Where a server sends to that is not yet known when it is scripted.
///
/// `@unchecked Sendable`: set before the first request.
private final class RedirectTarget: @unchecked Sendable {
  var url = ""
}
