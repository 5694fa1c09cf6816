#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The sockets of a loop, what the closed ones carried, and whether an idle one has received something.
///
/// libcurl names a socket when it opens and when it closes one (CURLOPT_OPENSOCKETFUNCTION and
/// CURLOPT_CLOSESOCKETFUNCTION; CURLOPT_SOCKOPTFUNCTION would not tell of the end). Neither is called
/// for a request that goes over a connection that stands. The loop's thread calls, as it does libcurl.
final class SocketLedger {
  private struct Connection {
    /// 0 until it is known.
    var localPort: UInt16 = 0
    /// A whole HTTP/1.1 response has come, so nothing may be received until the next request is sent.
    var isIdle = false
  }

  private let info: (CInt) -> TCPInfo?
  private var descriptors: [CInt: Connection] = [:]
  /// Connections to different servers can share a port.
  private var byLocalPort: [UInt16: [CInt]] = [:]
  /// Those whose local port is not known yet.
  private var portless: Set<CInt> = []
  private var closed = SocketBytes()
  /// Is told of each socket.
  var turnGuard: StuckTurnGuard?

  /// - Parameter info: what a socket tells of itself.
  init(info: @escaping (CInt) -> TCPInfo? = TCPInfo.init(of:)) { self.info = info }

  /// What the sockets told: the open ones are asked now.
  var bytes: SocketBytes {
    descriptors.keys.reduce(into: closed) { sum, descriptor in
      guard let info = info(descriptor) else { return sum.isExact = false }
      sum.add(info)
    }
  }

  var openCount: Int { descriptors.count }

  func didOpen(_ descriptor: CInt) {
    descriptors[descriptor] = Connection()
    turnGuard?.didOpen(descriptor)
    portless.insert(descriptor)
  }

  /// The socket is about to be closed: its counters go with it.
  func willClose(_ descriptor: CInt) {
    turnGuard?.willClose(descriptor)
    guard let connection = descriptors.removeValue(forKey: descriptor) else { return }
    if portless.remove(descriptor) == nil {
      byLocalPort[connection.localPort]?.removeAll { $0 == descriptor }
    }
    guard var info = info(descriptor) else { return closed.isExact = false }
    // The kernel goes on to send what was written.
    info.sent += info.unsent
    closed.add(info)
  }

  // MARK: Idle connections

  /// The socket of a connection that stands; `nil` where none or several could be meant.
  ///
  /// - Parameter addresses: both ends, as libcurl names them; evaluated only if connections share the local port.
  func descriptor(localPort: UInt16, _ addresses: @autoclosure () -> Addresses) -> CInt? {
    if !portless.isEmpty { findLocalPorts() }
    guard let candidates = byLocalPort[localPort], !candidates.isEmpty else { return nil }
    if candidates.count == 1 { return candidates[0] }
    let addresses = addresses()
    let matching = candidates.filter {
      SocketAddress(of: $0)?.host == addresses.localHost
        && SocketAddress(ofPeerOf: $0) == SocketAddress(host: addresses.host, port: addresses.port)
    }
    return matching.count == 1 ? matching[0] : nil
  }

  struct Addresses {
    var host: String
    var port: UInt16
    var localHost: String
  }

  private func findLocalPorts() {
    for descriptor in portless {
      guard let port = SocketAddress(of: descriptor)?.port, port != 0 else { continue }
      portless.remove(descriptor)
      descriptors[descriptor]?.localPort = port
      byLocalPort[port, default: []].append(descriptor)
    }
  }

  /// A whole HTTP/1.1 response has come over the connection.
  func setIdle(_ descriptor: CInt) { descriptors[descriptor]?.isIdle = true }

  /// The next request is about to be sent on the connection.
  ///
  /// - Parameter session: the connection's, where it is TLS.
  /// - Returns: false where it must not be: the idle connection has received something, which no request asked for and
  ///   which is not the next request's response (RFC 9112, section 9.2), or it has ended.
  func mayUse(_ descriptor: CInt, _ session: TLSSession?) -> Bool {
    guard descriptors[descriptor]?.isIdle == true else { return true }
    descriptors[descriptor]?.isIdle = false
    let flags = CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, flags) < 0 && session?.hasUnreadBytes != true
  }

  // MARK: What libcurl calls

  /// Opens a socket in libcurl's place; below 0 (CURL_SOCKET_BAD) where the system refuses.
  func open(family: CInt, type: CInt, protocol number: CInt) -> CInt {
    #if canImport(Darwin)
    let descriptor = socket(family, type, number)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #else
    // SOCK_CLOEXEC, which Glibc and Musl declare with different types, has this value.
    let descriptor = socket(family, type | O_CLOEXEC, number)
    #endif
    if descriptor >= 0 { didOpen(descriptor) }
    return descriptor
  }

  /// Closes a socket in libcurl's place, which does not do it besides. Returns what `close` does.
  func closeSocket(_ descriptor: CInt) -> CInt {
    willClose(descriptor)
    return close(descriptor)
  }
}

extension SocketBytes {
  fileprivate mutating func add(_ info: TCPInfo) {
    sent += info.sent
    received += info.received
    if !info.isExact { isExact = false }
  }
}
