import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

/// Responses that are truncated, contradictory or endless.
@Suite struct ResponseTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  /// A server that sends `text` in response to every request, and closes the connection.
  private func server(_ text: String) throws -> RawServer {
    try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.send(text)
    }
  }

  private func request(
    _ server: RawServer, _ method: String = "GET", to name: String? = nil, headers: [(String, String)] = []
  ) -> TransferRequest {
    TransferRequest(
      id: 1, method: method, url: server.url,
      headers: headers.map { .init(name: $0.0, value: $0.1) },
      body: method == "POST" || method == "PUT" ? .bytes([1]) : .none,
      destination: name.map { .file(path: folder.file($0)) } ?? .memory(limit: 1 << 20, isNeeded: true),
      idleTimeout: .seconds(10))
  }

  /// Runs one request. The server runs until the request has ended.
  private func run(
    _ server: RawServer, _ method: String = "GET", to name: String? = nil, headers: [(String, String)] = []
  ) throws -> TransferOutcome {
    try withExtendedLifetime(server) {
      try loop.run(request(server, method, to: name, headers: headers))
    }
  }

  // MARK: Truncated header sections

  private static let cuts = [
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK",
    "HTTP/1.1 2",
    "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n",
    "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nConte",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r",
    "HTTP/1.1 204 No Content\r\n",
    "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n",
    "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n",
    "HTTP/1.1 100 Continue\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK",
    "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nETag: \"1\"\r\n",
  ]

  @Test(arguments: cuts, ["GET", "HEAD", "POST", "PUT"])
  func aResponseThatIsCutInItsHeaderSectionIsLost(text: String, method: String) throws {
    let server = try server(text)
    let outcome = try run(server, method)
    #expect(outcome.failure?.code == .connectionLost)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(!server.requests.contains { $0.target != "/" })
  }

  @Test(arguments: cuts)
  func aDownloadThatIsCutInItsHeaderSectionLeavesTheFile(text: String) throws {
    folder.write("catalog", Array("old".utf8))
    #expect(try run(server(text), to: "catalog").failure?.code == .connectionLost)
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  /// If the server rejects `Expect`, libcurl resends the body without `Expect`, even for a request that ferry sends
  /// only once.
  @Test(arguments: [true, false])
  func aRefusedExpectIsNoResponse(atMostOnce: Bool) throws {
    let server = try RawServer { connection, number in
      // If libcurl has sent part of the body, it uses another connection.
      if number == 0 {
        guard connection.skipHeader() else { return }
        connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
      }
      while connection.readRequest() != nil {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      }
    }
    try withExtendedLifetime(server) {
      folder.write("f", pattern(4 << 20))
      var request = TransferRequest(id: 1, method: "PUT", url: server.url, body: .file(folder.source("f")))
      request.atMostOnce = atMostOnce
      let outcome = try loop.run(request)
      #expect(outcome.answer?.status == 200, "\(String(describing: outcome.failure))")
      #expect(server.requests.last?.body.count == 4 << 20)
    }
  }

  /// libcurl 7.88 would continue the body after the bytes that it had already read.
  @Test func anExpectThatIsRefusedAfterAPartOfTheBodyIsSentAgainWhole() throws {
    let server = try RawServer { connection, number in
      if number == 0 {
        guard connection.skipHeader() else { return }
        connection.send("HTTP/1.1 100 Continue\r\n\r\n")
        connection.skip(1 << 20)
        connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        connection.waitForEnd()
        return
      }
      while connection.readRequest() != nil {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      }
    }
    try withExtendedLifetime(server) {
      folder.write("f", pattern(6 << 20))
      let outcome = try loop.run(
        TransferRequest(id: 1, method: "PUT", url: server.url, body: .file(folder.source("f"))))
      #expect(outcome.answer?.status == 200, "\(String(describing: outcome.failure))")
      #expect(server.requests.last?.body == pattern(6 << 20))
    }
  }

  // MARK: Responses that come too early

  /// The server would read the next bytes on the connection as the rest of the body.
  @Test(arguments: ["PUT", "POST"])
  func aSuccessBeforeTheWholeBodyIsALostResponse(method: String) throws {
    let server = try RawServer { connection, number in
      if number == 0 {
        // The server reads part of the header section of a request with Expect: 100-continue.
        connection.skip(16)
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.waitForEnd()
      } else {
        guard connection.readRequest() != nil else { return }
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      }
    }
    try withExtendedLifetime(server) {
      let body = [UInt8](repeating: 7, count: 4 << 20)
      let request = TransferRequest(
        id: 1, method: method, url: server.url, body: .bytes(body), idleTimeout: .seconds(10))
      let outcome = try loop.run(request)
      #expect(outcome.failure?.code == .connectionLost)
      #expect(outcome.failure?.mayHaveReachedServer == true)
      // A later request uses another connection.
      let next = try loop.run(self.request(server))
      #expect(try next.result.get().status == 200)
    }
  }

  /// The manifest lists the status as a success.
  @Test(arguments: [true, false])
  func aRedirectBeforeTheWholeBodyIsALostResponseIfItCountsAsSuccess(isSuccess: Bool) throws {
    let server = try RawServer { connection, _ in
      connection.skip(16)
      connection.send("HTTP/1.1 303 X\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n")
      connection.waitForEnd()
    }
    try withExtendedLifetime(server) {
      var request = TransferRequest(
        id: 1, method: "POST", url: server.url, body: .bytes([UInt8](repeating: 7, count: 4 << 20)),
        idleTimeout: .seconds(10))
      if isSuccess { request.successfulRedirects = [303] }
      let outcome = try loop.run(request)
      #expect(outcome.failure?.code == (isSuccess ? .connectionLost : nil), "\(outcome)")
      #expect(isSuccess || outcome.answer?.status == 303)
    }
  }

  @Test func anEarlySuccessIsALostResponseAlsoIfTheServerThenReadsTheRest() throws {
    let server = try RawServer { connection, _ in
      connection.skip(16)
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
      // libcurl continues to send while it waits for the response's body.
      connection.skip(4 << 20)
      connection.send("abc")
      connection.waitForEnd()
    }
    try withExtendedLifetime(server) {
      let outcome = try loop.run(
        TransferRequest(
          id: 1, method: "PUT", url: server.url, body: .bytes([UInt8](repeating: 7, count: 4 << 20)),
          idleTimeout: .seconds(10)))
      #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
    }
  }

  // MARK: Unsolicited responses

  /// Orders the steps of a server and its client.
  private struct Gate: Sendable {
    private let isIdle = DispatchSemaphore(value: 0)
    private let isSent = DispatchSemaphore(value: 0)

    /// The server waits until the client is idle, and then sends bytes that nobody has requested.
    func send(_ text: String, on connection: RawConnection) {
      _ = isIdle.wait(timeout: .now() + 60)
      connection.send(text)
      isSent.signal()
    }

    /// The idle client waits until the bytes are in the buffers of its sockets.
    func passUnsolicited(_ count: Int = 1) {
      for _ in 0..<count { isIdle.signal() }
      for _ in 0..<count { #expect(isSent.wait(timeout: .now() + 60) == .success) }
    }
  }

  /// A server that responds to the first request and, once the client is idle, sends a second response on the same
  /// connection. On later connections, it sends correct responses.
  private func unsolicitedServer(_ unsolicited: String, _ gate: Gate) throws -> RawServer {
    try RawServer { connection, number in
      guard number == 0 else {
        while connection.readRequest() != nil { connection.send(answer(body: "true")) }
        return
      }
      guard connection.readRequest() != nil else { return }
      connection.send(answer(body: "first"))
      gate.send(unsolicited, on: connection)
      connection.waitForEnd()
    }
  }

  @Test(arguments: ["GET", "PUT", "POST"], ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", "x"])
  func aResponseOnAnIdleConnectionIsNotUsedForTheNextRequest(method: String, unsolicited: String) throws {
    let gate = Gate()
    let server = try unsolicitedServer(unsolicited, gate)
    try withExtendedLifetime(server) {
      #expect(try loop.run(request(server)).answer?.body == Array("first".utf8))
      gate.passUnsolicited()
      let file = folder.write("f", pattern(100_000))
      let next = TransferRequest(
        id: 2, method: method, url: server.url, body: method == "GET" ? .none : .file(file),
        destination: .memory(limit: 1 << 20, isNeeded: true), idleTimeout: .seconds(10), atMostOnce: true)
      let outcome = try loop.run(next)
      #expect(outcome.answer?.body == Array("true".utf8), "\(outcome)")
      #expect(outcome.traffic.bodySent == (method == "GET" ? 0 : 100_000))
      #expect(server.connectionCount == 2)
      #expect(server.requests.count == 2)
    }
  }

  @Test func anIdleConnectionThatHasReceivedNothingIsReused() throws {
    let server = try RawServer { _ in answer() }
    try withExtendedLifetime(server) {
      for _ in 0..<50 {
        let outcome = try loop.run(request(server))
        #expect(outcome.answer?.status == 200)
      }
      #expect(server.connectionCount == 1)
    }
  }

  @Test func everyIdleConnectionThatHasReceivedSomethingIsClosed() throws {
    // Each of the eight parallel connections receives an unsolicited response.
    let (gate, everyone) = (Gate(), DispatchSemaphore(value: 0))
    let arrived = Mutex(0)
    let server = try RawServer { connection, number in
      guard connection.readRequest() != nil else { return }
      if number < 8 {
        // Otherwise, a connection could be used for a second request.
        let count = arrived.withLock {
          $0 += 1
          return $0
        }
        if count == 8 { for _ in 0..<8 { everyone.signal() } }
        _ = everyone.wait(timeout: .now() + 60)
      }
      connection.send(answer(body: "true"))
      if number < 8 { gate.send(answer(body: "forged"), on: connection) }
      while connection.readRequest() != nil { connection.send(answer(body: "true")) }
    }
    withExtendedLifetime(server) {
      func start(_ ids: Range<UInt64>) {
        for id in ids {
          loop.start(
            TransferRequest(
              id: id, method: "GET", url: server.url, destination: .memory(limit: 100, isNeeded: true),
              idleTimeout: .seconds(10)))
        }
      }
      start(0..<8)
      #expect(loop.finish(8).count == 8)
      gate.passUnsolicited(8)
      start(8..<16)
      for outcome in loop.finish(8) { #expect(outcome.answer?.body == Array("true".utf8), "\(outcome)") }
      #expect(server.connectionCount == 16)
    }
  }

  /// libcurl resends the request over another connection, which ferry must not use either.
  @Test func aRequestThatIsSentOnceIsNotSentAgainForASecondConnection() throws {
    let connections = Mutex<[RawConnection]>([])
    let server = try RawServer { connection, _ in
      connections.withLock { $0.append(connection) }
      while let request = connection.readRequest() {
        // In this time, the other request opens another connection.
        usleep(100_000)
        guard request.method == "POST" else {
          connection.send(answer())
          continue
        }
        for other in connections.withLock({ $0 }) where other !== connection { other.send("x") }
        usleep(100_000)
        return
      }
    }
    try withExtendedLifetime(server) {
      for id in 1...3 as ClosedRange<UInt64> {
        loop.start(TransferRequest(id: id, method: "GET", url: server.url, idleTimeout: .seconds(10)))
      }
      #expect(loop.finish(3).allSatisfy { $0.answer?.status == 200 })
      #expect(server.connectionCount == 3)
      let outcome = try loop.run(
        TransferRequest(
          id: 4, method: "POST", url: server.url, body: .bytes([1]), idleTimeout: .seconds(10),
          atMostOnce: true))
      #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
      #expect(outcome.failure?.mayHaveReachedServer == true)
      #expect(server.requests.filter { $0.method == "POST" }.count == 1)
    }
  }

  // MARK: Status lines

  @Test(arguments: [
    "HTTP/junk 200 x", "HTTP/1.1 2000 OK", "HTTP/1.1 20", "HTTP/1.1  200 OK", "HTTP/1. 200 OK",
    "HTTP/1.1\t200 OK",
  ])
  func anInvalidStatusLineIsMalformed(line: String) throws {
    folder.write("catalog", Array("old".utf8))
    let outcome = try run(try server("\(line)\r\nContent-Length: 3\r\n\r\nabc"), to: "catalog")
    #expect(outcome.failure?.code == .malformedResponse, "\(outcome)")
    #expect(folder.text("catalog") == "old")
  }

  /// libcurl treats the second line as a field, because it has a colon, and interprets only the first line.
  @Test(
    arguments: [
      "HTTP/1.1 403 No\r\nContent-Length: 3\r\nHTTP/1.1 200 O:K",
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nHTTP/1.1 200 O:K\r\nContent-Length: 3",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nHTTP/1.1 200 O:K\r\nContent-Length: 3",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nHTTP/1.1 200 O:K\r\nContent-Length: 3",
      "HTTP/1.1 103 Early\r\nHTTP/1.1 200 O:K\r\nContent-Length: 3",
    ], ["GET", "PUT", "POST"])
  func aStatusLineInsideAHeaderSectionIsMalformed(head: String, method: String) throws {
    let server = try server(head + "\r\n\r\nabc")
    #expect(try run(server, method).failure?.code == .malformedResponse)
    folder.write("catalog", Array("old".utf8))
    #expect(try run(try self.server(head + "\r\n\r\nabc"), to: "catalog").failure?.code == .malformedResponse)
    #expect(folder.text("catalog") == "old")
  }

  @Test(arguments: ["gzip", "zstd, gzip"])
  func aRegisteredCodingIsNamed(coding: String) throws {
    let server = try RawServer { _ in answer(headers: ["Content-Encoding: \(coding)"], body: "x") }
    let refusal = try run(server, to: "catalog").answer?.refusal
    #expect(refusal?.contains("Content-Encoding: \(coding)") == true, "\(refusal ?? "")")
  }

  /// The secret mask would not find truncated secrets, or secrets in another case.
  @Test func aCodingThatTheServerNamesIsNotShown() throws {
    let server = try RawServer { request in
      answer(headers: ["Content-Encoding: \(request.header("authorization") ?? "")"], body: "x")
    }
    let outcome = try run(server, to: "catalog", headers: [("Authorization", "S3CRET")])
    #expect(outcome.answer?.refusal?.lowercased().contains("s3cret") == false)
  }

  @Test func aRedirectToAnOverlongHostIsRefused() throws {
    let server = try server(
      "HTTP/1.1 307 X\r\nLocation: http://\(String(repeating: "h", count: 300))/\r\nContent-Length: 0\r\n\r\n"
    )
    let failure = try run(server).failure
    #expect(
      failure?.code == .redirect && failure?.message.utf8.count ?? 0 < 200, "\(String(describing: failure))")
  }

  @Test(arguments: ["HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 OK", "HTTP/1.1 299 Something else"])
  func aStatusLineMayLackAReasonPhrase(line: String) throws {
    let outcome = try run(server("\(line)\r\nContent-Length: 3\r\n\r\nabc"))
    #expect(outcome.answer?.body == Array("abc".utf8), "\(outcome)")
  }

  // MARK: Framing

  @Test(arguments: [
    "Content-Length: 10\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Content-Length: 3\r\nContent-Length: 10", "Content-Length: 10\r\nContent-Length: 3",
    "Content-Length: 3, 10",
    "Content-Length: 3x", "Content-Length: +3", "Content-Length: -3", "Content-Length: 0x3",
    "Content-Length: 3 3",
    "Content-Length: 99999999999999999999", "Content-Length:", "Content-Length: 3,",
    "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: identity", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
    // libcurl reads each of these differently from ferry.
    "Transfer-Encoding : chunked", "Transfer-Encoding:\r\n chunked", "Content-Length : 3",
    "Content-Length:\r\n 3",
    "X-Other : 1\r\nContent-Length: 3",
  ])
  func framingThatIsAmbiguousIsMalformed(fields: String) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try server("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
    let outcome = try run(server, to: "catalog")
    #expect(outcome.failure?.code == .malformedResponse)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  @Test(arguments: [
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "HTTP/2 200\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\n X-Folded: without a line before\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 3\r\n\r\nabc",
  ])
  func framingThatWasNotNegotiatedIsMalformed(text: String) throws {
    let outcome = try run(server(text))
    #expect(outcome.failure?.code == .malformedResponse)
    #expect(outcome.failure?.mayHaveReachedServer == true)
  }

  @Test(arguments: [
    "Content-Length: 3", "Content-Length: 3, 3", "Content-Length: 3\r\nContent-Length: 3", "content-length:3",
  ])
  func aRepeatedContentLengthIsAccepted(fields: String) throws {
    let outcome = try run(server("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nabc"), to: "catalog")
    #expect(outcome.answer?.status == 200)
    #expect(outcome.answer?.isCloseDelimited == false)
    #expect(folder.text("catalog") == "abc")
  }

  @Test(arguments: [
    "3\r\nabc\r\n", "3\r\nabc\r\n0", "3\r\nabc\r\n0\r\n", "3\r\nabc\r\n0\r\nX: y\r\n", "3\r\nab",
  ])
  func aChunkedBodyWithoutItsEndIsLost(body: String) throws {
    let server = try server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
    #expect(try run(server, to: "catalog").failure?.code == .connectionLost)
    #expect(folder.names == [])
  }

  /// A truncated body would look the same (RFC 9112, section 8).
  @Test(arguments: ["HTTP/1.0 200 OK\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n", "HTTP/1.1 200 OK\r\n"])
  func aBodyMayEndWithTheConnectionUnlessItIsEmpty(head: String) throws {
    let outcome = try run(server("\(head)\r\nabc"), to: "catalog")
    #expect(outcome.answer?.isCloseDelimited == true)
    #expect(folder.text("catalog") == "abc")
    #expect(try run(server("\(head)\r\n"), to: "catalog").failure?.code == .connectionLost)
    #expect(folder.text("catalog") == "abc")
    let empty = try run(server("\(head)\r\n"), "POST")
    #expect(empty.answer?.status == 200)
    #expect(empty.answer?.isCloseDelimited == true)
  }

  @Test(arguments: ["HTTP/1.1 500 x: y", "HTTP/1.1 200 x: y", "Content-Length: 9", "ETag: \"2\""])
  func aTrailerChangesNothing(trailer: String) throws {
    let server = try server(
      "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\(trailer)\r\n\r\n"
    )
    let outcome = try run(server, to: "catalog")
    #expect(outcome.answer?.status == 200)
    #expect(outcome.answer?.header("etag") == "\"1\"")
    #expect(folder.text("catalog") == "abc")
  }

  /// libcurl 7.88.1 treats RST_STREAM with NO_ERROR as the end of a stream.
  @Test(arguments: [("", ResponseFraming.untilClose), ("content-length: 3\r\n", .length(3))])
  func aStreamOfHTTP2WithoutALengthMayBeCut(field: String, framing: ResponseFraming) {
    let head = ResponseHead()
    for line in ["HTTP/2 200 \r\n", "etag: \"1\"\r\n", field, "\r\n"] where !line.isEmpty {
      Array(line.utf8).withUnsafeBytes { _ = head.append($0) }
    }
    #expect(head.isWhole)
    #expect(ResponseFraming(head, method: "GET") == framing)
    #expect(ResponseFraming(head, method: "HEAD") == .noBody)
  }

  @Test func aResponseWithoutABodyDoesNotWaitForItsContentLength() throws {
    let head = "Content-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\n"
    #expect(try run(server("HTTP/1.1 200 OK\r\n" + head), "HEAD").answer?.status == 200)
    #expect(try run(server("HTTP/1.1 304 Not Modified\r\n" + head)).answer?.status == 304)
    #expect(try run(server("HTTP/1.1 204 No Content\r\n" + head)).answer?.status == 204)
  }

  // MARK: Statuses and codings of a download

  @Test(arguments: ["201 Created", "202 Accepted", "203 Non-Authoritative", "226 IM Used", "299 What"])
  func onlyTheStatusesOfTheDestinationAreStored(status: String) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { _ in answer(status, body: "new") }
    #expect(try run(server, to: "catalog").answer?.body == Array("new".utf8))
    #expect(folder.text("catalog") == "old")
    var listed = request(server)
    listed.destination = .file(path: folder.file("catalog"), statuses: [Int(status.prefix(3)) ?? 0])
    #expect(try loop.run(listed).answer?.body == [])
    #expect(folder.text("catalog") == "new")
    #expect(server.connectionCount == 1)
  }

  private static let codings: [(String, String?, Bool)] = [
    ("gzip", nil, true), ("GZIP", "br", true), ("gzip, br", "gzip", true), ("gzip", "identity", true),
    ("identity", nil, false), ("x-gzip", "gzip;q=1.0", false), ("br", "gzip, *;q=0.1", false),
    ("gzip", "GZIP", false),
  ]

  @Test(arguments: codings)
  func anUnrequestedCodingIsNotStored(coding: String, accepted: String?, isRefused: Bool) throws {
    folder.write("catalog", Array("old".utf8))
    let server = try RawServer { _ in answer(headers: ["Content-Encoding: \(coding)"], body: "coded") }
    let headers = accepted.map { [("Accept-Encoding", $0)] } ?? []
    let outcome = try run(server, to: "catalog", headers: headers)
    #expect(outcome.answer?.status == 200)
    #expect((outcome.answer?.refusal != nil) == isRefused)
    #expect(folder.text("catalog") == (isRefused ? "old" : "coded"))
    #expect(folder.names == ["catalog"])
    let inMemory = try run(server, headers: headers)
    #expect((inMemory.answer?.unrequestedCoding != nil) == isRefused)
  }

  // MARK: Responses without an end

  /// A server that sends `head` and then `piece` repeatedly until the client closes the connection.
  private func flood(_ head: String, _ piece: String) throws -> RawServer {
    let pieces = Array(String(repeating: piece, count: max(1, 60_000 / piece.utf8.count)).utf8)
    return try RawServer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.send(head)
      while connection.trySend(pieces) {}
    }
  }

  private static let floods: [(String, String)] = [
    ("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    ("", "HTTP/1.1 100 Continue\r\n\r\n"),
    ("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"),
    ("HTTP/1.1 200 OK\r\nX: ", "aaaaaaaaaa"),
    ("HTTP/1.1 200 ", "OOOOOOOOOO"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", "X-A: b\r\n"),
    ("HTTP/1.1 500 No\r\n\r\n", "an error's page without an end"),
    ("HTTP/1.1 200 OK\r\n\r\n", "a page that nobody needs, without an end"),
    ("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "a redirect's page without an end"),
  ]

  @Test(.timeLimit(.minutes(1)), arguments: floods)
  func anEndlessHeaderSectionIsTooLarge(head: String, piece: String) throws {
    let outcome = try run(flood(head, piece))
    #expect(outcome.failure?.code == .responseTooLarge)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(outcome.traffic.headersReceived < 1 << 20)
    #expect(outcome.traffic.bodyReceived < 17 << 20)
  }

  @Test func aResponseMayHaveThousandsOfFieldsAndNoMore() throws {
    func text(_ count: Int) -> String {
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + String(repeating: "a:b\r\n", count: count) + "\r\n"
    }
    // The limit also includes the status line, Content-Length and the empty line.
    let most = try run(server(text(ResponseHead.lineLimit - 3)))
    #expect(most.answer?.headers.count == ResponseHead.lineLimit - 2)
    let more = try run(server(text(ResponseHead.lineLimit - 2)))
    #expect(more.failure?.code == .responseTooLarge)
  }

  @Test func manySmallChunksAreOneBody() throws {
    let chunks = String(repeating: "1\r\na\r\n", count: 300_000)
    let server = try server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n")
    let outcome = try run(server, to: "catalog")
    #expect(outcome.traffic.bodyReceived == 300_000)
    #expect(folder.text("catalog")?.utf8.count == 300_000)
  }

  /// If a handle was used a second time, libcurl 7.88.1 wrote to freed memory here.
  @Test func aFoldedFirstLineDoesNotAffectLaterRequests() throws {
    let fields = (0..<20).map { "X-\($0): \(String(repeating: "v", count: $0 * 7))" }
    let server = try RawServer { request in
      request.target == "/folded"
        ? "HTTP/1.1 200 OK\r\n  folded\r\nContent-Length: 0\r\n\r\n" : answer(headers: fields, body: "whole")
    }
    for round in 0..<50 {
      let whole = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url + "/whole"))
      #expect(whole.answer?.body == Array("whole".utf8), "\(round)")
      #expect(whole.answer?.headers.count == 21)
      let folded = try loop.run(TransferRequest(id: 2, method: "GET", url: server.url + "/folded"))
      #expect(folded.failure?.code == .malformedResponse, "\(round)")
    }
  }
}
