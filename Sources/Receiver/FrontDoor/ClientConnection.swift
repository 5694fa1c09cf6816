import Foundation

/// One client's connection and its private twin to the HTTP server behind the door.
///
/// Bytes pass from one to the other through two bounded queues; a side that is slow to take them makes the
/// other side wait. It lives on the front door's thread.
struct ClientConnection {
  /// A queue that holds this many bytes takes no more until some are gone.
  private static let queueLimit = 256 * 1024
  /// How much a client may still send after its answer was the last one, before it is cut off.
  private static let lingerLimit = 4 * 1024 * 1024

  private enum Phase {
    case open
    /// The last answer is out or on its way; what the client still sends is read and thrown away, because
    /// closing with unread bytes would reset the connection and take the answer with it.
    case lingering(left: Int)
    case over
  }

  let client: Int32
  let server: Int32
  private var framing: RequestFraming
  private var toServer = ByteQueue()
  private var toClient = ByteQueue()
  private var phase = Phase.open
  private var clientHasEnded = false
  private var serverHasEnded = false
  private var clientWasToldEnd = false
  private var serverWasToldEnd = false

  init(id: ConnectionID, client: Int32, server: Int32) {
    self.client = client
    self.server = server
    framing = RequestFraming(mark: id.mark)
  }

  /// Whether there is nothing left to do but to close both sockets.
  var isOver: Bool {
    if case .over = phase { return true }
    return false
  }

  /// What to wait for at the client's socket; 0 is nothing at all.
  var clientInterest: Int16 {
    let reads = !clientHasEnded && toServer.count < Self.queueLimit
    return Int16((reads ? Int32(POLLIN) : 0) | (toClient.isEmpty ? 0 : Int32(POLLOUT)))
  }

  /// What to wait for at the server's socket; 0 is nothing at all.
  var serverInterest: Int16 {
    guard case .open = phase else { return 0 }
    let reads = !serverHasEnded && toClient.count < Self.queueLimit
    return Int16((reads ? Int32(POLLIN) : 0) | (toServer.isEmpty ? 0 : Int32(POLLOUT)))
  }

  /// Moves what can be moved, after `poll` has said which sockets are ready.
  mutating func move(client ready: Int16, server serverReady: Int16, scratch: inout [UInt8]) {
    if ready & Int16(POLLERR | POLLNVAL) != 0 {
      phase = .over
      return
    }
    if ready & Int16(POLLIN | POLLHUP) != 0 { readClient(&scratch) }
    if serverReady & Int16(POLLIN | POLLHUP | POLLERR) != 0 { readServer(&scratch) }
    // Most writes go through at once, so they are tried without another round of `poll`.
    if !isOver { writeServer() }
    if !isOver { writeClient() }
    if !isOver { finish() }
  }

  private mutating func readClient(_ scratch: inout [UInt8]) {
    switch scratch.withUnsafeMutableBytes({ SystemSocket.receive(from: client, into: $0) }) {
    case .moved(let count): take(scratch[..<count])
    case .wouldBlock: break
    case .ended:
      clientHasEnded = true
      // Half a request is never finished: the handler must see its connection break.
      if case .open = phase, framing.isBetweenRequests { break }
      phase = .over
    case .failed: phase = .over
    }
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) {
    if case .lingering(let left) = phase {
      phase = left > bytes.count ? .lingering(left: left - bytes.count) : .over
      return
    }
    do throws(RequestFraming.Refusal) {
      let awaitsContinue = try framing.pass(bytes, to: &toServer)
      if awaitsContinue { toClient.append("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    } catch {
      toClient.append("HTTP/1.1 \(error.status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
      toServer.removeAll()
      phase = .lingering(left: Self.lingerLimit)
    }
  }

  private mutating func readServer(_ scratch: inout [UInt8]) {
    switch scratch.withUnsafeMutableBytes({ SystemSocket.receive(from: server, into: $0) }) {
    case .moved(let count): toClient.append(scratch[..<count])
    case .wouldBlock: break
    case .ended, .failed: serverHasEnded = true
    }
  }

  private mutating func writeServer() {
    guard !toServer.isEmpty else { return }
    let server = server
    if toServer.drain({ SystemSocket.send($0, to: server) }) == .failed {
      // The server has ended; its last answer may still be waiting to be read.
      toServer.removeAll()
      serverWasToldEnd = true
    }
  }

  private mutating func writeClient() {
    guard !toClient.isEmpty else { return }
    let client = client
    if toClient.drain({ SystemSocket.send($0, to: client) }) == .failed { phase = .over }
  }

  private mutating func finish() {
    if clientHasEnded && toServer.isEmpty && !serverWasToldEnd {
      SystemSocket.endSending(server)
      serverWasToldEnd = true
    }
    if serverHasEnded, case .open = phase { phase = .lingering(left: Self.lingerLimit) }
    guard case .lingering = phase, toClient.isEmpty else { return }
    if clientHasEnded {
      phase = .over
    } else if !clientWasToldEnd {
      SystemSocket.endSending(client)
      clientWasToldEnd = true
    }
  }
}
