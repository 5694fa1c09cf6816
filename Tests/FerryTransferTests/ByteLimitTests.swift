import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct ByteLimitTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func get(
    _ server: RawServer, method: String = "GET", limit: Int64?, to name: String? = nil
  ) -> TransferRequest {
    TransferRequest(
      id: 1, method: method, url: server.url,
      destination: name.map { .file(path: folder.file($0)) } ?? .memory(limit: 1 << 30, isNeeded: true),
      byteLimit: limit)
  }

  private func put(_ server: RawServer, limit: Int64?) -> TransferRequest {
    TransferRequest(
      id: 1, method: "PUT", url: server.url, body: .file(folder.source("f")), byteLimit: limit)
  }

  /// A response in chunks. No other framing omits the length and keeps the connection open.
  private func chunked(_ sizes: Int...) -> String {
    let chunks = sizes.map { "\(String($0, radix: 16))\r\n\(String(repeating: "x", count: $0))\r\n" }
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks.joined() + "0\r\n\r\n"
  }

  @Test func aBodyLargerThanWhatIsReservedForItIsNotSent() throws {
    folder.write("f", pattern(20_000))
    let server = try RawServer { _ in answer(body: "") }
    var request = put(server, limit: nil)
    request.bodyLimit = 19_999
    let outcome = try loop.run(request)
    #expect(outcome.failure?.code == .byteLimit)
    #expect(outcome.failure?.refusedBodySize == 20_000)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(server.requests.isEmpty)
    request.bodyLimit = 20_000
    #expect(try loop.run(request).answer?.status == 200)
  }

  @Test(arguments: [nil, "catalog"])
  func aResponseAnnouncedAsLargerIsStoppedAtItsHeader(destination: String?) throws {
    let body = String(repeating: "x", count: 100_001)
    let server = try RawServer { _ in answer(body: body) }
    let outcome = try loop.run(get(server, limit: 100_000, to: destination))
    #expect(outcome.failure?.code == .byteLimit)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(
      outcome.failure?.message.hasPrefix("127.0.0.1:\(server.port): the size of the response, 100001 bytes,")
        == true)
    #expect(outcome.traffic.bodyReceived == 0)
    #expect(folder.names == [])
    #expect(try loop.run(get(server, limit: 100_001, to: destination)).answer?.status == 200)
  }

  @Test(arguments: [nil, "catalog"])
  func aResponseWithoutALengthIsStoppedAtTheLimit(destination: String?) throws {
    let text = chunked(60_000, 2_000_000)
    let server = try RawServer { _ in text }
    let outcome = try loop.run(get(server, limit: 100_000, to: destination))
    #expect(outcome.failure?.code == .byteLimit)
    #expect((100_001...100_000 + 16 << 10).contains(outcome.traffic.bodyReceived))
    #expect(folder.names == [])
  }

  @Test(arguments: [nil, "catalog"])
  func aResponseOfTheLimitsSizeIsComplete(destination: String?) throws {
    let text = chunked(60_000, 40_000)
    let server = try RawServer { _ in text }
    let outcome = try loop.run(get(server, limit: 100_000, to: destination))
    #expect(outcome.answer?.status == 200)
    #expect(outcome.traffic.bodyReceived == 100_000)
    #expect(
      (folder.text("catalog") ?? String(decoding: outcome.answer?.body ?? [], as: UTF8.self)).count == 100_000
    )
    #expect(try loop.run(get(server, limit: 99_999, to: destination)).failure?.code == .byteLimit)
  }

  @Test func nothingBeyondTheLimitIsWritten() throws {
    folder.write("catalog", Array("old".utf8))
    let goOn = DispatchSemaphore(value: 0)
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      connection.send([UInt8](repeating: 1, count: 10_000))
      goOn.wait()
      connection.send([UInt8](repeating: 2, count: 100_000))
    }
    loop.start(get(server, limit: 50_000, to: "catalog"))
    loop.wait { loop.progress.bodyReceived == 10_000 }
    // The temporary file stays open here after its name has been removed.
    let part = try #require(folder.names.first { $0.hasPrefix(".catalog.ferry-part-") })
    let descriptor = open(folder.file(part), O_RDONLY)
    defer { close(descriptor) }
    goOn.signal()
    let outcome = try #require(loop.finish(1).first)
    #expect(outcome.failure?.code == .byteLimit)
    var status = stat()
    #expect(fstat(descriptor, &status) == 0)
    #expect((10_000...50_000).contains(status.st_size))
    #expect(folder.names == ["catalog"])
    #expect(folder.text("catalog") == "old")
  }

  @Test(arguments: [
    ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
    ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"),
    ("GET", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n0123456789"),
  ])
  func aContentLengthWithoutABodyIsIgnored(method: String, text: String) throws {
    let server = try RawServer { _ in text }
    #expect(try loop.run(get(server, method: method, limit: 10)).answer != nil)
  }

  @Test func anEmptyResponseIsWithinALimitOfZero() throws {
    let server = try RawServer { _ in answer() }
    #expect(try loop.run(get(server, limit: 0, to: "catalog")).answer?.status == 200)
    #expect(folder.text("catalog") == "")
  }

  @Test func theResponsesOfARedirectCountTogether() throws {
    let server = try RawServer {
      $0.target == "/end"
        ? answer(body: "123456") : answer("302 Found", headers: ["Location: /end"], body: "12345")
    }
    let outcome = try loop.run(get(server, limit: 10))
    #expect(outcome.failure?.code == .byteLimit)
    #expect(outcome.traffic.bodyReceived == 5)
    #expect(try loop.run(get(server, limit: 11)).answer?.body == Array("123456".utf8))
  }

  @Test(arguments: [nil, "catalog"])
  func theBodiesOfRedirectsAreLimitedTogether(destination: String?) throws {
    let body = String(repeating: "x", count: 40_000)
    let server = try RawServer {
      switch $0.target {
      case "/": answer("302 Found", headers: ["Location: /next"], body: body)
      case "/next": answer("302 Found", headers: ["Location: /end"], body: body)
      default: answer(body: body)
      }
    }
    var request = get(server, limit: nil, to: destination)
    request.unwantedBodyLimit = 64 << 10
    let outcome = try loop.run(request)
    #expect(outcome.failure?.code == .responseTooLarge)
    #expect(outcome.failure?.message.contains("are together larger than 64 KiB") == true)
    #expect(outcome.traffic.bodyReceived <= 80_000 && server.requests.map(\.target) == ["/", "/next"])
    // The document is not part of these bodies.
    request.unwantedBodyLimit = 80_000
    #expect(try loop.run(request).answer?.status == 200)
  }

  @Test(arguments: [1000, 200_000])
  func aFileLargerThanTheLimitIsNotSent(size: Int) throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(size))
    let outcome = try loop.run(put(server, limit: Int64(size) - 1))
    #expect(outcome.failure?.code == .byteLimit)
    #expect(outcome.failure?.mayHaveReachedServer == false)
    #expect(outcome.traffic == Traffic())
    #expect(server.connectionCount == 0)
    #expect(try loop.run(put(server, limit: Int64(size))).answer?.status == 200)
    #expect(server.requests.first?.body.count == size)
  }

  @Test func bytesMoreThanTheLimitAreNotSent() throws {
    let server = try RawServer { _ in answer() }
    func post(_ limit: Int64) -> TransferRequest {
      TransferRequest(
        id: 1, method: "POST", url: server.url, body: .bytes([1, 2, 3]), byteLimit: limit)
    }
    #expect(try loop.run(post(2)).failure?.code == .byteLimit)
    #expect(server.connectionCount == 0)
    #expect(try loop.run(post(3)).answer?.status == 200)
  }

  @Test(arguments: [1000, 200_000])
  func aBodyBeyondTheLimitIsNotSentToARedirectTarget(size: Int) throws {
    let server = try RawServer {
      $0.target == "/end" ? answer("201 Created") : answer("307 Moved", headers: ["Location: /end"])
    }
    folder.write("f", pattern(size))
    let outcome = try loop.run(put(server, limit: Int64(2 * size) - 1))
    #expect(outcome.failure?.code == .byteLimit)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(server.requests.map(\.target) == ["/"])
    #expect(try loop.run(put(server, limit: Int64(2 * size))).answer?.status == 201)
  }

  @Test(arguments: [200_000, 400_000])
  func aResendCountsTheFileAgain(limit: Int64) throws {
    // The first connection sends one response and breaks during the second request.
    let server = try RawServer { connection, number in
      guard connection.readRequest() != nil else { return }
      connection.send(answer())
      guard number == 0 else { return connection.waitForEnd() }
      connection.skip(100_000)
    }
    folder.write("f", pattern(200_000))
    #expect(try loop.run(get(server, limit: nil)).answer?.status == 200)
    let outcome = try loop.run(put(server, limit: limit))
    switch limit {
    case 200_000:
      #expect(outcome.failure?.code == .byteLimit)
      #expect(outcome.failure?.mayHaveReachedServer == true)
    default:
      #expect(outcome.answer?.status == 200)
      #expect(server.requests.last?.body.count == 200_000)
    }
  }

  @Test func theLimitsOfARequestDoNotApplyToTheNext() throws {
    let body = String(repeating: "x", count: 1 << 20)
    let server = try RawServer { _ in answer(body: body) }
    #expect(try loop.run(get(server, limit: 1 << 20)).answer != nil)
    #expect(try loop.run(get(server, limit: nil)).answer?.body.count == 1 << 20)
    #expect(server.connectionCount == 1)
  }

  // MARK: The number of times that a body is sent

  private func put(_ server: RawServer, copies: Int64?) -> TransferRequest {
    var request = put(server, limit: nil)
    request.bodyCopies = copies
    return request
  }

  @Test(arguments: [1000, 200_000])
  func aBodyIsSentToARedirectTargetOnlyAsOftenAsItMay(size: Int) throws {
    let server = try RawServer {
      switch $0.target {
      case "/": answer("307 Moved", headers: ["Location: /next"])
      case "/next": answer("307 Moved", headers: ["Location: /end"])
      default: answer("201 Created")
      }
    }
    folder.write("f", pattern(size))
    for copies in [1, 2] as [Int64] {
      let outcome = try loop.run(put(server, copies: copies))
      #expect(outcome.failure?.code == .byteLimit)
      #expect(outcome.failure?.mayHaveReachedServer == true)
      #expect(outcome.traffic.bodySent == copies * Int64(size))
    }
    #expect(server.requests.map(\.target) == ["/", "/", "/next"])
    #expect(try loop.run(put(server, copies: 3)).answer?.status == 201)
    #expect(try loop.run(put(server, copies: nil)).answer?.status == 201)
  }

  @Test(arguments: [1000, 200_000], [1, 2, nil] as [Int64?])
  func aBodyIsNotResentMoreOftenThanItMay(size: Int, copies: Int64?) throws {
    // The first connection sends one response and breaks after the second request.
    let server = try RawServer { connection, number in
      guard connection.readRequest() != nil else { return }
      connection.send(answer())
      guard number == 0 else { return connection.waitForEnd() }
      _ = connection.readRequest()
    }
    folder.write("f", pattern(size))
    #expect(try loop.run(get(server, limit: nil)).answer?.status == 200)
    let outcome = try loop.run(put(server, copies: copies))
    guard copies == 1 else { return #expect(outcome.answer?.status == 200) }
    #expect(outcome.failure?.code == .connectionLost)
    #expect(outcome.failure?.mayHaveReachedServer == true)
    #expect(server.requests.map(\.body.count) == [0, size])
  }
}
