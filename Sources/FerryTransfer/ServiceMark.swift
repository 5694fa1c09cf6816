#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The marking of packets by the service type of their session.
enum ServiceMark {
  /// The codepoint LE, 000001 (RFC 8622), in the upper six bits of the field (RFC 2474).
  static let lowerEffort: CInt = 0b000001 << 2

  /// Marks the packets that are sent from now on. A mark has no effect on the transfer itself, so failures,
  /// for example on a Unix domain socket, are ignored.
  static func set(on descriptor: CInt, isBackground: Bool) {
    var value = isBackground ? lowerEffort : 0
    let size = socklen_t(MemoryLayout<CInt>.size)
    setsockopt(descriptor, CInt(IPPROTO_IP), IP_TOS, &value, size)
    setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_TCLASS, &value, size)
  }

  /// The mark of a socket, for tests.
  static func value(of descriptor: CInt) -> CInt? {
    var value: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    return getsockopt(descriptor, CInt(IPPROTO_IP), IP_TOS, &value, &size) == 0 ? value : nil
  }
}
