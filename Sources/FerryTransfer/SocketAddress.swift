#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One end of a connected TCP socket or Unix domain socket.
struct SocketAddress: Equatable {
  /// A numeric address without a zone.
  let host: String
  let port: UInt16

  /// Any Unix domain socket. The kernel knows only the path under which the server has created it, which may be relative
  /// to the server's folder.
  static let unixSocket = SocketAddress(host: "", port: 0)

  init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

  /// The local address. `nil` if the socket has none, or if it is of another kind.
  init?(of descriptor: CInt) { self.init { getsockname(descriptor, $0, $1) } }

  /// The remote address.
  init?(ofPeerOf descriptor: CInt) { self.init { getpeername(descriptor, $0, $1) } }

  private init?(_ read: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { read($0, &length) }
    }
    guard result == 0 else { return nil }
    switch CInt(storage.ss_family) {
    case AF_INET:
      let address = Self.rebound(&storage, as: sockaddr_in.self)
      self.init(AF_INET, address.sin_addr, address.sin_port)
    case AF_INET6:
      let address = Self.rebound(&storage, as: sockaddr_in6.self)
      self.init(AF_INET6, address.sin6_addr, address.sin6_port)
    case AF_UNIX: self = .unixSocket
    default: return nil
    }
  }

  private static func rebound<Address>(_ storage: inout sockaddr_storage, as type: Address.Type) -> Address {
    withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: type) }
  }

  private init?(_ family: CInt, _ address: some Any, _ port: in_port_t) {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isWritten = withUnsafePointer(to: address) {
      inet_ntop(family, $0, &text, socklen_t(text.count)) != nil
    }
    guard isWritten else { return nil }
    host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.port = UInt16(bigEndian: port)
  }
}
