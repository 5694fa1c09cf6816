import FerryDigest
import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

/// Downloads of one file over several connections.
@Suite(.timeLimit(.minutes(2))) struct `A download over several connections` {
  static let body = pattern(400_000)
  static let size = 400_000
  static let leastRange: Int64 = 25_000
  static let tag = "\"v1\""

  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func request(
    _ server: RawServer, connections: Int = 4, _ change: (inout TransferRequest) -> Void = { _ in }
  ) -> TransferRequest {
    var request = TransferRequest(
      id: 1, method: "GET", url: server.url + "/file", destination: .file(path: folder.file("file")),
      idleTimeout: .seconds(60))
    request.partOwner = "s/file"
    request.connections = connections
    request.leastRange = Self.leastRange
    change(&request)
    return request
  }

  private func get(
    _ server: RawServer, connections: Int = 4, _ change: (inout TransferRequest) -> Void = { _ in }
  ) throws -> TransferOutcome {
    try loop.run(request(server, connections: connections, change))
  }

  private func contents(_ name: String = "file") -> [UInt8]? {
    FileManager.default.contents(atPath: folder.file(name)).map { Array($0) }
  }

  static func head(_ range: Range<Int>, tag: String = tag, size: Int = size, _ more: String = "") -> String {
    "HTTP/1.1 206 Partial Content\r\nContent-Length: \(range.count)\r\n"
      + "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)\r\nETag: \(tag)\r\n\(more)\r\n"
  }

  /// Responds with the requested bytes, as a server that supports ranges does.
  static func respond(_ connection: RawConnection, _ request: RawRequest, _ count: Int? = nil) {
    guard let range = request.range(of: size) else {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\nETag: \(tag)\r\n\r\n")
      return connection.send(body)
    }
    connection.send(head(range))
    connection.send(Array(body[range].prefix(count ?? range.count)))
  }

  static func serve(_ connection: RawConnection) {
    while let request = connection.readRequest() { respond(connection, request) }
  }

  @Test func `requests ranges at once, and each byte once`() throws {
    // The first response waits until other connections have requested further ranges.
    let others = Mutex(0)
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if number > 0 { others.withLock { $0 += 1 } }
        guard number == 0, let range = request.range(of: Self.size), range.lowerBound == 0 else {
          Self.respond(connection, request)
          continue
        }
        connection.send(Self.head(range))
        let end = SuspendingClock.now.advanced(by: .seconds(30))
        while others.withLock({ $0 < 3 }), SuspendingClock.now < end { usleep(1_000) }
        connection.send(Array(Self.body[range]))
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.status == 206 && outcome.answer?.isContinued == true)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size))
    #expect(outcome.segments == .several(4))
    #expect(outcome.traffic.bodyReceived == Int64(Self.size))
    #expect(outcome.part == nil)
    #expect(contents() == Self.body)
    #expect(folder.names == ["file"])
    #expect(server.connectionCount == 4)
    let requests = server.requests
    #expect(requests.allSatisfy { $0.header("range") != nil })
    #expect(requests.filter { $0.header("if-range") == Self.tag }.count == requests.count - 1)
    #expect(requests.count == 16)
    #expect(loop.inFlight == 0 && loop.traffic(of: 1) == Traffic())
  }

  @Test(arguments: [false, true]) func `uses one if the document is not larger than a range`(_ isEmpty: Bool)
    throws
  {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        if isEmpty {
          connection.send(
            request.header("range") == nil
              ? answer(headers: ["ETag: \"v1\""], body: "")
              : answer("416 Range Not Satisfiable", headers: ["Content-Range: bytes */0"], body: ""))
        } else {
          connection.send(Self.head(0..<10, size: 10))
          connection.send(Array(Self.body.prefix(10)))
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == (isEmpty ? 0 : 10), "\(outcome)")
    #expect(outcome.segments == nil)
    #expect(contents() == Array(Self.body.prefix(isEmpty ? 0 : 10)))
    #expect(server.requests.count == (isEmpty ? 2 : 1))
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\nETag: \"v1\"\r\n\r\n", "does not send ranges", 1),
    (head(0..<25_000, tag: "W/\"v1\""), "no strong validator", 2),
    (head(0..<25_000).replacing("ETag: \"v1\"\r\n", with: ""), "no strong validator", 2),
    (head(0..<25_000).replacing("/400000", with: "/*"), "does not state the size", 2),
    (head(1..<25_001), "does not state the size", 2),
  ]) func `uses one, and reports the reason, if the server does not support ranges`(
    _ head: String, _ reason: String, _ requests: Int
  ) throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard request.header("range") != nil else {
          Self.respond(connection, request)
          continue
        }
        connection.send(head)
        connection.send(head.contains("200 OK") ? Self.body : Array(Self.body.prefix(25_000)))
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    guard case .single(let text)? = outcome.segments else {
      Issue.record("\(outcome)")
      return
    }
    #expect(text.contains(reason))
    #expect(server.requests.count == requests)
    #expect(contents() == Self.body)
  }

  @Test func `uses one if the server compresses each range`() throws {
    let compressed = "4\r\ngzip\r\n0\r\n\r\n"
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        let coded = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nETag: \(Self.tag)\r\n"
        if let range = request.range(of: Self.size) {
          connection.send(
            "HTTP/1.1 206 Partial Content\r\n\(coded)Content-Range: bytes \(range.lowerBound)-"
              + "\(range.upperBound - 1)/\(Self.size)\r\n\r\n\(compressed)")
        } else {
          connection.send("HTTP/1.1 200 OK\r\n\(coded)\r\n\(compressed)")
        }
      }
    }
    let outcome = try get(server) { $0.headers = [.init(name: "Accept-Encoding", value: "gzip")] }
    #expect(outcome.answer?.storedFile?.size == 4, "\(outcome)")
    guard case .single? = outcome.segments else {
      Issue.record("\(outcome)")
      return
    }
    #expect(contents() == Array("gzip".utf8))
  }

  @Test func `uses HTTP/1.1, because libcurl would send the requests over one connection of HTTP/2`() throws {
    let server = try RawServer { connection, _ in Self.serve(connection) }
    #expect(request(server).httpVersion == .http1)
    #expect(request(server, connections: 1).httpVersion == .auto)
  }

  @Test func `has the phases of its first request`() throws {
    // The first connection receives its first range while the others receive all further ranges.
    let others = Mutex(0)
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard number == 0, let range = request.range(of: Self.size), range.lowerBound == 0 else {
          Self.respond(connection, request)
          others.withLock { $0 += 1 }
          continue
        }
        usleep(200_000)
        connection.send(Self.head(range))
        let end = SuspendingClock.now.advanced(by: .seconds(30))
        while others.withLock({ $0 < 15 }), SuspendingClock.now < end { usleep(1_000) }
        connection.send(Array(Self.body[range]))
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    let phases = try #require(outcome.phases)
    #expect(phases.connection == .new && phases.firstByte ?? .zero >= .milliseconds(200), "\(phases)")
  }

  @Test func `continues without a connection that fails, and requests only its rest again`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if number == 1 { return Self.respond(connection, request, 10_000) }
        Self.respond(connection, request)
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(outcome.traffic.bodyReceived == Int64(Self.size))
    #expect(contents() == Self.body)
  }

  /// A server that sends at most this many bytes of a range.
  private static func server(limit: Int) throws -> RawServer {
    try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard let range = request.range(of: size) else { return }
        let sent = range.lowerBound..<min(range.upperBound, range.lowerBound + limit)
        connection.send(head(sent))
        connection.send(Array(body[sent]))
      }
    }
  }

  @Test func `fails if the server sends less than 64 KiB of a longer range, and keeps these bytes`() throws {
    let outcome = try get(try Self.server(limit: 60_000)) { $0.leastRange = 150_000 }
    #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
    #expect(outcome.part?.through ?? 0 >= 60_000)
  }

  @Test func `requests the rest of a range if the server sends only a part of it`() throws {
    let outcome = try get(try Self.server(limit: 70_000)) { $0.leastRange = 150_000 }
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(outcome.traffic.bodyReceived == Int64(Self.size))
    #expect(contents() == Self.body)
  }

  @Test func `uses the connections that a server with a limit accepts`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard number < 2 else { return connection.send(answer("503 Service Unavailable", body: "busy")) }
        Self.respond(connection, request)
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(contents() == Self.body)
  }

  @Test func `continues without a connection whose error page is too large`() throws {
    let page = [UInt8](repeating: 0x78, count: 17 << 20)
    let isRefused = Mutex(false)
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard number == 0 else {
          connection.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: \(page.count)\r\n\r\n")
          connection.send(page)
          return isRefused.withLock { $0 = true }
        }
        guard let range = request.range(of: Self.size) else { return }
        connection.send(Self.head(range))
        let end = SuspendingClock.now.advanced(by: .seconds(30))
        while !isRefused.withLock({ $0 }), SuspendingClock.now < end { usleep(1_000) }
        connection.send(Array(Self.body[range]))
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(contents() == Self.body)
  }

  @Test func `fails as if the connection were lost if every error page is too large`() throws {
    let page = [UInt8](repeating: 0x78, count: 17 << 20)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        if request.range(of: Self.size)?.lowerBound == 0 {
          Self.respond(connection, request)
        } else {
          connection.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: \(page.count)\r\n\r\n")
          return connection.send(page)
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
    #expect(outcome.failure?.message.contains("the body of the 503 response is larger than 16 MiB") == true)
    #expect(outcome.part?.through == Self.leastRange)
  }

  @Test func `continues without a connection that is redirected to another document`() throws {
    // More than an unneeded body may have.
    let other = [UInt8](repeating: 0, count: 17 << 20)
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if request.target == "/other" {
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(other.count)\r\nETag: \"v2\"\r\n\r\n")
          return connection.send(other)
        }
        if number == 1 {
          connection.send(answer("302 Found", headers: ["Location: /other"]))
        } else {
          Self.respond(connection, request)
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(outcome.traffic.bodyReceived == Int64(Self.size))
    #expect(contents() == Self.body)
  }

  @Test(arguments: [1, 4]) func `that is interrupted leaves the received ranges for a later request`(
    _ connections: Int
  ) throws {
    let isBroken = Mutex(true)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard isBroken.withLock({ $0 }) else {
          Self.respond(connection, request)
          continue
        }
        return Self.respond(connection, request, 15_000)
      }
    }
    let first = try get(server)
    #expect(first.failure?.code == .connectionLost)
    let through = try #require(first.part?.through)
    #expect(first.part == PartProgress(kept: through, through: through))
    #expect(first.traffic.bodyReceived == through && through >= 15_000)
    #expect(folder.names.count == 1 && folder.names[0].hasPrefix(".file.ferry-kept-"))

    isBroken.withLock { $0 = false }
    let second = try get(server, connections: connections)
    #expect(second.answer?.storedFile?.size == Int64(Self.size), "\(second)")
    #expect(second.traffic.bodyReceived == Int64(Self.size) - through)
    #expect(second.part == nil)
    #expect(contents() == Self.body)
    #expect(folder.names == ["file"])
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"v2\"\r\n\r\nother", head(25_000..<50_000, tag: "\"v2\""),
    head(25_000..<50_000, size: 500_000),
    "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */5\r\n\r\n",
    "HTTP/1.1 203 Non-Authoritative Information\r\nContent-Length: 5\r\nETag: \(tag)\r\n\r\nother",
    "HTTP/1.1 204 No Content\r\nETag: \(tag)\r\n\r\n",
  ]) func `starts over if the document changes`(_ changed: String) throws {
    let hasChanged = Mutex(false)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard hasChanged.withLock({ $0 }), request.range(of: Self.size)?.lowerBound != 0 else {
          hasChanged.withLock { $0 = true }
          Self.respond(connection, request)
          continue
        }
        return connection.send(changed)
      }
    }
    let outcome = try get(server)
    #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
    #expect(outcome.failure?.message.contains("the document changed") == true)
    #expect(outcome.part == PartProgress())
    #expect(folder.names == [])
    #expect(loop.inFlight == 0)
  }

  @Test func `starts over in the same attempt if the document has changed since the last one`() throws {
    let version = Mutex(1)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        let tag = "\"v\(version.withLock { $0 })\""
        guard let range = request.range(of: Self.size), request.header("if-range").map({ $0 == tag }) ?? true
        else {
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\nETag: \(tag)\r\n\r\n")
          connection.send(Self.body)
          continue
        }
        connection.send(Self.head(range, tag: tag))
        let isCut = version.withLock { $0 } == 1
        connection.send(Array(Self.body[range].prefix(isCut ? 15_000 : range.count)))
        if isCut { return }
      }
    }
    let through = try #require(try get(server).part?.through)
    version.withLock { $0 = 2 }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(outcome.part == PartProgress(dropped: through))
    #expect(outcome.segments == .several(4))
    #expect(contents() == Self.body)
  }

  @Test func `is refused if a server sends bytes that were not requested`() throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard let range = request.range(of: Self.size), range.lowerBound > 0 else {
          Self.respond(connection, request)
          continue
        }
        return connection.send(Self.head(0..<range.count))
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.refusal != nil && outcome.answer?.askedForRest == true, "\(outcome)")
    #expect(folder.names == [])
    #expect(loop.inFlight == 0)
  }

  @Test func `fails if a response continues after its range`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        guard number == 1, let range = request.range(of: Self.size) else {
          Self.respond(connection, request)
          continue
        }
        connection.send(
          Self.head(range).replacing("Content-Length: \(range.count)", with: "Transfer-Encoding: chunked"))
        connection.send("\(String(range.count + 1, radix: 16))\r\n")
        connection.send([UInt8](repeating: 0, count: range.count + 1))
        return connection.send("\r\n0\r\n\r\n")
      }
    }
    let outcome = try get(server)
    #expect(outcome.failure?.code == .malformedResponse, "\(outcome)")
    #expect(outcome.part?.through == 0)
    #expect(folder.names == [])
    #expect(loop.inFlight == 0)
  }

  @Test func `stays within the limits of the request`() throws {
    let server = try RawServer { connection, _ in Self.serve(connection) }
    let tooLarge = try get(server) { $0.sizeLimit = Int64(Self.size) - 1 }
    #expect(tooLarge.failure?.code == .responseTooLarge, "\(tooLarge)")
    let overBudget = try get(server) { $0.byteLimit = Int64(Self.size) - 1 }
    #expect(overBudget.failure?.code == .byteLimit, "\(overBudget)")
    #expect(folder.names == [])
    let within = try get(server) {
      ($0.sizeLimit, $0.byteLimit) = (Int64(Self.size), Int64(Self.size))
      $0.exactSize = Int64(Self.size)
    }
    #expect(within.answer?.storedFile?.size == Int64(Self.size), "\(within)")
  }

  @Test func `is canceled on all connections, and keeps its ranges`() throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        Self.respond(connection, request, 10_000)
        connection.waitForEnd()
      }
    }
    loop.start(request(server))
    loop.wait { server.requests.count == 4 && loop.traffic(of: 1).bodyReceived == 40_000 }
    #expect(loop.progress.bodyReceived == 40_000)
    loop.cancel(1)
    let outcome = try #require(loop.finish(1).first)
    #expect(outcome.failure?.code == .cancelled)
    #expect(outcome.part == PartProgress(kept: 40_000, through: 40_000))
    #expect(loop.inFlight == 0)
  }

  @Test func `ends on all connections at its time limit`() throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        Self.respond(connection, request, 10_000)
        connection.waitForEnd()
      }
    }
    let outcome = try get(server) { $0.timeLimit = .milliseconds(1_500) }
    #expect(outcome.failure?.code == .resourceTimeout, "\(outcome)")
    #expect(outcome.part?.through == 40_000)
    #expect(loop.inFlight == 0)
  }

  @Test func `requests its ranges at the target of a redirect`() throws {
    let server = try RawServer { connection, number in
      while let request = connection.readRequest() {
        if request.target == "/file" {
          connection.send(answer("302 Found", headers: ["Location: /stored?signature=\(number)"]))
        } else {
          Self.respond(connection, request)
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(contents() == Self.body)
    #expect(server.requests.filter { $0.target == "/file" }.count == 1)
  }

  /// A server that redirects each request to a URL that is valid for this number of ranges.
  private static func server(validFor limit: Int, _ status: String) throws -> RawServer {
    let used = Mutex<[String: Int]>([:])
    return try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard request.target != "/file" else {
          let number = used.withLock {
            $0["/file", default: 0] += 1
            return $0["/file"] ?? 0
          }
          connection.send(answer("302 Found", headers: ["Location: /stored?signature=\(number)"]))
          continue
        }
        let isValid = used.withLock {
          $0[request.target, default: 0] += 1
          return $0[request.target] ?? 0 <= limit
        }
        if isValid { respond(connection, request) } else { connection.send(answer(status, body: "expired")) }
      }
    }
  }

  @Test(arguments: ["403 Forbidden", "400 Bad Request", "410 Gone"], [1, 5])
  func `follows the redirect again if the URL to which it led has expired`(_ status: String, _ limit: Int)
    throws
  {
    let server = try Self.server(validFor: limit, status)
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    #expect(outcome.traffic.bodyReceived > Int64(Self.size))
    #expect(contents() == Self.body)
    let requests = server.requests
    // Only the first request for the URL of the download asks for bytes there.
    #expect(requests.filter { $0.target == "/file" && $0.header("range") != nil }.count == 1)
    #expect(requests.filter { $0.target != "/file" }.allSatisfy { $0.header("range") != nil })
  }

  @Test func `follows the redirect once for each range that is refused`() throws {
    let served = Mutex(false)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        if request.target == "/file" {
          connection.send(answer("302 Found", headers: ["Location: /stored"]))
        } else if served.withLock({ (isServed: inout Bool) in
          defer { isServed = true }
          return isServed
        }) {
          connection.send(answer("403 Forbidden", body: "no"))
        } else {
          Self.respond(connection, request)
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.answer?.status == 403, "\(outcome)")
    #expect(outcome.part?.through == Self.leastRange)
    let requests = server.requests
    #expect(requests.count { $0.target == "/file" } <= 5)
    #expect(requests.count { $0.target == "/stored" } <= 9)
    #expect(loop.inFlight == 0)
  }

  @Test func `starts over on several connections if its URL leads to another one than before`() throws {
    let isMoved = Mutex(false)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard isMoved.withLock({ $0 }) else { return Self.respond(connection, request, 15_000) }
        if request.target == "/file" {
          connection.send(answer("302 Found", headers: ["Location: /moved"]))
        } else {
          Self.respond(connection, request)
        }
      }
    }
    #expect(try get(server).part?.through ?? 0 >= 15_000)
    isMoved.withLock { $0 = true }
    let outcome = try get(server)
    #expect(outcome.answer?.storedFile?.size == Int64(Self.size), "\(outcome)")
    guard case .several = outcome.segments else {
      Issue.record("\(String(describing: outcome.segments))")
      return
    }
    #expect(contents() == Self.body)
    #expect(folder.names == ["file"])
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \(tag)\r\n\r\nother", head(25_000..<50_000),
  ]) func `stores nothing if ranges are redirected to another URL`(_ other: String) throws {
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        guard request.target == "/file" else { return connection.send(other) }
        if let range = request.range(of: Self.size), range.lowerBound == 0 {
          Self.respond(connection, request)
        } else {
          connection.send(answer("302 Found", headers: ["Location: /other"], body: ""))
        }
      }
    }
    let outcome = try get(server)
    #expect(outcome.failure?.code == .connectionLost, "\(outcome)")
    #expect(outcome.part?.through == Self.leastRange)
    #expect(!folder.names.contains("file"))
    #expect(server.requests.allSatisfy { ($0.target == "/file") == ($0.header("range") != nil) })
    #expect(loop.inFlight == 0)
  }

  @Test(arguments: [false, true])
  func `does not store a file that replaced the part`(_ isLink: Bool) throws {
    let path = folder.path
    let isReplaced = Mutex(false)
    let server = try RawServer { connection, _ in
      while let request = connection.readRequest() {
        if request.range(of: Self.size)?.lowerBound != 0 {
          isReplaced.withLock { isReplaced in
            guard !isReplaced, let part = try? FileManager.default.contentsOfDirectory(atPath: path).first
            else { return }
            isReplaced = true
            unlink("\(path)/\(part)")
            if isLink {
              symlink("elsewhere", "\(path)/\(part)")
            } else {
              _ = FileManager.default.createFile(atPath: "\(path)/\(part)", contents: Data("other".utf8))
            }
          }
        }
        Self.respond(connection, request)
      }
    }
    let outcome = try get(server)
    #expect(outcome.failure?.code == .destination, "\(outcome)")
    #expect(outcome.failure?.message.contains("has replaced or removed") == true)
    #expect(!folder.names.contains("file") && folder.names.count == 1)
  }

  @Test(arguments: [true, false]) func `has the checksum of the whole file`(_ isRight: Bool) throws {
    let server = try RawServer { connection, _ in Self.serve(connection) }
    var digest = SHA256.hash(Self.body)
    if !isRight { digest[0] ^= 1 }
    let outcome = try get(server) { $0.checksum = .digest(.sha256, digest) }
    #expect((outcome.answer?.refusal == nil) == isRight, "\(outcome)")
    #expect(folder.names == (isRight ? ["file"] : []))
  }

  @Test func `records each request that it sends if it is traced`() throws {
    loop.isTracing = true
    let server = try RawServer { connection, _ in Self.serve(connection) }
    let outcome = try get(server)
    #expect(outcome.hops.count == 16)
    #expect(outcome.hops.allSatisfy { $0.status == 206 })
  }
}
