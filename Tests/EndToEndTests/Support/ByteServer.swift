import Foundation

/// A server that sends exactly the bytes that a Python function produces.
final class ByteServer: Sendable {
  let url: String
  private let process: RunningCommand

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit {
    process.signal(SIGKILL)
  }

  /// - Parameter answer: the body of the Python function that responds, indented by two spaces. The connection closes
  ///   when the function returns.
  static func start(_ answer: String) async throws -> ByteServer {
    let script = """
      import socket, sys, threading, time
      def answer(path, send):
      \(answer)
      def serve(connection):
        try:
          lines = connection.makefile("rb")
          path = lines.readline().split()[1].decode()
          length = 0
          while (line := lines.readline().strip()):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length": length = int(value)
          lines.read(length)
          # One write, because several threads print.
          sys.stdout.write(f"request {path}\\n")
          answer(path, connection.sendall)
        except (OSError, IndexError): pass
        finally: connection.close()
      listener = socket.create_server(("127.0.0.1", 0), backlog=256)
      print("port", listener.getsockname()[1])
      while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
      """
    return try await ByteServer(RunningCommand("python3", ["-u", "-c", script]))
  }

  /// Waits until a request for the path has been read.
  func hasRead(_ path: String) async throws { _ = try await process.line(after: "request \(path)") }
}
