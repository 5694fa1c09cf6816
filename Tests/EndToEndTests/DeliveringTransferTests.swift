import Foundation
import Testing

/// An upload with `allocate` and without a commit: the transfer delivers the file.
@Suite struct `A transfer that delivers its file` {
  /// What the server does when it has received the body of the first transfer.
  enum Fault: String, CaseIterable {
    /// It closes the connection.
    case loses
    /// It responds with 500.
    case fails
    /// It kills ferry.
    case kills
  }

  /// A job with one file, and its server.
  private struct Trial {
    /// Serves `content_range`, tus, and single requests under an ID. Its arguments are the fault, and a file that contains
    /// the ID of ferry's process.
    private static let script = """
      import http.server, os, sys, time
      fault, pid = sys.argv[1:]
      received = 0
      class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def answer(self, status, **fields):
          body = b'{"id": "%d"}' % allocated
          self.send_response_only(status)
          for name, value in fields.items(): self.send_header(name.replace("_", "-"), value)
          self.send_header("Content-Length", str(len(body)))
          self.end_headers()
          if self.command != "HEAD": self.wfile.write(body)
        def respond(self):
          global allocated, received
          size = int(self.headers.get("Content-Length") or 0)
          body = self.rfile.read(size)
          print(self.command, self.path, flush=True)
          if self.path == "/new":
            while not os.path.exists(pid): time.sleep(0.001)
            allocated += 1
            return self.answer(201, Location="/id/%d" % allocated, Tus_Resumable="1.0.0")
          if self.command == "HEAD":
            return self.answer(200, Upload_Offset=str(received), Upload_Length="7", Tus_Resumable="1.0.0")
          if not size: return self.answer(200 if received == 7 else 308)
          print("delivered", flush=True)
          isFirst, received = received == 0, 7
          if not isFirst: return self.answer(200)
          if fault == "fails": return self.answer(500)
          if fault == "kills": os.kill(int(open(pid).read()), 9)
          self.close_connection = True
        do_PUT = do_POST = do_PATCH = do_HEAD = respond
        def log_message(self, *_): pass
      allocated = 0
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print("port", server.server_port, flush=True)
      server.serve_forever()
      """

    let job: Workspace
    let server: PythonServer

    init(_ fault: Fault) async throws {
      job = try Workspace("")
      try job.write("content", to: "a")
      server = try await PythonServer(Self.script, [fault.rawValue, job.folder.path("pid")])
    }

    func write(protocol name: String, _ request: String = "") throws {
      let allocate = """
        allocate: { request: { url: "\(server.url)/new" }, capture: { id: { json: /id } } }
        """
      let url = name == "tus" ? "\(server.url)/new" : "\(server.url)/id/${allocate.id}"
      try job.write(
        manifest: """
          version: 1
          name: delivering
          sessions: { s: {} }
          uploads:
            u:
              session: s
              files: { root: files }
              retry: { limit: 3, initial: 10ms, max: 10ms }
              \(name == "tus" ? "" : allocate)
              transfer: { protocol: \(name), request: { \(request)url: "\(url)" } }

          """)
    }

    var deliveries: Int { server.stdout.split(separator: "\n").count { $0 == "delivered" } }
    var allocations: Int { server.stdout.split(separator: "\n").count { $0 == "POST /new" } }

    /// Runs ferry. The server does not respond to an allocation before it knows ferry's process.
    func run() async throws -> Command {
      let command = try job.start(["run", "job.yaml", "--report", "report.json"])
      try? FileManager.default.removeItem(atPath: job.folder.path("pid"))
      try job.folder.write(Data("\(command.pid)".utf8), to: "new-pid")
      try FileManager.default.moveItem(atPath: job.folder.path("new-pid"), toPath: job.folder.path("pid"))
      return await command.end()
    }
  }

  @Test(arguments: Fault.allCases, ["POST", "PATCH"])
  func `is never sent again unless its method allows it`(_ fault: Fault, _ method: String) async throws {
    let trial = try await Trial(fault)
    try trial.write(protocol: "put", "method: \(method), ")
    let first = try await trial.run()
    #expect(first.status == (fault == .kills ? 137 : 1), "\(first.stdout)\(first.stderr)")
    let second = try await trial.run()
    #expect(second.status == 1, "\(second.stdout)\(second.stderr)")
    let items = try await trial.job.status().session("delivering.s")?.node("u")?.items
    #expect(items?["ambiguous"] == 1)
    #expect(trial.deliveries == 1, "\(trial.server.stdout)")
  }

  /// If the next run did not know the upload ID, it would deliver the file again under another one.
  @Test(arguments: ["content_range", "tus", "put"])
  func `is sent only when its upload ID is in the journal`(_ name: String) async throws {
    for _ in 0..<4 {
      let trial = try await Trial(.kills)
      try trial.write(protocol: name, name == "put" ? "method: PUT, " : "")
      #expect(try await trial.run().status == 137)
      let next = try await trial.run()
      #expect(next.status == 0, "\(next.stdout)\(next.stderr)")
      #expect(trial.allocations == 1, "\(trial.server.stdout)")
      #expect(trial.deliveries == (name == "put" ? 2 : 1), "\(trial.server.stdout)")
    }
  }
}
