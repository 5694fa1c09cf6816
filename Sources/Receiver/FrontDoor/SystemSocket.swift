import Foundation

/// The socket calls that the front door needs, including their differences between systems.
///
/// Descriptors are plain numbers here. The code that opens a descriptor must close it.
enum SystemSocket {
  /// The result of a read or a write.
  enum Transfer: Equatable {
    /// This number of bytes was transferred, at least one.
    case moved(Int)
    /// No bytes can be transferred now.
    case wouldBlock
    /// The other side has closed its sending direction.
    case ended
    /// The connection is dead.
    case failed
  }

  /// A failed call, with the system's error text.
  struct Failure: LocalizedError {
    let call: String
    let code: Int32

    var errorDescription: String? { "\(call): \(String(cString: strerror(code)))" }

    static func last(_ call: String) -> Failure { Failure(call: call, code: errno) }
  }

  #if canImport(Darwin)
  private static let stream = SOCK_STREAM
  private static let sendFlags: Int32 = 0
  #else
  private static let stream = Int32(SOCK_STREAM.rawValue)
  private static let sendFlags = Int32(MSG_NOSIGNAL)
  #endif

  /// Listens on 127.0.0.1, without blocking.
  static func listen(port: UInt16) throws -> Int32 {
    let file = socket(AF_INET, stream, 0)
    guard file >= 0 else { throw Failure.last("socket") }
    set(file, level: SOL_SOCKET, option: SO_REUSEADDR, to: 1)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, Foundation.listen(file, SOMAXCONN) == 0 else {
      let failure = Failure.last("listen on 127.0.0.1:\(port)")
      close(file)
      throw failure
    }
    unblock(file)
    return file
  }

  /// The port to which a listening socket is bound.
  static func port(of file: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
    }
    guard result == 0 else { throw Failure.last("getsockname") }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Accepts the next waiting client. The descriptor is non-blocking.
  static func acceptClient(on listener: Int32) -> Int32? {
    let file = accept(listener, nil, nil)
    guard file >= 0 else { return nil }
    unblock(file)
    // Responses are sent immediately; Nagle's algorithm would delay the last segment of each.
    set(file, level: Int32(IPPROTO_TCP), option: TCP_NODELAY, to: 1)
    silencePipe(file)
    return file
  }

  /// Connects to a socket in the file system. This succeeds or fails immediately.
  static func connect(path: String) throws -> Int32 {
    let file = socket(AF_UNIX, stream, 0)
    guard file >= 0 else { throw Failure.last("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    let bytes = Array(path.utf8)
    guard bytes.count < room else {
      close(file)
      throw Failure(call: "connect to \(path)", code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else {
      let failure = Failure.last("connect to \(path)")
      close(file)
      throw failure
    }
    unblock(file)
    silencePipe(file)
    return file
  }

  static func receive(from file: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    let count = recv(file, buffer.baseAddress, buffer.count, 0)
    return count == 0 ? .ended : outcome(count)
  }

  static func send(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Transfer {
    outcome(Foundation.send(file, bytes.baseAddress, bytes.count, sendFlags))
  }

  /// Ends the sending direction.
  static func endSending(_ file: Int32) {
    shutdown(file, Int32(SHUT_WR))
  }

  /// Closes with a TCP reset: the other side's next read or write fails with "connection reset".
  static func reset(_ file: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(file, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close(file)
  }

  static func unblock(_ file: Int32) {
    _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK)
  }

  private static func outcome(_ count: Int) -> Transfer {
    if count >= 0 { return .moved(count) }
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? .wouldBlock : .failed
  }

  private static func set(_ file: Int32, level: Int32, option: Int32, to value: Int32) {
    var value = value
    setsockopt(file, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func silencePipe(_ file: Int32) {
    #if canImport(Darwin)
    set(file, level: SOL_SOCKET, option: SO_NOSIGPIPE, to: 1)
    #endif
  }
}
