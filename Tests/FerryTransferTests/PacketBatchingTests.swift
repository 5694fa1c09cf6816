import Foundation
import Testing

@testable import FerryTransfer

#if os(Linux)
@Suite struct `The packets of an HTTP/2 connection` {
  @Test func `are combined until the end of a call to libcurl`() throws {
    let (sender, receiver, ledger) = try connection()
    defer { for socket in [sender, receiver] { close(socket) } }
    var received = [UInt8](repeating: 0, count: 16)
    ledger.combiningPackets {
      for byte in "abc".utf8 { #expect(send(sender, [byte], 1, 0) == 1) }
      #expect(recv(receiver, &received, 16, CInt(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
    }
    // The packet has arrived at once: both ends are in the kernel.
    #expect(recv(receiver, &received, 16, 0) == 3)
    #expect(received.starts(with: "abc".utf8))
  }

  /// A closed descriptor may belong to another file.
  @Test func `are not combined after its end`() throws {
    let (sender, receiver, ledger) = try connection()
    defer { for socket in [sender, receiver] { close(socket) } }
    ledger.willClose(sender)
    var received: UInt8 = 0
    ledger.combiningPackets {
      #expect(send(sender, "a", 1, 0) == 1)
      #expect(recv(receiver, &received, 1, 0) == 1)
    }
  }

  /// Both ends of a TCP connection without Nagle's algorithm, as libcurl sets up its connections, and a ledger that combines
  /// the packets of the first.
  private func connection() throws -> (sender: CInt, receiver: CInt, SocketLedger) {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let sender = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, generic, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, generic, &length) == 0 && connect(sender, generic, length) == 0
      }
    }
    guard isConnected else { throw POSIXError(.EADDRNOTAVAIL) }
    var one: CInt = 1
    setsockopt(sender, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    let ledger = SocketLedger()
    ledger.didOpen(sender)
    ledger.combinePackets(of: sender)
    return (sender, accept(listener, nil, nil), ledger)
  }
}
#endif
