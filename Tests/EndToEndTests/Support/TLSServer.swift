import Foundation

/// A server that sends scripted bytes over TLS, and whose certificate ferry trusts.
///
/// By default, ferry trusts only the system's certificate authorities. So that the manifests need no `tls`,
/// ferry runs in a separate mount namespace, in which the server's certificate replaces Debian's list of
/// certificates.
final class TLSServer: Sendable {
  let url: String
  private let process: RunningCommand
  private let certificate: String

  /// Debian's list of certificate authorities.
  private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

  /// Whether this machine can run the tests over TLS. If not, a message is printed, because an unnoticed skip would
  /// look like a pass.
  static let isPossible: Bool = {
    let words = ["-m", "mount", "--bind", "/dev/null", authorities]
    if RunningCommand.find("openssl") != nil, RunningCommand.find("unshare") != nil,
      let trial = try? Process.run(URL(filePath: "/usr/bin/env"), arguments: ["unshare"] + words)
    {
      trial.waitUntilExit()
      if trial.terminationStatus == 0 { return true }
    }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests over TLS need openssl, and root in a mount namespace\n\n".utf8))
    return false
  }()

  private init(_ process: RunningCommand, _ certificate: String) async throws {
    self.process = process
    self.certificate = certificate
    url = "https://127.0.0.1:" + (try await process.line(after: "port "))
  }

  deinit { process.signal(SIGKILL) }

  /// - Parameters:
  ///   - folder: the folder in which the certificate is stored.
  ///   - serve: the body of `def serve(connection, number, request)`, indented by two spaces. `request()` returns the
  ///     next request as `METHOD PATH`, and `end()` ends the connection without a closure alert.
  ///   - isHTTP2: whether the server negotiates HTTP/2, so that `serve` reads and writes frames.
  static func start(
    in folder: TemporaryFolder, isHTTP2: Bool = false, _ serve: String
  ) async throws -> TLSServer {
    let (key, certificate) = try await makeCertificate(in: folder)
    let script = """
      import socket, ssl, sys, threading, time
      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain(sys.argv[2], sys.argv[1])
      \(isHTTP2 ? "context.set_alpn_protocols(['h2'])" : "")
      listener = socket.create_server(("127.0.0.1", 0))
      print("port", listener.getsockname()[1])
      def serve(connection, number, request, end):
      \(serve)
      def accept(raw, number):
        try:
          connection = context.wrap_socket(raw, server_side=True)
          lines = connection.makefile("rb")
          def request():
            words = lines.readline().split()
            if not words: raise EOFError
            length = 0
            while (line := lines.readline().strip()):
              name, _, value = line.partition(b":")
              if name.lower() == b"content-length": length = int(value)
            lines.read(length)
            text = words[0].decode() + " " + words[1].decode()
            # One write, because several threads print.
            sys.stdout.write(f"request {text}\\n")
            return text
          def end():
            socket.socket.shutdown(connection, socket.SHUT_WR)
          serve(connection, number, request, end)
          connection.unwrap()
        except (OSError, EOFError): pass
      number = 0
      while True:
        raw, _ = listener.accept()
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=accept, args=(raw, number), daemon=True).start()
        number += 1
      """
    return try await TLSServer(
      RunningCommand("python3", ["-u", "-c", script, key, certificate]), certificate)
  }

  /// Creates a self-signed certificate for 127.0.0.1.
  static func makeCertificate(in folder: TemporaryFolder) async throws -> (key: String, certificate: String) {
    let (key, certificate) = (folder.path("tls.key"), folder.path("tls.crt"))
    let words = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=ferry test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
      certificate,
    ]
    let made = try await Command.run("openssl", words)
    guard made.status == 0 else { throw CommandFailure(description: made.stderr) }
    return (key, certificate)
  }

  /// Starts ferry in a mount namespace in which only this certificate is trusted. The process ID is ferry's.
  static func start(
    _ job: Workspace, _ words: [String], trusting certificate: String, environment: [String: String] = [:]
  ) throws -> RunningCommand {
    let mount = "mount --bind \"$1\" \(authorities) && shift && exec \"$@\""
    return try job.start(
      ["-m", "sh", "-c", mount, "sh", certificate, Product.path("ferry")] + words, program: "unshare",
      environment: environment)
  }

  /// The requests so far, as `POST /path`.
  var requests: [String] {
    process.stdout.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("request ") }
      .map { String($0.dropFirst("request ".count)) }
  }

  /// Runs the job with ferry trusting the server's certificate.
  func run(
    _ job: Workspace, environment: [String: String] = [:]
  ) async throws -> (command: Command, report: RunReport) {
    let words = ["run", "job.yaml", "--report", "report.json"]
    let command = try await Self.start(job, words, trusting: certificate, environment: environment).end()
    do {
      return (command, try job.report())
    } catch {
      throw CommandFailure(description: "\(error)\n\(command.status)\n\(command.stdout)\n\(command.stderr)")
    }
  }
}
