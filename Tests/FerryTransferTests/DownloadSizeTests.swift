import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

/// Responses that exceed the allowed size or the free space.
@Suite struct DownloadSizeTests {
  let folder: TemporaryFolder
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    folder.write("catalog", Array("old".utf8))
    loop = try TransferLoop()
  }

  private func get(_ server: RawServer, limit: Int64?) throws -> TransferOutcome {
    try loop.run(
      TransferRequest(
        id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("catalog")),
        idleTimeout: .seconds(5), sizeLimit: limit))
  }

  @Test func aResponseThatAnnouncesTooMuchIsRejectedAtItsHeader() throws {
    // The server sends no byte of the body.
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
      connection.waitForEnd()
    }
    let outcome = try get(server, limit: 1_000)
    #expect(outcome.failure?.code == .responseTooLarge)
    #expect(
      outcome.failure?.message
        == "127.0.0.1:\(server.port): the response of 1001 bytes is larger than max_size, 1000 bytes")
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  @Test(arguments: [
    "Connection: close\r\n\r\n" + String(repeating: "x", count: 200_000),
    "Transfer-Encoding: chunked\r\n\r\n30d40\r\n" + String(repeating: "x", count: 200_000) + "\r\n0\r\n\r\n",
  ]) func aResponseOfUnknownLengthIsStoppedAtTheLimit(_ rest: String) throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\n" + rest)
    }
    let outcome = try get(server, limit: 1_000)
    #expect(outcome.failure?.code == .responseTooLarge)
    #expect(
      outcome.failure?.message == "127.0.0.1:\(server.port): the response is larger than max_size, 1000 bytes"
    )
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }

  @Test(arguments: [0, 999, 1_000])
  func aResponseWithinTheLimitIsStored(_ size: Int) throws {
    let body = String(repeating: "x", count: size)
    let server = try RawServer { _ in answer(body: body) }
    #expect(try get(server, limit: 1_000).answer?.status == 200)
    #expect(folder.text("catalog") == body)
  }

  @Test func anErrorPageMayBeLargerThanTheLimit() throws {
    let server = try RawServer { _ in answer("404 Not Found", body: String(repeating: "x", count: 2_000)) }
    #expect(try get(server, limit: 1_000).answer?.status == 404)
    #expect(folder.text("catalog") == "old")
  }

  @Test func aResponseLargerThanTheFreeSpaceFailsBeforeAByteIsWritten() throws {
    let server = try RawServer { connection, _ in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8000000000000000000\r\n\r\nx")
      connection.waitForEnd()
    }
    let outcome = try get(server, limit: nil)
    #expect(outcome.failure?.code == .destination)
    let message = outcome.failure?.message ?? ""
    #expect(message.hasPrefix("\(folder.file("catalog")): the response needs 8000000000000000000 bytes, "))
    #expect(message.contains("bytes free"))
    #expect(folder.text("catalog") == "old")
    #expect(folder.names == ["catalog"])
  }
}
