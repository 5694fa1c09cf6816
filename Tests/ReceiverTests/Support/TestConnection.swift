import Foundation

/// One TCP connection to the receiver, controlled byte by byte.
///
/// URLSession is not suitable: libcurl, which it uses, sends a request again if a reused connection breaks, and these
/// tests check what happens in exactly that case.
final class TestConnection: Sendable {
  /// How a connection ended without a response.
  enum Broken: Error, Equatable {
    case ended
    case reset
    case other(Int32)
  }

  private let file: Int32

  init(port: UInt16) throws {
    #if canImport(Darwin)
    let stream = SOCK_STREAM
    #else
    let stream = Int32(SOCK_STREAM.rawValue)
    #endif
    file = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // `deinit` closes the socket even if this initializer throws an error, because all properties have values. Another
    // close could close a descriptor that a concurrent test has opened meanwhile.
    guard connected == 0 else { throw Broken.other(errno) }
    // With a timeout, a test fails instead of hanging.
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(file) }

  /// Closes the sending direction of the connection.
  func endSending() { shutdown(file, Int32(SHUT_WR)) }

  func send(_ text: String) async throws { try await send(Data(text.utf8)) }

  func send(_ data: Data) async throws {
    try await blocking { [file] in
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Foundation.send(file, $0.baseAddress, $0.count, noSignal) }
        guard count > 0 else { throw Self.broken() }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Reads one response. `100 Continue` is a response, too.
  func answer(to method: String = "GET") async throws -> TestResponse {
    try await blocking { [self] in
      var head: [UInt8] = []
      while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try read(1) }
      var answer = try TestResponse(head: String(decoding: head, as: UTF8.self))
      let hasBody = method != "HEAD" && answer.status != 204 && answer.status != 304
      if hasBody, let length = answer["content-length"].flatMap({ Int($0) }) {
        answer.body = Data(try read(length))
      }
      return answer
    }
  }

  /// Discards received bytes until the connection ends, and returns how it ended.
  func end() async -> Broken {
    await Task { try await blocking { [self] in while true { _ = try read(1) } } as Broken }.result
      .failure as? Broken ?? .other(0)
  }

  /// The bytes received until the connection ends or `limit` is reached; in the latter case, `end` is `nil`.
  func bytes(atMost limit: Int = 16 << 20) async throws -> (data: Data, end: Broken?) {
    try await blocking { [file] in
      var data = Data()
      var piece = [UInt8](repeating: 0, count: 64 << 10)
      while data.count < limit {
        let count = recv(file, &piece, min(piece.count, limit - data.count), 0)
        if count == 0 { return (data, .ended) }
        if count < 0 { return (data, Self.broken()) }
        data.append(contentsOf: piece[..<count])
      }
      return (data, nil)
    }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var have = 0
    while have < count {
      let got = bytes.withUnsafeMutableBytes { recv(file, $0.baseAddress.map { $0 + have }, count - have, 0) }
      guard got != 0 else { throw Broken.ended }
      guard got > 0 else { throw Self.broken() }
      have += got
    }
    return bytes
  }

  private static func broken() -> Broken {
    errno == ECONNRESET || errno == EPIPE ? .reset : .other(errno)
  }
}

#if canImport(Darwin)
private let noSignal: Int32 = 0
#else
private let noSignal = Int32(MSG_NOSIGNAL)
#endif

/// Runs a blocking call on a separate thread, because the server's tasks need the few threads of the pools.
private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { return failure }
    return nil
  }
}
