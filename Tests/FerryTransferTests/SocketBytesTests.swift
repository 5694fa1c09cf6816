import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

#if os(Linux)
@Suite struct SocketBytesTests {
  let folder: TemporaryFolder
  let ledger: SocketLedger
  let loop: TransferLoop

  init() throws {
    folder = try TemporaryFolder()
    ledger = SocketLedger()
    loop = try TransferLoop(sockets: ledger, threads: .init())
  }

  /// The number of bytes that TCP may resend. A tail loss probe (RFC 8985) resends one segment, which can have 64 KiB
  /// on loopback, and a machine under load sends several probes.
  private static let resent: Int64 = 512 << 10
  /// The number of connections whose end may be counted, each as one received byte.
  private static let ends: Int64 = 8

  private func expect(_ bytes: SocketBytes, carried traffic: Traffic) {
    let sent = traffic.bodySent + traffic.headersSent
    let received = traffic.bodyReceived + traffic.headersReceived
    #expect(bytes.isExact)
    #expect((sent...sent + Self.resent).contains(bytes.sent))
    #expect((received...received + Self.ends).contains(bytes.received))
    #expect(bytes.total == bytes.sent + bytes.received)
  }

  @Test func noBytesAreCountedBeforeTheFirstRequest() {
    #expect(loop.socketBytes == SocketBytes())
  }

