import Foundation

/// One client's connection and its private counterpart to the HTTP server behind the front door.
///
/// Bytes pass between them through two bounded queues. If one side reads slowly, the other side waits. The
/// connection is used only on the front door's thread.
struct ClientConnection {
  /// The number of bytes above which a queue does not accept more bytes until some have been written.
  private static let queueLimit = 256 * 1024
  /// A hostile response is generated in pieces of this size, each after the previous one has been sent.
  private static let pieceSize = 64 * 1024
  /// The maximum number of bytes that a client may send after the server's last response; beyond that, the
  /// connection is closed.
  private static let lingerLimit = 4 * 1024 * 1024

  private enum Phase {
    case open
    /// A hostile response is being written; the server behind the front door is no longer involved.
    case playing(ScriptPlayer)
    /// The last response has been written or is being written. Further bytes from the client are read and
    /// discarded, because closing with unread bytes would reset the connection and lose the response.
    case lingering(left: Int)
    case over
  }

  let client: Int32
  let server: Int32
  private var framing: RequestFraming
  private var toServer = ByteQueue()
  private var toClient = ByteQueue()
  private let recorder: RequestRecorder?
  private var phase = Phase.open
  /// Whether the client receives a reset at the end of the connection.
  private(set) var endsByReset = false
  private var clientHasEnded = false
  private var serverHasEnded = false
  private var clientWasToldEnd = false
  private var serverWasToldEnd = false

  init(id: ConnectionID, client: Int32, server: Int32, recorder: RequestRecorder?) {
    self.recorder = recorder
    self.client = client
    self.server = server
    framing = RequestFraming(mark: id.mark)
  }

  /// Whether both sockets can be closed.
  var isOver: Bool {
    if case .over = phase { return true }
    return false
  }

  /// The time at which the next bytes of a hostile response are due; nil if no bytes are due.
  var due: ContinuousClock.Instant? {
    guard case .playing(let player) = phase, !player.isFinished, toClient.isEmpty else { return nil }
    return player.due
  }

  /// The events to poll for at the client's socket; 0 means none.
  var clientInterest: Int16 {
    let reads = !clientHasEnded && toServer.count < Self.queueLimit
    return Int16((reads ? Int32(POLLIN) : 0) | (toClient.isEmpty ? 0 : Int32(POLLOUT)))
  }

  /// The events to poll for at the server's socket; 0 means none.
  var serverInterest: Int16 {
    guard case .open = phase else { return 0 }
    let reads = !serverHasEnded && toClient.count < Self.queueLimit
    return Int16((reads ? Int32(POLLIN) : 0) | (toServer.isEmpty ? 0 : Int32(POLLOUT)))
  }

  /// Writes a hostile response in place of the server's response.
  mutating func play(_ script: ResponseScript, scratch: inout [UInt8]) {
    guard case .open = phase else { return }
    // Responses to earlier requests on this connection come first. The server has already written all of
    // them.
    while !serverHasEnded, readServer(&scratch) {}
    toServer.removeAll()
    phase = .playing(ScriptPlayer(script, from: .now))
  }

  /// Moves the available bytes, after `poll` has reported which sockets are ready.
  mutating func move(client ready: Int16, server serverReady: Int16, scratch: inout [UInt8]) {
    if ready & Int16(POLLERR | POLLNVAL) != 0 {
      phase = .over
      return
    }
    if ready & Int16(POLLIN | POLLHUP) != 0 { readClient(&scratch) }
    if serverReady & Int16(POLLIN | POLLHUP | POLLERR) != 0 { readServer(&scratch) }
    if case .playing(var player) = phase, toClient.isEmpty {
      player.fill(&toClient, limit: Self.pieceSize, at: .now)
      phase = .playing(player)
    }
    // Most writes succeed immediately, so they are tried without another `poll`.
    if !isOver { writeServer() }
    if !isOver { writeClient() }
    if !isOver { finish() }
  }

  private mutating func readClient(_ scratch: inout [UInt8]) {
    switch scratch.withUnsafeMutableBytes({ SystemSocket.receive(from: client, into: $0) }) {
    case .moved(let count):
      // If the record cannot be written, the connection ends, so that the record is never incomplete.
      if let recorder, !recorder.record(scratch[..<count]) { phase = .over } else { take(scratch[..<count]) }
    case .wouldBlock: break
    case .ended:
      clientHasEnded = true
      switch phase {
      // The client may still be reading the last response.
      case .lingering: break
      case .open where framing.isBetweenRequests: break
      // An incomplete request will never be completed, and the handler must see the connection end. A
      // hostile response also ends, because it may be endless.
      case .open, .playing, .over: phase = .over
      }
    case .failed: phase = .over
    }
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) {
    if case .playing = phase { return }
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

  /// Returns whether any bytes were received.
  @discardableResult
  private mutating func readServer(_ scratch: inout [UInt8]) -> Bool {
    switch scratch.withUnsafeMutableBytes({ SystemSocket.receive(from: server, into: $0) }) {
    case .moved(let count):
      toClient.append(scratch[..<count])
      return true
    case .wouldBlock: return false
    case .ended, .failed:
      serverHasEnded = true
      return false
    }
  }

  private mutating func writeServer() {
    guard !toServer.isEmpty else { return }
    let server = server
    if toServer.drain({ SystemSocket.send($0, to: server) }) == .failed {
      // The server has closed; its last response may still be waiting to be read.
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
    if case .playing(let player) = phase {
      guard player.isFinished, toClient.isEmpty else { return }
      switch player.ending {
      case .close: phase = .lingering(left: Self.lingerLimit)
      case .reset:
        endsByReset = true
        phase = .over
      case .hold: break
      }
    }
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
