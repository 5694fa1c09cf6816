import FlyingFox
import Foundation

/// A small real HTTP server for testing manifests.
///
/// ```swift
/// let server = ReceiverServer(ReceiverConfiguration(directory: folder))
/// let port = try await server.start()
/// // … http://127.0.0.1:\(port) …
/// await server.stop()
/// ```
package actor ReceiverServer {
  /// A method was called in the wrong order.
  package enum Misuse: Error {
    case startedTwice
    case notRunning
  }

  private struct Parts {
    let socket: PrivateSocket
    let door: FrontDoor
    let handler: RequestHandler
    let server: HTTPServer
    let run: Task<Void, any Error>
  }

  private let configuration: ReceiverConfiguration
  private var parts: Parts?
  private var hasStarted = false

  package init(_ configuration: ReceiverConfiguration) {
    self.configuration = configuration
  }

  /// Starts the server, and returns the port on 127.0.0.1.
  ///
  /// Throws an error if the port is in use, the directory cannot be created, or the server has already been
  /// started.
  package func start() async throws -> UInt16 {
    guard !hasStarted else { throw Misuse.startedTwice }
    hasStarted = true
    let socket = try PrivateSocket()
    do {
      let recorder = try configuration.record.map { try RequestRecorder($0) }
      let door: FrontDoor
      do {
        door = try FrontDoor(port: configuration.port, path: socket.path, recorder: recorder)
      } catch {
        recorder?.close()
        throw error
      }
      do {
        parts = try await serve(socket, door)
        return door.port
      } catch {
        await door.stop()
        throw error
      }
    } catch {
      socket.remove()
      throw error
    }
  }

  /// Closes all connections, and returns when they are closed. The received bytes remain in the directory.
  package func stop() async {
    guard let parts else { return }
    self.parts = nil
    await parts.door.stop()
    await parts.server.stop(timeout: 0)
    // The task ends with a cancellation error.
    _ = await parts.run.result
    parts.socket.remove()
  }

  /// The received data, in the form of `GET /received`.
  package func received() throws -> Listing {
    guard let parts else { throw Misuse.notRunning }
    return parts.handler.ledger.withLock { $0.listing }
  }

  /// Adds a fault, as `POST /faults` does. The fault takes effect immediately.
  package func add(_ fault: Fault) throws {
    guard let parts else { throw Misuse.notRunning }
    try fault.validate()
    parts.handler.ledger.withLock { $0.faults.add(fault) }
  }

  private func serve(_ socket: PrivateSocket, _ door: FrontDoor) async throws -> Parts {
    let handler = try RequestHandler(configuration: configuration, door: door)
    let server = HTTPServer(
      config: HTTPServer.Configuration(
        address: .unix(path: socket.path),
        // The timeout includes the time in which a handler reads a whole body, which may be slow.
        timeout: 7 * 24 * 3600,
        // Bodies are not kept for a second reading.
        sharedRequestReplaySize: 0,
        logger: .disabled),
      handler: handler)
    let run = Task { try await server.run() }
    do {
      // On a busy machine, this may take longer than the library's default of five seconds.
      try await server.waitUntilListening(timeout: 60)
    } catch {
      run.cancel()
      throw error
    }
    door.open()
    return Parts(socket: socket, door: door, handler: handler, server: server, run: run)
  }
}
