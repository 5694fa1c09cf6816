#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Tracks a loop's sockets, the bytes transferred on closed sockets, and whether an idle socket has received
/// data.
///
/// libcurl calls the ledger when it opens or closes a socket (CURLOPT_OPENSOCKETFUNCTION and
/// CURLOPT_CLOSESOCKETFUNCTION; CURLOPT_SOCKOPTFUNCTION would not report the closing). It calls neither for
/// a request on an existing connection. All calls are made on the loop's thread, which also calls libcurl.
final class SocketLedger {
  private struct Connection {
    /// The local port; 0 until it is known.
    var localPort: UInt16 = 0
    /// Whether a complete HTTP/1.1 response was received, so that no data is expected until the next request
    /// is sent.
    var isIdle = false
    /// Whether the socket's packets are marked as lower effort.
    var isBackground = false
  }

  private let info: (CInt) -> TCPInfo?
  private var descriptors: [CInt: Connection] = [:]
  /// The sockets by local port. Connections to different servers can share a port.
  private var byLocalPort: [UInt16: [CInt]] = [:]
  /// Sockets whose local port is not known yet.
  private var portless: Set<CInt> = []
  /// The connections that no further request may use.
  private var retired: Set<CInt> = []
  private var closed = SocketBytes()
  private var batching = PacketBatching()
  private(set) lazy var opener = SocketOpener(self, isBackground: false)
  private(set) lazy var backgroundOpener = SocketOpener(self, isBackground: true)
  /// The guard that is notified of each socket that is opened or closed.
  var turnGuard: StuckTurnGuard?

  /// Whether this process may still send requests; checked before each request and each piece of a body.
  var mayStillSend: () -> Bool = { true }

  /// - Parameter info: reads the kernel's counters of a socket.
  init(info: @escaping (CInt) -> TCPInfo? = TCPInfo.init(of:)) { self.info = info }

  /// The bytes reported by the sockets. Open sockets are queried when this property is read.
  var bytes: SocketBytes {
    descriptors.keys.reduce(into: closed) { sum, descriptor in
      guard let info = info(descriptor) else { return sum.isExact = false }
      sum.add(info)
    }
  }

  var openCount: Int { descriptors.count }

  /// The open sockets.
  var openDescriptors: [CInt] { Array(descriptors.keys) }

  func didOpen(_ descriptor: CInt) {
    descriptors[descriptor] = Connection()
    turnGuard?.didOpen(descriptor)
    portless.insert(descriptor)
  }

  /// Called before the socket is closed, because the socket's counters are lost when it is closed.
  func willClose(_ descriptor: CInt) {
    turnGuard?.willClose(descriptor)
    retired.remove(descriptor)
    batching.remove(descriptor)
    guard let connection = descriptors.removeValue(forKey: descriptor) else { return }
    if portless.remove(descriptor) == nil {
      byLocalPort[connection.localPort]?.removeAll { $0 == descriptor }
    }
    guard var info = info(descriptor) else { return closed.isExact = false }
    // The kernel still sends the remaining written bytes.
    info.sent += info.unsent
    closed.add(info)
  }

  /// The number of bytes that libcurl has read from a socket; `nil` if unknown.
  func bytesRead(from descriptor: CInt) -> Int64? {
    var waiting: CInt = 0
    guard let info = info(descriptor), ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else { return nil }
    return info.received - Int64(waiting)
  }

  // MARK: Idle connections

  /// The socket of an established connection; `nil` if no socket matches, or more than one.
  ///
  /// - Parameter addresses: both ends, as reported by libcurl; evaluated only if connections share the local
  ///   port.
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

  /// Called when a complete HTTP/1.1 response has been received on the connection.
  func setIdle(_ descriptor: CInt) { descriptors[descriptor]?.isIdle = true }

  /// Called when the next request is about to be sent on the connection.
  ///
  /// - Parameter session: the connection's TLS session, if it has one.
  /// - Returns: false if the connection must not be used because it has ended while idle, or has received
  ///   unsolicited bytes that are not the next request's response (RFC 9112, section 9.2), or is retired.
  func mayUse(_ descriptor: CInt, _ session: TLSSession?) -> Bool {
    guard !isRetired(descriptor) else { return false }
    guard descriptors[descriptor]?.isIdle == true else { return true }
    descriptors[descriptor]?.isIdle = false
    let flags = CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, flags) < 0 && session?.hasUnreadBytes != true
  }

  // MARK: Packets

  /// Called when a request is about to be sent on a connection that may carry several requests at a time.
  func combinePackets(of descriptor: CInt) { batching.add(descriptor) }

  /// Performs a call to libcurl that may send requests.
  func combiningPackets(_ call: () -> Void) {
    batching.begin()
    call()
    batching.end()
  }

  // MARK: Silent connections

  /// Retires a connection if its peer has sent nothing for some time. Without TCP_INFO, this is not known.
  ///
  /// libcurl closes an HTTP/1.1 connection whose request is stopped, but keeps an HTTP/2 connection. If the path to the
  /// server is broken, or the server hangs, every retry would otherwise use this connection and fail too.
  func retire(_ descriptor: CInt, ifSilentFor period: Duration) {
    guard let silence = info(descriptor)?.sinceReceived, silence >= period else { return }
    retired.insert(descriptor)
  }

  func isRetired(_ descriptor: CInt) -> Bool { !retired.isEmpty && retired.contains(descriptor) }

  /// Ends a retired connection that no request uses. libcurl closes it before it starts the next request.
  func shutDown(_ descriptor: CInt) {
    guard isRetired(descriptor) else { return }
    shutdown(descriptor, CInt(SHUT_RDWR))
  }

  /// Marks the packets of a connection that is reused for a request of another service type. Over HTTP/1.1, the
  /// connection carries no other request.
  func mark(_ descriptor: CInt, isBackground: Bool) {
    guard let connection = descriptors[descriptor], connection.isBackground != isBackground else { return }
    descriptors[descriptor]?.isBackground = isBackground
    ServiceMark.set(on: descriptor, isBackground: isBackground)
  }

  // MARK: Calls from libcurl

  /// Opens a socket in place of libcurl. Returns a negative number (CURL_SOCKET_BAD) if the system refuses.
  func open(family: CInt, type: CInt, protocol number: CInt, isBackground: Bool = false) -> CInt {
    #if canImport(Darwin)
    let descriptor = socket(family, type, number)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #else
    // O_CLOEXEC has the value of SOCK_CLOEXEC, which Glibc and Musl declare with different types.
    let descriptor = socket(family, type | O_CLOEXEC, number)
    #endif
    if descriptor >= 0 {
      didOpen(descriptor)
      mark(descriptor, isBackground: isBackground)
    }
    return descriptor
  }

  /// Closes a socket in place of libcurl, which then does not close it itself. Returns the result of `close`.
  func closeSocket(_ descriptor: CInt) -> CInt {
    willClose(descriptor)
    return close(descriptor)
  }
}

/// Opens sockets for the requests of one service type.
final class SocketOpener {
  private unowned let ledger: SocketLedger
  private let isBackground: Bool

  fileprivate init(_ ledger: SocketLedger, isBackground: Bool) {
    self.ledger = ledger
    self.isBackground = isBackground
  }

  func open(family: CInt, type: CInt, protocol number: CInt) -> CInt {
    ledger.open(family: family, type: type, protocol: number, isBackground: isBackground)
  }
}

extension SocketBytes {
  fileprivate mutating func add(_ info: TCPInfo) {
    sent += info.sent
    received += info.received
    if !info.isExact { isExact = false }
  }
}