  @Test func anUploadCountsItsBodyAndItsHeader() throws {
    let server = try RawServer { _ in answer("201 Created") }
    folder.write("f", pattern(8 << 20))
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "PUT", url: server.url, body: .file(folder.source("f"))))
    #expect(outcome.traffic.bodySent == 8 << 20)
    expect(loop.socketBytes, carried: outcome.traffic)
  }

  @Test func aDownloadCountsItsBodyAndItsHeader() throws {
    let body = String(repeating: "body", count: 2 << 20)
    let server = try RawServer { _ in answer(body: body) }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: server.url, destination: .file(path: folder.file("f"))))
    #expect(outcome.traffic.bodyReceived == 8 << 20)
    expect(loop.socketBytes, carried: outcome.traffic)
  }

  @Test func theCountContinuesAcrossReusedAndClosedConnections() throws {
    // The server closes each connection after five responses.
    let server = try RawServer { connection, _ in
      for number in 1...5 {
        guard connection.readRequest() != nil else { return }
        connection.send(
          answer(headers: number == 5 ? ["Connection: close"] : [], body: String(repeating: "x", count: 1000))
        )
      }
    }
    var traffic = Traffic()
    var last: Int64 = 0
    for id in 0..<23 {
      traffic += try loop.run(TransferRequest(id: UInt64(id), method: "GET", url: server.url)).traffic
      let total = loop.socketBytes.total
      #expect(total >= last + 1000)
      last = total
      expect(loop.socketBytes, carried: traffic)
    }
    #expect(server.connectionCount == 5)
    #expect(ledger.openCount == 1)
  }

  @Test func aConnectionIsRetiredOnlyIfItHasBeenSilent() {
    let ledger = SocketLedger { _ in
      var info = TCPInfo(sent: 0, received: 0)
      info.sinceReceived = .seconds(3)
      return info
    }
    let descriptor: CInt = 1_000_000
    ledger.didOpen(descriptor)
    ledger.retire(descriptor, ifSilentFor: .seconds(4))
    #expect(!ledger.isRetired(descriptor) && ledger.mayUse(descriptor, nil))
    ledger.retire(descriptor, ifSilentFor: .seconds(3))
    #expect(ledger.isRetired(descriptor) && !ledger.mayUse(descriptor, nil))
    // The next connection may have the same number.
    ledger.willClose(descriptor)
    ledger.didOpen(descriptor)
    #expect(!ledger.isRetired(descriptor))
  }

  @Test func theKernelReportsTheTimeSinceDataWasReceived() throws {
    let server = try RawServer { _ in answer() }
    _ = try loop.run(TransferRequest(id: 1, method: "GET", url: server.url))
    let descriptor = try #require(ledger.openDescriptors.first)
    let silence = try #require(TCPInfo(of: descriptor)?.sinceReceived)
    #expect(silence < .seconds(30))
  }

  /// Linux may use one local port for connections to different servers.
  @Test func connectionsThatShareALocalPortAreDistinguished() throws {
    let servers = [try RawServer { _ in answer() }, try RawServer { _ in answer() }]
    func address(_ port: UInt16) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      address.sin_port = port.bigEndian
      return address
    }
    var localPort: UInt16 = 0
    var descriptors: [CInt] = []
    for server in servers {
      let descriptor = ledger.open(family: AF_INET, type: CInt(SOCK_STREAM.rawValue), protocol: 0)
      var one: CInt = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
      let ends = [address(localPort), address(server.port)]
      let results = ends.enumerated().map { index, end in
        withUnsafePointer(to: end) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            return index == 0 ? bind(descriptor, $0, size) : connect(descriptor, $0, size)
          }
        }
      }
      #expect(results == [0, 0], "\(errno)")
      localPort = try #require(SocketAddress(of: descriptor)?.port)
      descriptors.append(descriptor)
    }
    for (server, descriptor) in zip(servers, descriptors) {
      let found = ledger.descriptor(
        localPort: localPort, .init(host: "127.0.0.1", port: server.port, localHost: "127.0.0.1"))
      #expect(found == descriptor)
    }
    let unknown = ledger.descriptor(
      localPort: localPort, .init(host: "127.0.0.1", port: 1, localHost: "127.0.0.1"))
    #expect(unknown == nil)
    for descriptor in descriptors { _ = ledger.closeSocket(descriptor) }
  }

  @Test func aTLSHandshakeCounts() throws {
    let server = try RawServer { connection, _ in
      connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      connection.waitForEnd()
    }
    let outcome = try loop.run(
      TransferRequest(id: 1, method: "GET", url: "https://127.0.0.1:\(server.port)/"))
    #expect(outcome.failure?.code == .handshake)
    #expect(outcome.traffic == Traffic())
    // The client sent a ClientHello, and had received part of the response when it closed the connection.
    #expect(loop.socketBytes.sent > 100)
    #expect(loop.socketBytes.received > 5)
    #expect(ledger.openCount == 0)
  }

  @Test func aRefusedConnectionCarriesNothing() throws {
    let port = try RawServer { _, _ in }.port
    _ = try loop.run(TransferRequest(id: 1, method: "GET", url: "http://127.0.0.1:\(port)/"))
    #expect(loop.socketBytes == SocketBytes())
    #expect(ledger.openCount == 0)
  }

  @Test func unsentBytesCountOnceTheirSocketIsClosed() throws {
    let isOver = DispatchSemaphore(value: 0)
    let server = try RawServer { _, _ in isOver.wait() }
    defer { isOver.signal() }
    folder.write("f", pattern(32 << 20))
    loop.start(TransferRequest(id: 1, method: "PUT", url: server.url, body: .bytes(pattern(32 << 20))))
    // The server reads nothing, so the client sends at most as many bytes as the two socket buffers hold.
    var last: Int64 = -1
    var still = 0
    loop.wait {
      still = loop.progress.bodySent == last && last > 0 ? still + 1 : 0
      last = loop.progress.bodySent
      return still == 20
    }
    let carried = loop.socketBytes
    loop.cancel(1)
    let outcome = try #require(loop.finish(1).first)
    let written = outcome.traffic.bodySent + outcome.traffic.headersSent
    #expect(carried.sent < written)
    #expect(loop.socketBytes.sent >= written)
  }

  @Test func aReleasedLoopClosesItsSocketsThroughTheLedger() throws {
    let server = try RawServer { _ in answer(body: "x") }
    let hung = try RawServer { connection, _ in connection.waitForEnd() }
    let ledger = SocketLedger()
    var traffic = Traffic()
    try withExtendedLifetime((server, hung)) {
      let other = try TransferLoop(sockets: ledger, threads: .init())
      traffic += try other.run(TransferRequest(id: 1, method: "GET", url: server.url)).traffic
      other.start(TransferRequest(id: 2, method: "GET", url: hung.url))
      other.wait { other.progress.headersSent > 0 }
      traffic += other.progress
      #expect(ledger.openCount == 2)
    }
    #expect(ledger.openCount == 0)
    expect(ledger.bytes, carried: traffic)
  }

  @Test func socketsWithoutCountsFallBackToLibcurlsCount() throws {
    let server = try RawServer { _ in answer(body: "twelve bytes") }
    let silent = try TransferLoop(sockets: SocketLedger { _ in nil }, threads: .init())
    var traffic = Traffic()
    for _ in 0..<2 {
      traffic += try silent.run(
        TransferRequest(id: 1, method: "PUT", url: server.url, body: .bytes(pattern(100_000)))
      ).traffic
    }
    #expect(
      silent.socketBytes
        == SocketBytes(
          sent: traffic.bodySent + traffic.headersSent,
          received: traffic.bodyReceived + traffic.headersReceived, isExact: false))
    #expect(traffic.bodySent == 200_000)
  }

  @Test func aSocketThatIsNotTCPHasNoCount() {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    #expect(TCPInfo(of: descriptor) == nil)
  }

  @Test func anOlderKernelsStructIsShorter() {
    // The value of each field is its offset.
    var bytes = [UInt8](repeating: 0, count: TCPInfo.Layout.size)
    for offset in [
      TCPInfo.Layout.bytesAcked, TCPInfo.Layout.bytesReceived, TCPInfo.Layout.notSentBytes,
      TCPInfo.Layout.bytesSent,
    ] { bytes[offset] = UInt8(offset) }
    func read(_ count: Int) -> [Int64]? {
      bytes.withUnsafeBytes { TCPInfo(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        .map { [$0.sent, $0.received, $0.unsent, $0.isExact ? 1 : 0] }
    }
    #expect(read(208) == [200, 128, 144, 1])
    #expect(read(207) == [120, 128, 144, 0])
    #expect(read(147) == [120, 128, 0, 0])
    #expect(read(135) == nil)
    bytes[TCPInfo.Layout.state] = TCPInfo.Layout.stateClosed
    #expect(read(208) == [200, 128, 0, 1])
  }
}
#endif
