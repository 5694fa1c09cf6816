import FerryDigest
import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct `A file in a form` {
  let folder: TemporaryFolder
  let loop: TransferLoop
  private static let prefix = Array("--b\r\nprefix\r\n\r\n".utf8)
  private static let suffix = Array("\r\n--b--\r\n".utf8)
  private static let framing = prefix.count + suffix.count

  init() throws {
    folder = try TemporaryFolder()
    loop = try TransferLoop()
  }

  private func post(
    _ server: RawServer, prefix: [UInt8] = prefix, suffix: [UInt8] = suffix, limit: Int64? = nil
  ) -> TransferRequest {
    TransferRequest(
      id: 1, method: "POST", url: server.url + "/f", headers: [.init(name: "Content-Type", value: "a/b")],
      body: .form(FileBody(folder.source("f", wantsSHA256: true), prefix: prefix, suffix: suffix)),
      byteLimit: limit)
  }

  /// Sizes around the limit up to which a body is sent from memory, and around the size of libcurl's buffer.
  @Test(arguments: [
    0, 1, (64 << 10) - framing - 1, (64 << 10) - framing, 64 << 10, (512 << 10) - prefix.count - 1,
    (512 << 10) - prefix.count, (512 << 10) - prefix.count + 1, (1 << 20) - framing, 20 << 20,
  ])
  func `arrives between its framing`(size: Int) throws {
    let server = try RawServer { _ in answer("201 Created") }
    let bytes = pattern(size)
    folder.write("f", bytes)
    let outcome = try loop.run(post(server))
    let request = try #require(server.requests.first)
    #expect(outcome.answer?.status == 201)
    #expect(request.body == Self.prefix + bytes + Self.suffix)
    #expect(request.header("content-length") == "\(size + Self.framing)")
    #expect(request.header("content-type") == "a/b")
    #expect(request.header("transfer-encoding") == nil)
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
    #expect(outcome.traffic.bodySent == Int64(size))
    #expect(outcome.traffic.framingSent == Int64(Self.framing))
    #expect(outcome.traffic.headersSent > 0 && outcome.traffic.headersSent < 400)
  }

  /// Each of the three parts is longer than a buffer, or empty.
  @Test(arguments: [
    (700_000, 0, 0), (0, 0, 700_000), (700_000, 600_000, 1_100_000), (0, 600_000, 0), (0, 0, 0),
  ])
  func `is empty, or has long fields`(before: Int, size: Int, after: Int) throws {
    let server = try RawServer { _ in answer() }
    let bytes = pattern(before + size + after)
    folder.write("f", Array(bytes[before..<before + size]))
    let outcome = try loop.run(
      post(server, prefix: Array(bytes[..<before]), suffix: Array(bytes[(before + size)...])))
    #expect(outcome.answer?.sha256 == SHA256.hash(Array(bytes[before..<before + size])))
    #expect(server.requests.first?.body == bytes)
    #expect(outcome.traffic.bodySent == Int64(size))
    #expect(outcome.traffic.framingSent == Int64(before + after))
  }

  @Test(arguments: [1000, 4 << 20])
  func `is sent again with its framing after a redirect`(size: Int) throws {
    let bytes = pattern(size)
    folder.write("f", bytes)
    let second = try RawServer { _ in answer("201 Created") }
    let target = second.url
    let first = try RawServer { _ in answer("307 Moved", headers: ["Location: \(target)/there"]) }
    let outcome = try loop.run(post(first))
    #expect(second.requests.first?.body == Self.prefix + bytes + Self.suffix)
    #expect(second.requests.first?.header("content-type") == "a/b")
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
    #expect(outcome.traffic.bodySent == Int64(2 * size))
    #expect(outcome.traffic.framingSent == Int64(2 * Self.framing))
  }

  /// libcurl resends the body when a reused connection ends before a response.
  @Test(arguments: [1000, 300_000])
  func `is sent again from its start on a new connection`(size: Int) throws {
    let bytes = pattern(size)
    folder.write("f", bytes)
    let server = try RawServer { connection, number in
      guard connection.readRequest() != nil else { return }
      connection.send(answer())
      if number == 0 {
        // Another request arrives, and the server closes the connection without a response.
        _ = connection.readRequest()
        return
      }
      while connection.readRequest() != nil { connection.send(answer()) }
    }
    _ = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    let outcome = try loop.run(post(server))
    #expect(outcome.answer?.sha256 == SHA256.hash(bytes))
    #expect(server.requests.count == 3)
    #expect(server.requests.last?.body == Self.prefix + bytes + Self.suffix)
  }

  @Test(arguments: [1000, 1 << 20])
  func `counts against the byte limit with its framing`(size: Int) throws {
    let server = try RawServer { _ in answer() }
    folder.write("f", pattern(size))
    let whole = Int64(size + Self.framing)
    #expect(try loop.run(post(server, limit: whole - 1)).failure?.code == .byteLimit)
    #expect(server.connectionCount == 0)
    #expect(try loop.run(post(server, limit: whole)).answer?.status == 200)
  }

  @Test func `counts what was sent of it when the connection is lost`() throws {
    let size = 24 << 20
    folder.write("f", pattern(size))
    let server = try RawServer { connection, _ in
      _ = connection.skipHeader()
      connection.skip(1 << 20)
    }
    let traffic = try loop.run(post(server)).traffic
    #expect(traffic.bodySent > 0 && traffic.bodySent < Int64(size))
    #expect(traffic.framingSent == Int64(Self.prefix.count))
  }

  @Test func `never arrives complete if it changes during the transfer`() throws {
    let size = 24 << 20
    folder.write("f", pattern(size))
    let path = folder.file("f")
    let server = try RawServer { connection, _ in
      var isChanged = false
      _ = connection.readRequest { received in
        guard received > 1 << 20, !isChanged else { return }
        isChanged = true
        let file = open(path, O_WRONLY)
        pwrite(file, "x", 1, off_t(size - 1))
        close(file)
      }
      connection.send(answer())
    }
    let outcome = try loop.run(post(server))
    #expect(outcome.failure?.code == .sourceChanged)
    loop.wait { !server.requests.isEmpty }
    #expect(server.requests.first?.isWhole == false)
  }
}
