import FerryDigest
import FerryPlan
import Testing

@testable import FerryTransfer

@Suite struct RedirectTests {
  let folder: TemporaryFolder
  let loop: TransferLoop
  let credential = TransferRequest.HeaderField(name: "X-Api-Key", value: "k", sensitivity: .init(.request))

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  @Test(arguments: [1000, 4 << 20])
  func theBodyGoesToAnotherServerWithoutTheHeadersThatAreStripped(size: Int) throws {
    let bytes = pattern(size)
    folder.write("f", bytes)
    let second = try RawServer { _ in answer("201 Created", body: "done") }
    let target = second.url + "/there"
    let first = try RawServer { _ in answer("307 Moved", headers: ["Location: \(target)"], body: "go") }
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "PUT", url: first.url, headers: [credential],
        body: .file(folder.source("f", wantsSHA256: true)), atMostOnce: true,
        redirects: .init(acrossOrigins: .strip)))
    #expect(outcome.answer?.status == 201)
    #expect(outcome.answer?.url == target)
    #expect(outcome.answer?.body == Array("done".utf8))
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
    #expect(first.requests.first?.header("x-api-key") == "k")
    #expect(second.requests.first?.header("x-api-key") == nil)
    #expect(second.requests.first?.body == bytes)
    #expect(outcome.traffic.bodySent == Int64(2 * size))
    #expect(outcome.traffic.bodyReceived == 6)
  }

  @Test func credentialsAreNotRestoredOnARedirectBack() throws {
    let home = RedirectTarget()
    let away = try RawServer { _ in answer("302 Found", headers: ["Location: \(home.url)/end"]) }
    let awayURL = away.url
    let first = try RawServer {
      $0.target == "/end"
        ? answer() : answer("302 Found", headers: ["Location: \(awayURL)/"])
    }
    home.url = first.url
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "GET", url: first.url + "/start", headers: [credential],
        redirects: .init(acrossOrigins: .strip)))
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

  @Test(arguments: [303, 302, 301], [1000, 100_000])
  func aRedirectOfAPostToAGetIsItsResponse(status: Int, size: Int) throws {
    let server = try RawServer {
      $0.target == "/a" ? answer("\(status) Elsewhere", headers: ["Location: /login"], body: "see") : answer()
    }
    let bytes = pattern(size)
    folder.write("f", bytes)
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "POST", url: server.url + "/a", body: .file(folder.source("f", wantsSHA256: true))))
    #expect(server.requests.map(\.method) == ["POST"])
    #expect(outcome.answer?.status == status)
    #expect(outcome.answer?.header("location") == "/login")
    #expect(outcome.answer?.body == Array("see".utf8))
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
  }

  @Test func seeOtherIsFollowedByAGet() throws {
    let server = try RawServer {
      $0.target == "/a" ? answer("303 See Other", headers: ["Location: /b"]) : answer()
    }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url + "/a"))
    #expect(outcome.answer?.status == 200)
    #expect(server.requests.map(\.target) == ["/a", "/b"])
  }

  @Test func aSensitiveBodyStaysWithItsServer() throws {
    let second = try RawServer { _ in answer() }
    let target = second.url + "/steal"
    let first = try RawServer { _ in answer("308 Moved", headers: ["Location: \(target)"]) }
    var request = TransferRequest(
      id: 1, method: "POST", url: first.url + "/token", body: .bytes(Array("client_secret=s".utf8)),
      sensitive: .init(body: ["secrets.client_secret"]))
    let outcome = try loop.run(request)
    #expect(outcome.failure?.code == .redirect)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.failure?.message.contains("secrets.client_secret in the body") == true)
    #expect(second.requests.isEmpty && second.connectionCount == 0)
    request.redirects.acrossOrigins = .follow
    #expect(try loop.run(request).answer?.status == 200)
    #expect(second.requests.map(\.body) == [Array("client_secret=s".utf8)])
  }

  @Test func valuesWithheldFromACapturedURLAreReportedWithItsResponse() throws {
    let server = try RawServer { _ in answer("401 Unauthorized") }
    let token = TransferRequest.HeaderField(
      name: "Authorization", value: "Bearer t", sensitivity: .init(.token, values: ["token.access"]))
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "GET", url: server.url + "/u", headers: [token], sensitive: .init(isURLCaptured: true))
    )
    #expect(server.requests.first?.header("authorization") == nil)
    #expect(outcome.answer?.withheld?.contains("origins: [\"\(server.url)\"]") == true)
  }

  @Test func aFailedConnectionToARedirectTargetLeavesTheOutcomeOpen() throws {
    let closed = try RawServer { _ in answer() }.port
    let server = try RawServer { _ in answer("307 Moved", headers: ["Location: http://127.0.0.1:\(closed)/"])
    }
    let outcome = try loop.run(TransferRequest(id: 1, method: "POST", url: server.url, body: .bytes([1])))
    #expect(outcome.failure?.code == .connect)
    #expect(outcome.failure?.mayHaveReachedServer == true)
  }

  @Test func aLoopEnds() throws {
    let server = try RawServer { _ in answer("302 Found", headers: ["Location: /again"]) }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.failure?.code == .redirect)
    #expect(server.requests.count == 11)
  }

  @Test func notModifiedIsAResponse() throws {
    let server = try RawServer { _ in "HTTP/1.1 304 Not Modified\r\nLocation: /z\r\nETag: \"1\"\r\n\r\n" }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.answer?.status == 304)
    #expect(outcome.answer?.header("ETag") == "\"1\"")
  }
}

/// The target of a redirect, which is unknown when the server's script is written.
///
/// `@unchecked Sendable`: it is set before the first request.
private final class RedirectTarget: @unchecked Sendable {
  var url = ""
}
