import Foundation

/// Free ports of 127.0.0.1, for servers that cannot choose a port themselves. Because another program may take the port
/// first, a failed start is repeated with another port.
enum LoopbackPort {
  /// Starts a program with a free port, and waits until it listens there.
  ///
  /// - Parameters:
  ///   - launch: starts the program with a port.
  ///   - log: returns the program's log for the error message.
  static func start(
    log: () -> String = { "" }, _ launch: (Int) throws -> RunningCommand
  ) async throws -> (process: RunningCommand, port: Int) {
    var last = ""
    for _ in 0..<5 {
      let port = try free()
      let process = try launch(port)
      if try await listens(port, process) { return (process, port) }
      last = await process.end().stderr + log()
    }
    throw CommandFailure(description: "the server did not start\n\(last)")
  }

  /// A port that no program uses at the moment.
  private static func free() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard status == 0 else { throw CommandFailure(description: "no free port: errno \(errno)") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Waits until the server accepts connections. Returns `false` if it exits instead.
  private static func listens(_ port: Int, _ process: RunningCommand) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline, process.isRunning {
      if connects(to: port) { return true }
      // The test polls, because no event shows that the server is ready.
      try await Task.sleep(for: .milliseconds(10))
    }
    process.signal(SIGKILL)
    return false
  }

  private static func connects(to port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
