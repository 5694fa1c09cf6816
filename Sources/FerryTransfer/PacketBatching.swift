#if os(Linux)
#if canImport(Musl)
import Musl
#else
import Glibc
#endif
#endif

/// Holds back the incomplete packets of connections that carry several requests, until the end of a call to libcurl.
///
/// libcurl sends the header section, each piece of the body, and the end of each HTTP/2 request in separate packets, each of
/// which wakes the server. With `TCP_CORK`, the packets of all requests that one call sends are combined. Complete packets
/// are not held back.
struct PacketBatching {
  private var descriptors: Set<CInt> = []

  /// Adds a connection that may carry several requests at a time.
  mutating func add(_ descriptor: CInt) { descriptors.insert(descriptor) }

  mutating func remove(_ descriptor: CInt) {
    if !descriptors.isEmpty { descriptors.remove(descriptor) }
  }

  /// Called before a call to libcurl.
  func begin() {
    for descriptor in descriptors { Self.set(1, on: descriptor) }
  }

  /// Called after the call. Sends the incomplete packets.
  func end() {
    for descriptor in descriptors { Self.set(0, on: descriptor) }
  }

  /// Has no effect on a socket that is not a TCP socket.
  private static func set(_ value: CInt, on descriptor: CInt) {
    #if os(Linux)
    var value = value
    setsockopt(descriptor, SOL_TCP, TCP_CORK, &value, socklen_t(MemoryLayout<CInt>.size))
    #endif
  }
}
