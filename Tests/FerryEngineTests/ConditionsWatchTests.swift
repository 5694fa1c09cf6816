#if os(Linux)
import FerryEngine
import FerryProcess
import Foundation
import Synchronization
import Testing

/// Two ends of a socket that keeps message boundaries, as netlink does. The watch reads from one end; the test uses the
/// other.
private final class Line {
  let watched: CInt
  private let own: CInt

  init() throws {
    var ends: [CInt] = [0, 0]
    // The type is SOCK_SEQPACKET with SOCK_CLOEXEC. No other type keeps message boundaries and reports that the other
    // end is closed.
    try #require(socketpair(AF_UNIX, 5 | O_CLOEXEC, 0, &ends) == 0)
    watched = ends[0]
    own = ends[1]
    _ = fcntl(watched, F_SETFL, O_NONBLOCK)
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(own) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(Foundation.send(own, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  /// Waits at most 10 seconds until the other end is closed.
  func isClosed() -> Bool {
    var byte: UInt8 = 0
    // The connection is reset if the other end left data unread.
    return recv(own, &byte, 1, 0) == 0 || errno == ECONNRESET
  }
}

/// Counts calls.
private final class Calls: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add() {
    number.withLock { $0 += 1 }
    semaphore.signal()
  }

  /// Waits at most 10 seconds for the next call.
  func isNext() -> Bool { semaphore.wait(timeout: .now() + 10) == .success }
}

@Suite struct `A watch over conditions` {
  private let thread: PollThread

  init() throws { thread = try PollThread("watch-test") }

  @Test func `makes one call for a burst, and another for the next`() throws {
    let line = try Line()
    let calls = Calls()
    // All messages are sent before the watch starts to read, so the speed of the machine does not matter.
    for number in 0..<50 { line.send("\(number)") }
    let watch = ConditionsWatch(
      [NetlinkSocket(descriptor: line.watched)], delay: .milliseconds(1), on: thread
    ) {
      calls.add()
    }
    #expect(watch.isWatching)
    #expect(calls.isNext())
    #expect(calls.count == 1)
    line.send("again")
    #expect(calls.isNext())
    #expect(calls.count == 2)
  }

  @Test func `closes its sockets when it is released`() throws {
    let line = try Line()
    var watch: ConditionsWatch? = ConditionsWatch(
      [NetlinkSocket(descriptor: line.watched)], on: thread
    ) {}
    #expect(watch?.isWatching == true)
    watch = nil
    #expect(line.isClosed())
  }

  @Test func `accepts only the kernel's events of power supplies`() throws {
    let line = try Line()
    let socket = NetlinkSocket(descriptor: line.watched, mark: NetlinkSocket.powerMark)
    defer { close(line.watched) }
    #expect(!socket.hasNews())
    line.send("add@/devices/virtual/net/tun0\0ACTION=add\0SUBSYSTEM=net\0INTERFACE=tun0\0")
    #expect(!socket.hasNews())
    line.send("add@/bus/power_supply_x\0ACTION=add\0SUBSYSTEM=power_supply_x\0SEQNUM=1\0")
    #expect(!socket.hasNews())
    line.send(
      "change@/devices/platform/x/power_supply/AC\0ACTION=change\0SUBSYSTEM=power_supply\0POWER_SUPPLY_ONLINE=0\0"
    )
    line.send("add@/devices/virtual/net/tun0\0ACTION=add\0SUBSYSTEM=net\0INTERFACE=tun0\0")
    #expect(socket.hasNews())
    #expect(!socket.hasNews())
  }

  @Test func `can be set over this machine`() {
    let watch = ConditionsWatch(on: thread) {}
    if !watch.isWatching {
      shout("this system tells nothing of its network: the watch over it is not tested")
    }
  }

  @Test func `calls when an interface goes up`() throws {
    let calls = Calls()
    let verdict = Mutex<Bool?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    // This thread gets a separate network namespace, which the kernel removes with the thread. The machine's network is
    // not changed.
    Thread.detachNewThread { [thread] in
      defer { isOver.signal() }
      guard leaveNetwork() else { return }
      let watch = ConditionsWatch(on: thread) { calls.add() }
      guard watch.isWatching, raiseLoopback() else { return }
      let isCalled = withExtendedLifetime(watch) { calls.isNext() }
      verdict.withLock { $0 = isCalled }
    }
    isOver.wait()
    guard let isCalled = verdict.withLock({ $0 }) else {
      shout("a network to change cannot be made here (it takes CAP_SYS_ADMIN): this test is skipped")
      return
    }
    #expect(isCalled)
    // The kernel sends several messages: for the interface, its addresses and its routes.
    #expect(calls.count == 1)
  }
}

private func shout(_ text: String) {
  FileHandle.standardError.write(Data("\n!! ConditionsWatchTests: \(text)\n\n".utf8))
}

/// Gives the calling thread a separate network namespace with unshare(2), which Swift's Glibc module does not export.
private func leaveNetwork() -> Bool {
  guard let symbol = dlsym(nil, "unshare") else { return false }
  let unshare = unsafeBitCast(symbol, to: (@convention(c) (CInt) -> CInt).self)
  return unshare(0x4000_0000) == 0  // CLONE_NEWNET
}

/// Brings up `lo` in the thread's network namespace.
private func raiseLoopback() -> Bool {
  let descriptor = socket(AF_INET, 2 | O_CLOEXEC, 0)  // SOCK_DGRAM
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  var request = ifreq()
  withUnsafeMutableBytes(of: &request.ifr_ifrn) { $0.copyBytes(from: "lo".utf8) }
  request.ifr_ifru.ifru_flags = Int16(1)  // IFF_UP
  return ioctl(descriptor, UInt(SIOCSIFFLAGS), &request) == 0
}
#endif
