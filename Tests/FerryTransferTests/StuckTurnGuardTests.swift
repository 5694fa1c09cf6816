import FerryPlan
import FerryProcess
import Foundation
import Synchronization
import Testing

@testable import FerryTransfer

#if os(Linux)
/// A connection whose peer sends endlessly, and a caller that reads from it in place of libcurl.
@Suite struct StuckTurnGuardTests {
  private let turnGuard: StuckTurnGuard
  private let server: RawServer

  private final class Ends: Sendable {
    let count = Atomic<Int>(0)
    /// Whether the guard has ended the process.
    var has: Bool { count.load(ordering: .relaxed) > 0 }
  }

  private let ends = Ends()

  init() throws {
    turnGuard = StuckTurnGuard(
      on: try PollThread("ferry-test"),
      limits: .init(
        patience: .milliseconds(50), interval: .milliseconds(30), slack: 8 << 10, wasteful: 3, rest: 12,
        idle: 20, stopped: 100)
    ) { [ends] _ in ends.count.add(1, ordering: .relaxed) }
    let piece = pattern(4096)
    server = try RawServer { connection, _ in while connection.trySend(piece) {} }
  }

  private func connect() throws -> CInt {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = server.port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isConnected)
    turnGuard.didOpen(descriptor)
    return descriptor
  }

  /// Reads until the connection ends or the time has passed. Returns whether the connection has ended.
  private func read(_ descriptor: CInt, for time: Duration, each: () -> Void = {}) -> Bool {
    let end = ContinuousClock.now + time
    var bytes = [UInt8](repeating: 0, count: 1024)
    while ContinuousClock.now < end {
      guard recv(descriptor, &bytes, bytes.count, 0) > 0 else { return true }
      each()
    }
    return false
  }

  private func close(_ descriptor: CInt) {
    turnGuard.willClose(descriptor)
    Glibc.close(descriptor)
  }

  @Test func aConnectionThatIsReadWithoutACallbackIsShutDown() throws {
    let (busy, still) = (try connect(), try connect())
    defer { for descriptor in [busy, still] { close(descriptor) } }
    turnGuard.begin()
    #expect(read(busy, for: .seconds(10)))
    #expect(turnGuard.end() == [SocketAddress(host: "127.0.0.1", port: server.port)])
    // Another connection, from which nothing was read, stays open.
    #expect(!read(still, for: .milliseconds(50)))
    #expect(turnGuard.end().isEmpty)
  }

  /// Each connection is read for too short a time to be shut down for its own sake.
  @Test func aCallThatReadsFromOneConnectionAfterAnotherEnds() throws {
    let descriptors = try (0..<60).map { _ in try connect() }
    defer { for descriptor in descriptors { close(descriptor) } }
    turnGuard.begin()
    let ended = descriptors.filter { read($0, for: .milliseconds(40)) }
    #expect(ended.count >= 30)
    #expect(turnGuard.end().count >= 30)
  }

  /// The kernel does not count the bytes of a Unix domain socket.
  @Test func aUnixDomainSocketThatIsReadWithoutACallbackIsShutDown() throws {
    var pair: [CInt] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (descriptor, peer) = (pair[0], pair[1])
    defer { close(descriptor) }
    turnGuard.didOpen(descriptor)
    Thread.detachNewThread {
      let piece = pattern(4096)
      while send(peer, piece, piece.count, Int32(MSG_NOSIGNAL)) > 0 {}
      Glibc.close(peer)
    }
    turnGuard.begin()
    #expect(read(descriptor, for: .seconds(20)))
    _ = turnGuard.end()
  }

  @Test func aCallThatPassesItsDataIsNotInterrupted() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    #expect(!read(descriptor, for: .seconds(2)) { turnGuard.didCallBack(passing: 1024) })
    #expect(turnGuard.end().isEmpty)
  }

  @Test func aConnectionThatPassesLittleOfItsDataIsShutDown() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    #expect(read(descriptor, for: .seconds(20)) { turnGuard.didCallBack(passing: 1) })
    #expect(turnGuard.end().count == 1)
  }

  /// For example, a long call may complete many TLS handshakes.
  @Test func aCallThatReadsEachConnectionOnceIsNotInterrupted() throws {
    let descriptors = try (0..<10).map { _ in try connect() }
    defer { for descriptor in descriptors { close(descriptor) } }
    turnGuard.begin()
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    for descriptor in descriptors {
      #expect(recv(descriptor, &bytes, bytes.count, 0) > 0)
      Thread.sleep(forTimeInterval: 0.05)
    }
    #expect(turnGuard.end().isEmpty)
  }

  @Test func manyShortCallsAreNotInterrupted() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    let isOver = read(descriptor, for: .milliseconds(500)) {
      #expect(turnGuard.end().isEmpty)
      turnGuard.begin()
    }
    #expect(!isOver)
  }

  /// For example, arriving data waits in the socket during a write to a slow disk.
  @Test func aCallThatReadsNothingIsNotInterrupted() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    Thread.sleep(forTimeInterval: 0.5)
    #expect(turnGuard.end().isEmpty)
    #expect(!read(descriptor, for: .milliseconds(50)))
  }

  @Test func aStuckCallEndsTheProcessOnlyIfTheRunIsToStop() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    Thread.sleep(forTimeInterval: 0.8)
    #expect(!ends.has)
    turnGuard.runMustStop()
    let limit = ContinuousClock.now + .seconds(10)
    while !ends.has, ContinuousClock.now < limit { Thread.sleep(forTimeInterval: 0.02) }
    #expect(ends.has)
  }

  /// Several hostile servers send, one after the other, but none of them for so long that its connection is shut down.
  @Test func aCallThatReadsDoesNotEndTheProcess() throws {
    let descriptors = try (0..<3).map { _ in try connect() }
    defer { for descriptor in descriptors { close(descriptor) } }
    turnGuard.runMustStop()
    turnGuard.begin()
    for number in 0..<30 { _ = read(descriptors[number % 3], for: .milliseconds(40)) }
    #expect(!ends.has)
    turnGuard.didCallBack()
    _ = turnGuard.end()
  }

  @Test func aCallThatCallsBackDoesNotEndTheProcess() throws {
    turnGuard.runMustStop()
    turnGuard.begin()
    for _ in 0..<100 {
      turnGuard.didCallBack()
      Thread.sleep(forTimeInterval: 0.01)
    }
    #expect(!ends.has && turnGuard.end().isEmpty)
  }

  @Test func aLaterCallIsCheckedAfterAPause() throws {
    let descriptor = try connect()
    defer { close(descriptor) }
    turnGuard.begin()
    #expect(turnGuard.end().isEmpty)
    Thread.sleep(forTimeInterval: 0.3)
    turnGuard.begin()
    #expect(read(descriptor, for: .seconds(10)))
    #expect(turnGuard.end().count == 1)
  }
}
#endif
