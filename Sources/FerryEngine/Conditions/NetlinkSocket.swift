#if os(Linux)
import Foundation

/// A socket on which the kernel reports changes (netlink(7)).
///
/// The constants are from linux/netlink.h and linux/rtnetlink.h, which Swift's Glibc module does not include.
package struct NetlinkSocket: Sendable {
  let descriptor: CInt
  /// Bytes that a message must contain to be relevant; `nil` if every message is relevant.
  private let mark: [UInt8]?

  /// - Parameter descriptor: a nonblocking socket that preserves message boundaries.
  package init(descriptor: CInt, mark: String? = nil) {
    self.descriptor = descriptor
    self.mark = mark.map { Array($0.utf8) }
  }

  /// A socket that reports changes of interfaces, addresses and routes in the calling thread's network namespace;
  /// `nil` if the system refuses to open it.
  static func network() -> NetlinkSocket? {
    // NETLINK_ROUTE with RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and
    // RTMGRP_IPV6_ROUTE.
    listening(protocol: 0, groups: 0x1 | 0x10 | 0x40 | 0x100 | 0x400).map { NetlinkSocket(descriptor: $0) }
  }

  /// A socket that reports when a power supply is connected, is disconnected, or changes state; `nil` if the system
  /// refuses to open it, as in some containers.
  package static func power() -> NetlinkSocket? {
    // NETLINK_KOBJECT_UEVENT with the kernel's own group. The fields of a message are terminated by NUL.
    listening(protocol: 15, groups: 1).map { NetlinkSocket(descriptor: $0, mark: Self.powerMark) }
  }

  package static let powerMark = "\0SUBSYSTEM=power_supply\0"

  private static func listening(protocol number: CInt, groups: UInt32) -> CInt? {
    // AF_NETLINK, and SOCK_RAW with SOCK_CLOEXEC and SOCK_NONBLOCK, whose types differ between Glibc and Musl.
    let descriptor = socket(16, 3 | O_CLOEXEC | O_NONBLOCK, number)
    guard descriptor >= 0 else { return nil }
    // struct sockaddr_nl, 12 bytes: the family, padding, the port (0: assigned by the kernel), the groups.
    var address = sockaddr()
    withUnsafeMutableBytes(of: &address) { bytes in
      bytes.storeBytes(of: 16, as: UInt16.self)
      bytes.storeBytes(of: groups, toByteOffset: 8, as: UInt32.self)
    }
    let isBound = bind(descriptor, &address, 12) == 0
    guard isBound else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Reads all waiting messages; returns whether any of them is relevant.
  package func hasNews() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
      var isNews = false
      while true {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count < 0, errno == EINTR { continue }
        // Messages were dropped because the socket's buffer was full; some of them may have been relevant.
        if count < 0, errno == ENOBUFS {
          isNews = true
          continue
        }
        guard count > 0 else { return isNews }
        if !isNews { isNews = mark.map { buffer[..<count].firstRange(of: $0) != nil } ?? true }
      }
    }
  }
}
#endif
