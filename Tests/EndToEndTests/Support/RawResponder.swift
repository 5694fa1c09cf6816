import Foundation

/// A server that sends scripted bytes, valid or not, and closes the connection.
///
/// If a path has several responses, they are sent one after another, and the last one is repeated. For any other path,
/// the response is 200 with an empty body.
final class RawResponder: Sendable {
  /// A received request: the method, the path, and the condition in its header section.
  struct Request: Equatable {
    var method: String
    var path: String
    var condition: String

    init(_ method: String, _ path: String, _ condition: String = "") {
      self.method = method
      self.path = path
      self.condition = condition
    }
  }

  let url: String
  private let process: RunningCommand

  private init(_ process: RunningCommand) async throws {
    self.process = process
    url = "http://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit {
    process.signal(SIGTERM)
  }

  static func start(_ responses: [String: [String]]) async throws -> RawResponder {
    let script = responses.mapValues { $0.map { Data($0.utf8).base64EncodedString() } }
    let json = String(decoding: try JSONEncoder().encode(script), as: UTF8.self)
    return try await RawResponder(RunningCommand("python3", ["-u", "-c", program, json]))
  }

  /// The requests so far.
  var requests: [Request] {
    process.stdout.split(whereSeparator: \.isNewline).dropFirst().map { line in
      let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      return Request(words[0], words[1], words[2])
    }
  }

  /// How often a path was requested.
  func count(_ path: String) -> Int { requests.count { $0.path == path } }

  private static let program = """
    import base64, json, socket, sys
    script = {path: [base64.b64decode(one) for one in all] for path, all in json.loads(sys.argv[1]).items()}
    whole = b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n"
    listener = socket.create_server(("127.0.0.1", 0))
    print("port", listener.getsockname()[1])
    while True:
      connection, _ = listener.accept()
      with connection, connection.makefile("rb") as lines:
        try:
          first = lines.readline().decode().split(" ")
          if len(first) < 3: continue
          fields = {}
          while (line := lines.readline()) not in (b"\\r\\n", b""):
            name, value = line.decode("latin-1").split(":", 1)
            fields[name.lower()] = value.strip()
          lines.read(int(fields.get("content-length", 0)))
          condition = fields.get("if-none-match") or fields.get("if-modified-since") or ""
          print(first[0], first[1], condition)
          answers = script.get(first[1], [whole])
          connection.sendall(answers.pop(0) if len(answers) > 1 else answers[0])
          connection.shutdown(socket.SHUT_WR)
          connection.settimeout(2)
          connection.recv(1)
        except OSError: pass
    """
}
