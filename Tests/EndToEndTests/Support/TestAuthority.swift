import Foundation

/// A certificate authority of a test, which issues certificates for servers and clients.
final class TestAuthority: Sendable {
  static let isPossible: Bool = {
    let missing = ["openssl", "nginx", "caddy"].filter { RunningCommand.find($0) == nil }
    guard !missing.isEmpty else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of certificates need \(missing.joined(separator: ", "))\n\n".utf8))
    return false
  }()

  /// A certificate with its private key.
  struct Issued {
    var certificate: String
    var key: String

    /// Directives of nginx.
    var directives: String { "ssl_certificate \(certificate); ssl_certificate_key \(key);" }
  }

  let folder: TemporaryFolder
  private let root: Issued

  /// The certificate of the authority, in PEM.
  var file: String { root.certificate }

  private init(folder: TemporaryFolder, root: Issued) { (self.folder, self.root) = (folder, root) }

  static func make() async throws -> TestAuthority {
    let folder = try TemporaryFolder()
    chmod(folder.url.path(percentEncoded: false), 0o755)
    let root = Issued(certificate: folder.path("ca.pem"), key: folder.path("ca.key"))
    try await openssl(
      [
        "req", "-x509", "-days", "2", "-subj", "/CN=ferry test authority", "-addext",
        "basicConstraints=critical,CA:TRUE",
      ]
        + newKey(root.key) + ["-out", root.certificate])
    return TestAuthority(folder: folder, root: root)
  }

  /// Issues a certificate.
  ///
  /// - Parameters:
  ///   - names: the subject's alternative names, such as `IP:127.0.0.1`.
  ///   - days: the validity from now; a negative number for a certificate that has expired.
  func issue(_ name: String, names: String = "IP:127.0.0.1,DNS:localhost", days: Int = 2) async throws
    -> Issued
  {
    let issued = Issued(certificate: folder.path("\(name).pem"), key: folder.path("\(name).key"))
    let request = folder.path("\(name).csr")
    try await Self.openssl(
      ["req", "-new", "-subj", "/CN=\(name)"] + Self.newKey(issued.key) + ["-out", request])
    try folder.write(Data("subjectAltName=\(names)\n".utf8), to: "\(name).ext")
    try await Self.openssl([
      "x509", "-req", "-in", request, "-CA", root.certificate, "-CAkey", root.key, "-CAcreateserial", "-days",
      "\(days)", "-extfile", folder.path("\(name).ext"), "-out", issued.certificate,
    ])
    chmod(issued.key, 0o644)
    return issued
  }

  /// The digest of a certificate's public key, as `sha256//BASE64`.
  static func pin(of issued: Issued) async throws -> String {
    let script =
      "openssl x509 -in \"$1\" -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64"
    let made = try await Command.run("sh", ["-c", script, "sh", issued.certificate])
    return "sha256//" + made.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  static func openssl(_ words: [String]) async throws {
    let made = try await Command.run("openssl", words)
    guard made.status == 0 else { throw CommandFailure(description: made.stderr) }
  }

  private static func newKey(_ file: String) -> [String] {
    ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file]
  }
}
