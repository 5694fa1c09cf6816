import Foundation
import Synchronization

/// An HTTP server on plain sockets that runs a script for each connection, so tests can cause a fault at an exact byte.
///
/// `@unchecked Sendable`: mutable state is protected by `state`.
final class RawServer: @unchecked Sendable {
  private struct State {
    var requests: [RawRequest] = []
    var connections: [CInt] = []
    var accepted = 0
  }

  let port: UInt16
  private let listener: CInt
  private let state = Mutex(State())

  /// Runs `script` on a separate thread for each connection, with the connection's number from 0. The connection is
  /// closed when the script returns.
  init(_ script: @escaping @Sendable (RawConnection, Int) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // With a small receive window, a sender cannot get far ahead. Connections inherit the window, because it is set
    // before the socket listens.
    var window: CInt = 64 << 10
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &window, socklen_t(MemoryLayout<CInt>.size))
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, generic, length) == 0 && listen(listener, 512) == 0
          && getsockname(listener, generic, &length) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    self.listener = listener
    Thread.detachNewThread { [weak self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else {
          // The descriptor is closed here and not in `deinit`, where its number may already belong to another server.
          close(listener)
          return
        }
        guard let self else {
          close(descriptor)
          return
        }
        let number = state.withLock {
          $0.connections.append(descriptor)
          $0.accepted += 1
          return $0.accepted - 1
        }
        let connection = RawConnection(descriptor) { [weak self] request in
          self?.state.withLock { $0.requests.append(request) }
        }
        Thread.detachNewThread { [weak self] in
          script(connection, number)
          self?.state.withLock { $0.connections.removeAll { $0 == descriptor } }
          close(descriptor)
        }
      }
    }
  }

  /// A server that responds to every request on every connection, and keeps the connections open.
  convenience init(answering answer: @escaping @Sendable (RawRequest) -> String) throws {
    try self.init { connection, _ in
      while let request = connection.readRequest() { connection.send(answer(request)) }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { for descriptor in $0.connections { shutdown(descriptor, Int32(SHUT_RDWR)) } }
  }

  var url: String { "http://127.0.0.1:\(port)" }
  /// The requests read so far, in the order in which they were complete.
  var requests: [RawRequest] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.accepted } }
}

/// A request as it was received.
struct RawRequest: Sendable {
  var method: String
  var target: String
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  /// Whether the body has its announced length; `false` if the connection ended earlier.
  var isWhole: Bool

  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The bytes of a document of this size that the request asks for; `nil` if it asks for the whole document.
  func range(of size: Int) -> Range<Int>? {
    guard let text = header("range"), text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard ends.count == 2, let first = ends[0] else { return nil }
    return first..<min((ends[1] ?? size - 1) + 1, size)
  }
}

/// The server's end of one connection.
///
/// `@unchecked Sendable`: only the thread of its script uses it.
final class RawConnection: @unchecked Sendable {
  private let descriptor: CInt
  private let record: (RawRequest) -> Void
  private var buffer: [UInt8] = []

  init(_ descriptor: CInt, record: @escaping (RawRequest) -> Void) {
    self.descriptor = descriptor
    self.record = record
  }

  /// Reads one request; `nil` at the end of the connection. `onBody` is called repeatedly with the number of body
  /// bytes received so far.
  func readRequest(onBody: (Int) -> Void = { _ in }) -> RawRequest? {
    let end = Array("\r\n\r\n".utf8)
    while buffer.firstRange(of: end) == nil { guard fill() else { return nil } }
    guard let split = buffer.firstRange(of: end) else { return nil }
    let lines = String(decoding: buffer[..<split.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    buffer.removeSubrange(..<split.upperBound)
    let words = lines[0].components(separatedBy: " ")
    var request = RawRequest(method: words[0], target: words[1], headers: [], body: [], isWhole: true)
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      let value = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
      request.headers.append((String(parts[0]), value))
    }
    if request.header("expect") != nil { send("HTTP/1.1 100 Continue\r\n\r\n") }
    let length = Int(request.header("content-length") ?? "") ?? 0
    onBody(buffer.count)
    while buffer.count < length {
      guard fill() else { break }
      onBody(buffer.count)
    }
    request.isWhole = buffer.count >= length
    request.body = Array(buffer.prefix(length))
    buffer.removeFirst(min(length, buffer.count))
    record(request)
    return request
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) { _ = trySend(bytes) }

  /// Sends the bytes. Returns whether all of them were accepted.
  func trySend(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Returns once the client has closed the connection.
  func waitForEnd() { while fill() { buffer = [] } }

  /// Reads a header section without interpreting it.
  func skipHeader() -> Bool {
    let end = Array("\r\n\r\n".utf8)
    while buffer.firstRange(of: end) == nil { guard fill() else { return false } }
    if let split = buffer.firstRange(of: end) { buffer.removeSubrange(..<split.upperBound) }
    return true
  }

  /// Waits until this number of bytes has arrived, and discards them.
  func skip(_ count: Int) {
    while buffer.count < count, fill() {}
    buffer = []
  }

  private func fill() -> Bool {
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { return false }
    buffer.append(contentsOf: piece[..<count])
    return true
  }
}

/// A response with a length, as text.
func answer(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> String {
  let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
  return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
