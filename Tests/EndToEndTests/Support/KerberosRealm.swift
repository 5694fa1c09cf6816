import Foundation

/// A Kerberos realm with a key distribution center of MIT Kerberos, a ticket of the user `worker`, and a key of the
/// service `HTTP/localhost`.
///
/// It is stopped when the last reference to it is released.
final class KerberosRealm: Sendable {
  static let isPossible: Bool = {
    let programs = ["krb5kdc", "kdb5_util", "kadmin.local", "kinit"]
    let module = "/usr/lib/apache2/modules/mod_auth_gssapi.so"
    let missing =
      programs.filter { RunningCommand.find($0) == nil }
      + (FileManager.default.fileExists(atPath: module) ? [] : ["mod_auth_gssapi"])
    guard !missing.isEmpty else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the test of Negotiate needs \(missing.joined(separator: ", "))\n\n".utf8))
    return false
  }()

  private let folder: TemporaryFolder
  private let process: RunningCommand

  /// The variables with which programs find the realm and the ticket.
  var environment: [String: String] { Self.environment(folder) }
  var keytab: String { folder.path("keytab") }

  private init(folder: TemporaryFolder, process: RunningCommand) {
    (self.folder, self.process) = (folder, process)
  }

  deinit {
    process.signal(SIGCONT)
    process.signal(SIGTERM)
  }

  /// Makes the key distribution center accept connections without responding.
  func pause() { process.signal(SIGSTOP) }
  func resume() { process.signal(SIGCONT) }

  private static func environment(_ folder: TemporaryFolder) -> [String: String] {
    [
      "KRB5_CONFIG": folder.path("krb5.conf"), "KRB5_KDC_PROFILE": folder.path("kdc.conf"),
      "KRB5CCNAME": "FILE:" + folder.path("tickets"),
      // The server's user cannot write to the folder of its replay cache.
      "KRB5RCACHENAME": "none:",
    ]
  }

  static func start() async throws -> KerberosRealm {
    let folder = try TemporaryFolder()
    chmod(folder.url.path(percentEncoded: false), 0o755)
    let (process, _) = try await LoopbackPort.start { port in
      try folder.write(Data(client(port).utf8), to: "krb5.conf")
      try folder.write(Data(center(folder, port).utf8), to: "kdc.conf")
      // The database is the same for each attempt to find a free port.
      let script = """
        rm -f "$1"/principal* "$1"/stash "$1"/keytab
        kdb5_util create -s -r FERRY.TEST -P master >&2 &&
        kadmin.local -r FERRY.TEST addprinc -pw geheim worker >&2 &&
        kadmin.local -r FERRY.TEST addprinc -randkey HTTP/localhost >&2 &&
        kadmin.local -r FERRY.TEST ktadd -k "$1/keytab" HTTP/localhost >&2 &&
        chmod 644 "$1/keytab" && exec krb5kdc -n -r FERRY.TEST
        """
      return try RunningCommand(
        "sh", ["-c", "PATH=\"$PATH:/usr/sbin\"; \(script)", "sh", folder.path("")],
        environment: environment(folder))
    }
    let ticket = try await Command.run(
      "sh", ["-c", "echo geheim | kinit worker@FERRY.TEST"], environment: environment(folder))
    guard ticket.status == 0 else { throw CommandFailure(description: ticket.stdout + ticket.stderr) }
    return KerberosRealm(folder: folder, process: process)
  }

  private static func client(_ port: Int) -> String {
    """
    [libdefaults]
      default_realm = FERRY.TEST
      dns_lookup_kdc = false
      dns_lookup_realm = false
      dns_canonicalize_hostname = false
      rdns = false
      udp_preference_limit = 1
    [realms]
      FERRY.TEST = {
        kdc = 127.0.0.1:\(port)
      }
    [domain_realm]
      localhost = FERRY.TEST

    """
  }

  private static func center(_ folder: TemporaryFolder, _ port: Int) -> String {
    """
    [kdcdefaults]
      kdc_listen = 127.0.0.1:\(port)
      kdc_tcp_listen = 127.0.0.1:\(port)
    [realms]
      FERRY.TEST = {
        database_name = \(folder.path("principal"))
        key_stash_file = \(folder.path("stash"))
        acl_file = \(folder.path("acl"))
      }

    """
  }
}
