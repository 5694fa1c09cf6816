import Foundation
import Synchronization

/// The TCP port to which clients connect.
///
/// FlyingFox always sends a response, so a handler cannot break a connection. The front door is placed in front of
/// FlyingFox and passes bytes between each client and a private socket in the file system. To break a connection, a
/// handler calls ``cut(_:by:)``; to send a response that FlyingFox cannot send, it calls ``play(_:on:)``. Nagle's
/// algorithm does not apply to a private socket. This matters because FlyingFox writes the head and body of a response
/// separately.
///
/// One thread serves all sockets with `poll`.
final class FrontDoor: Sendable {
  private enum Life {
    case closed
    case open
    case ended
  }

  /// An operation that a handler requests for a connection.
  enum Order {
    case cut(ConnectionID, by: Fault.Cut)
    /// The continuation is resumed when the response is assigned to the connection, or the connection no
    /// longer exists.
    case play(ConnectionID, ResponseScript, CheckedContinuation<Void, Never>)
  }

  private struct Orders {
    var life = Life.closed
    var list: [Order] = []
    var stops = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The port on 127.0.0.1.
  let port: UInt16
  private let path: String
  private let recorder: RequestRecorder?
  private let listener: Int32
  private let bell: (read: Int32, write: Int32)
  private let orders = Mutex(Orders())

  /// Binds the port, where clients wait until ``open()``. Connections are then forwarded to the socket at
  /// `path`. The creator must call ``stop()``.
  ///
  /// - Parameter recorder: receives every byte that clients send.
  init(port: UInt16, path: String, recorder: RequestRecorder? = nil) throws {
    self.recorder = recorder
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemSocket.Failure.last("pipe") }
    ends.forEach(SystemSocket.unblock)
    bell = (ends[0], ends[1])
    self.path = path
    do {
      listener = try SystemSocket.listen(port: port)
    } catch {
      ends.forEach { close($0) }
      throw error
    }
    do {
      self.port = try SystemSocket.port(of: listener)
    } catch {
      (ends + [listener]).forEach { close($0) }
      throw error
    }
  }

  /// Starts forwarding connections.
  func open() {
    orders.withLock { $0.life = .open }
    let thread = Thread { [self] in
      FrontDoorLoop(listener: listener, bell: bell.read, path: path, recorder: recorder)
        .run(takingOrdersFrom: self)
      end()
    }
    thread.name = "front door"
    thread.start()
  }

  /// Breaks a connection. After this method has returned, no byte of a later response can be sent.
  func cut(_ id: ConnectionID, by how: Fault.Cut) {
    orders.withLock { orders in
      orders.list.append(.cut(id, by: how))
      ring(orders)
    }
  }

  /// Writes a response to a connection. After this method has returned, no byte of a later response can be
  /// sent. The method does not wait for the end of the response, because the response may be endless.
  func play(_ script: ResponseScript, on id: ConnectionID) async {
    await withCheckedContinuation { continuation in
      let isOpen = orders.withLock { orders in
        guard orders.life == .open else { return false }
        orders.list.append(.play(id, script, continuation))
        ring(orders)
        return true
      }
      if !isOpen { continuation.resume() }
    }
  }

  /// Closes the port and all connections, and returns when they are closed.
  func stop() async {
    await withCheckedContinuation { continuation in
      let life = orders.withLock { orders in
        orders.stops = true
        if orders.life == .open { orders.waiters.append(continuation) }
        ring(orders)
        return orders.life
      }
      switch life {
      case .closed:
        end()
        continuation.resume()
      case .open: break
      case .ended: continuation.resume()
      }
    }
  }

  /// Returns the orders since the last call, for the loop.
  func takeOrders() -> (list: [Order], stops: Bool) {
    orders.withLock { orders in
      defer { orders.list.removeAll() }
      return (orders.list, orders.stops)
    }
  }

  /// Wakes the loop. The caller holds the lock, so the pipe cannot be closed during the call.
  private func ring(_ orders: borrowing Orders) {
    guard orders.life == .open else { return }
    // If the pipe is full, the loop wakes up anyway.
    _ = write(bell.write, [1], 1)
  }

  private func end() {
    let (waiters, left) = orders.withLock { orders in
      defer {
        orders.waiters.removeAll()
        orders.list.removeAll()
      }
      guard orders.life != .ended else { return (orders.waiters, orders.list) }
      orders.life = .ended
      close(listener)
      close(bell.read)
      close(bell.write)
      recorder?.close()
      return (orders.waiters, orders.list)
    }
    waiters.forEach { $0.resume() }
    // These orders arrived while the loop closed its last connections.
    for case .play(_, _, let continuation) in left { continuation.resume() }
  }
}
