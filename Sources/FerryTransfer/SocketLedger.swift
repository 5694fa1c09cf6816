#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The sockets of a loop and what the closed ones carried.
///
/// libcurl names a socket when it opens and when it closes one (CURLOPT_OPENSOCKETFUNCTION and
/// CURLOPT_CLOSESOCKETFUNCTION; CURLOPT_SOCKOPTFUNCTION would not tell of the end). Neither is called
/// for a request that goes over a connection that stands. The loop's thread calls, as it does libcurl.
final class SocketLedger {
  private let info: (CInt) -> TCPInfo?
  private var descriptors: Set<CInt> = []
  private var closed = SocketBytes()

  /// - Parameter info: what a socket tells of itself.
  init(info: @escaping (CInt) -> TCPInfo? = TCPInfo.init(of:)) { self.info = info }

  /// What the sockets told: the open ones are asked now.
  var bytes: SocketBytes {
    descriptors.reduce(into: closed) { sum, descriptor in
      guard let info = info(descriptor) else { return sum.isExact = false }
      sum.add(info)
    }
  }

  var openCount: Int { descriptors.count }

  func didOpen(_ descriptor: CInt) { descriptors.insert(descriptor) }

  /// The socket is about to be closed: its counters go with it.
  func willClose(_ descriptor: CInt) {
    guard descriptors.remove(descriptor) != nil else { return }
    guard var info = info(descriptor) else { return closed.isExact = false }
    // The kernel goes on to send what was written.
    info.sent += info.unsent
    closed.add(info)
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
