import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct FailureTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  /// A port on which no program listens.
  private func closedPort() throws -> UInt16 {
    try RawServer { _, _ in }.port
  }

  @Test func aRefusedConnectionReachedNoServer() throws {
    let port = try closedPort()
    let outcome = try loop.run(
      TransferRequest(
        id: 1, method: "POST", url: "http://user:secret@127.0.0.1:\(port)/p?token=secret", body: .bytes([1])))
    #expect(outcome.failure?.code == .connect)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(outcome.failure?.message == "connect to 127.0.0.1:\(port): Connection refused")
  }

  @Test func anUnknownNameReachedNoServer() throws {
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: "http://nobody.invalid/?k=secret"))
    #expect(outcome.failure?.code == .nameResolution)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(outcome.failure?.message.contains("secret") == false)
  }

  @Test func plainHTTPIsNoHandshake() throws {
    let server = try RawServer { connection, _ in
      connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      connection.waitForEnd()
    }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: "https://127.0.0.1:\(server.port)/"))
    #expect(outcome.failure?.code == .handshake)
    #expect(outcome.failure?.mayHaveReachedServer == false)
  }

  @Test func aConnectionThatBreaksBeforeTheResponseIsLost() throws {
    let server = try RawServer { connection, _ in _ = connection.readRequest() }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "PUT", url: server.url + "/?k=secret", body: .bytes([1])))
    #expect(outcome.failure?.code == .connectionLost)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.failure?.message.contains("secret") == false)
  }

  @Test(arguments: ["Content-Length: 10", "Transfer-Encoding: chunked"])
  func aConnectionThatBreaksWithinTheResponseIsLost(framing: String) throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n5\r\nhe")
    }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.failure?.code == .connectionLost)
    #expect(outcome.failure?.mayHaveReachedServer == true)
  }

  @Test(arguments: ["hello, not HTTP\r\n\r\n", "HTTP/1.1 banana\r\n\r\n", "SSH-2.0-x\r\n"])
  func aResponseThatIsNotHTTPIsMalformed(text: String) throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send(text)
    }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.failure?.code == .malformedResponse)
  }

  /// The server reads the second request on a connection that has served a first one, and closes the connection.
  private func droppingServer() throws -> RawServer {
    try RawServer { connection, number in
      guard connection.readRequest() != nil else { return }
      connection.send(answer())
      if number == 0 {
        _ = connection.readRequest()
      } else {
        while connection.readRequest() != nil { connection.send(answer()) }
      }
    }
  }

  @Test(arguments: [2, 1 << 20])
  func anAtMostOnceRequestIsSentOnce(size: Int) throws {
    let server = try droppingServer()
    let source = folder.write("f", pattern(size))
    _ = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url + "/first"))
    let outcome = try loop.run(
      TransferRequest(
        id: 2, method: "POST", url: server.url + "/second", body: .file(source), atMostOnce: true))
    #expect(outcome.failure?.code == .connectionLost)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    // A third request would use any connection that is still open. It shows that nothing was sent in between.
    _ = try loop.run(TransferRequest(id: 3, method: "GET", url: server.url + "/third"))
    #expect(server.requests.map(\.target) == ["/first", "/second", "/third"])
  }

  @Test(arguments: [2, 1 << 20])
  func aRepeatableRequestIsSentAgainFromItsStart(size: Int) throws {
    let server = try droppingServer()
    let bytes = pattern(size)
    folder.write("f", bytes)
    _ = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url + "/first"))
    let outcome = try loop.run(
      TransferRequest(
        id: 2, method: "PUT", url: server.url + "/second", body: .file(folder.source("f", wantsSHA256: true)))
    )
    #expect(outcome.answer?.status == 200)
    #expect(outcome.answer?.sha256?.count == 32)
    #expect(server.requests.map(\.target) == ["/first", "/second", "/second"])
    #expect(server.requests.dropFirst().allSatisfy { $0.body == bytes })
  }

  @Test func resendsOfOneHandleDoNotAddUp() throws {
    // libcurl gives up after five resends in a handle's lifetime, unless the handle is reset.
    let server = try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.send(answer())
      _ = connection.readRequest()
    }
    for id in 0..<20 {
      let outcome = try loop.run(TransferRequest(id: UInt64(id), method: "GET", url: server.url))
      #expect(outcome.answer?.status == 200, "\(String(describing: outcome.failure))")
    }
  }

  @Test func aHeaderWithoutEndIsTooLarge() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n")
      let field = "X-Fill: " + String(repeating: "a", count: 8000) + "\r\n"
      for _ in 0..<40 { connection.send(field) }
      connection.waitForEnd()
    }
    let outcome = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    #expect(outcome.failure?.code == .responseTooLarge)
  }

  @Test func aBufferedBodyIsBounded() throws {
    let server = try RawServer { request in
      answer(
        request.target == "/error" ? "500 No" : "200 OK", body: String(repeating: "a", count: 5000))
    }
    func get(_ path: String, limit: Int, isNeeded: Bool) throws -> TransferOutcome {
      try loop.run(
        TransferRequest(
          id: 1, method: "GET", url: server.url + path, destination: .memory(limit: limit, isNeeded: isNeeded)
        ))
    }
    #expect(try get("/", limit: 5000, isNeeded: true).answer?.body.count == 5000)
    #expect(try get("/", limit: 4999, isNeeded: true).failure?.code == .responseTooLarge)
    let rest = try get("/", limit: 100, isNeeded: false)
    #expect(rest.answer?.body.count == 100)
    #expect(rest.traffic.bodyReceived == 5000)
    #expect(try get("/error", limit: 100, isNeeded: true).answer?.status == 500)
  }

  @Test func interimResponsesAndTrailersAreNotTheHeader() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n")
      connection.send(
        "Transfer-Encoding: chunked\r\nX-Fold: a\r\n  b\r\nset-cookie: 1\r\nSet-Cookie: 2\r\n\r\n")
      connection.send("2\r\nhi\r\n0\r\nX-Trailer: t\r\n\r\n")
      connection.waitForEnd()
    }
    let answer = try #require(try loop.run(TransferRequest(id: 1, method: "GET", url: server.url)).answer)
    #expect(answer.headers.map(\.name) == ["Transfer-Encoding", "X-Fold", "set-cookie", "Set-Cookie"])
    #expect(answer.header("x-fold") == "a b")
    #expect(answer.body == Array("hi".utf8))
  }
}
