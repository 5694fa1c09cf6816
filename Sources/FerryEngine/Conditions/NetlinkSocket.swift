#if os(Linux)
import Foundation

/// A socket on which the kernel tells of changes (netlink(7)).
///
/// The numbers are those of linux/netlink.h and linux/rtnetlink.h, which Swift's Glibc module leaves out.
package struct NetlinkSocket: Sendable {
  let descriptor: CInt
  /// What a message must contain to be news; `nil` where every message is.
  private let mark: [UInt8]?

  /// - Parameter descriptor: a socket that keeps the bounds of messages and does not block.
  package init(descriptor: CInt, mark: String? = nil) {
    self.descriptor = descriptor
    self.mark = mark.map { Array($0.utf8) }
  }

  /// Interfaces, addresses and routes of the calling thread's network namespace; `nil` where the system refuses.
  static func network() -> NetlinkSocket? {
    // NETLINK_ROUTE with RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and
    // RTMGRP_IPV6_ROUTE.
    listening(protocol: 0, groups: 0x1 | 0x10 | 0x40 | 0x100 | 0x400).map { NetlinkSocket(descriptor: $0) }
  }

  /// Supplies that are plugged in, pulled out, or change their state; `nil` where the system refuses, as it does in
  /// some containers.
  package static func power() -> NetlinkSocket? {
    // NETLINK_KOBJECT_UEVENT with the kernel's own group. A message's fields end in NULs.
    listening(protocol: 15, groups: 1).map { NetlinkSocket(descriptor: $0, mark: Self.powerMark) }
  }

  package static let powerMark = "\0SUBSYSTEM=power_supply\0"

  private static func listening(protocol number: CInt, groups: UInt32) -> CInt? {
    // AF_NETLINK, and SOCK_RAW with SOCK_CLOEXEC and SOCK_NONBLOCK, whose types differ from Glibc to Musl.
    let descriptor = socket(16, 3 | O_CLOEXEC | O_NONBLOCK, number)
    guard descriptor >= 0 else { return nil }
    // struct sockaddr_nl, of 12 bytes: the family, padding, the port (0: the kernel gives one), the groups.
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

  /// Reads all that is there. Returns whether any of it is news.
  package func hasNews() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
      var isNews = false
      while true {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count < 0, errno == EINTR { continue }
        // More came than the socket holds: some of it may have been news.
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
