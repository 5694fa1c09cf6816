import Foundation
import Synchronization

/// An HTTP server of bare sockets, whose connections follow a script: the faults that transfers must
/// survive are exact here, byte for byte.
///
/// `@unchecked Sendable`: what changes is behind `state`.
final class RawServer: @unchecked Sendable {
  private struct State {
    var requests: [RawRequest] = []
    var connections: [CInt] = []
    var accepted = 0
  }

  let port: UInt16
  private let listener: CInt
  private let state = Mutex(State())

  /// Runs `script` on a thread of its own for each connection, with the connection's number from 0.
  /// The connection is closed when the script returns.
  init(_ script: @escaping @Sendable (RawConnection, Int) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // A small window, set before listening so that connections inherit it: a sender cannot be far ahead.
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
          // Closed here and not by `deinit`: the number may be another server's by then.
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

  /// Answers every request on every connection, which stay open.
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
  /// The requests read so far, in the order in which they were whole.
  var requests: [RawRequest] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.accepted } }
}

/// A request as it came over the wire.
struct RawRequest: Sendable {
  var method: String
  var target: String
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  /// `false` where the connection ended before the announced length.
  var isWhole: Bool

  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// The server's end of one connection.
///
/// `@unchecked Sendable`: used by its script's thread alone.
final class RawConnection: @unchecked Sendable {
  private let descriptor: CInt
  private let record: (RawRequest) -> Void
  private var buffer: [UInt8] = []

  init(_ descriptor: CInt, record: @escaping (RawRequest) -> Void) {
    self.descriptor = descriptor
    self.record = record
  }

  /// Reads one request; `nil` at the end of the connection. `onBody` is told how much of the body has
  /// come, again and again.
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

  /// Returns whether all of it was taken.
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

  /// Returns when the client has closed the connection.
  func waitForEnd() { while fill() { buffer = [] } }

  /// Reads a header section, and nothing of what it says.
  func skipHeader() -> Bool {
    let end = Array("\r\n\r\n".utf8)
    while buffer.firstRange(of: end) == nil { guard fill() else { return false } }
    if let split = buffer.firstRange(of: end) { buffer.removeSubrange(..<split.upperBound) }
    return true
  }

  /// Waits for so many bytes, whatever they are; what was read is lost.
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

/// An answer with a length, as text.
func answer(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> String {
  let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
  return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
