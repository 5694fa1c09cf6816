import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation

/// The contents of the files that a manifest's sessions use for their connections and credentials.
struct SessionConnections {
  /// The options by their settings. Sessions with the same settings share them.
  var options: [ConnectionSettings: ConnectionOptions] = [:]
  /// The bandwidth limits of each session, by its identifier.
  var limits: [String: [TransferLimit]] = [:]
  /// The netrc files, by their paths in the manifest.
  var netrcs: [String: Netrc] = [:]
  /// Passwords that are not secrets of the manifest.
  var writtenPasswords: Set<String> = []

  /// The name of the bandwidth limit of a whole run. All runs use the same name.
  fileprivate static let runLimit = "run"

  /// Lets the run share its bandwidth limit with the runs of other processes.
  mutating func share(_ clock: BandwidthClock) {
    limits = limits.mapValues { $0.map { $0.name == Self.runLimit ? $0.sharing(clock) : $0 } }
  }

  /// The passwords, in the form in which secrets are kept, so that they are masked. Their keys contain a dot, which the
  /// names of secrets cannot contain.
  var passwords: [String: SensitiveValue] {
    var passwords: [String: SensitiveValue] = [:]
    for (index, password) in writtenPasswords.sorted().enumerated() {
      passwords["password.\(index)"] = SensitiveValue(password)
    }
    for (path, netrc) in netrcs {
      for (index, entry) in netrc.entries.enumerated() {
        passwords["netrc.\(index).\(path)"] = entry.password
      }
    }
    return passwords
  }
}

/// Loads the connection options of a manifest's sessions when a run starts.
struct ConnectionLoader {
  private let folder: String
  private let environment: [String: String]
  private let secrets: [String: SensitiveValue]
  /// The authorities of the environment, once they are read.
  private var defaultAuthorities: TLSOptions.Authorities??

  /// - Parameter wallTime: the current time, for limits that depend on the time of day.
  static func load(
    _ job: Job, secrets: [String: SensitiveValue], environment: [String: String],
    wallTime: @escaping @Sendable () -> Instant
  ) throws(UsageError) -> SessionConnections {
    var loader = ConnectionLoader(
      folder: job.folder, environment: environment, secrets: secrets, defaultAuthorities: nil)
    let secured = Set(
      job.plan.nodes.flatMap(\.steps).filter { $0.origin?.scheme != "http" }.map(\.session.index))
    let ended = Set(job.manifest.onEnd.map(\.request.session.value))
    var isSecured: [ConnectionSettings: Bool] = [:]
    for (index, session) in job.manifest.sessions.enumerated() {
      isSecured[session.connection, default: false] =
        isSecured[session.connection] == true || secured.contains(index) || ended.contains(session.name.value)
    }
    var all = SessionConnections()
    all.writtenPasswords = WrittenPasswords.inManifest(job)
    all.limits = try limits(of: job.plan, wallTime)
    for path in job.manifest.netrcFiles.sorted() { all.netrcs[path] = try loader.netrc(path) }
    for session in job.manifest.sessions where all.options[session.connection] == nil {
      all.options[session.connection] = try loader.options(
        of: session, isSecured: isSecured[session.connection] == true)
      all.writtenPasswords.formUnion(try loader.proxyPasswords(of: session))
    }
    return all
  }

  private func proxyPasswords(of session: Session) throws(UsageError) -> [String] {
    switch session.connection.proxy {
    case nil: return Array(WrittenPasswords.inEnvironment(environment))
    case .off: return []
    case .server(let server):
      let url = try text(server.url, of: "url' of 'proxy", session)
      let password: String? =
        if let password = server.password { try text(password, of: "password' of 'proxy", session) } else {
          nil
        }
      return WrittenPasswords.inProxy(url) + [password].compactMap(\.self)
    }
  }

  /// The bandwidth limits of each session, by its identifier: that of the run, and the session's own.
  private static func limits(
    of plan: Plan, _ wallTime: @escaping @Sendable () -> Instant
  ) throws(UsageError) -> [String: [TransferLimit]] {
    let zones = try plan.zones(around: wallTime())
    func limit(_ limit: BandwidthLimit?, _ name: String) -> [TransferLimit] {
      guard let limit else { return [] }
      let zone = zones[limit.timeZone] ?? .utc
      return [TransferLimit(name: name) { limit.bytesPerSecond(at: wallTime(), in: zone) }]
    }
    let run = limit(plan.policies.maxBandwidth, SessionConnections.runLimit)
    return Dictionary(
      plan.sessions.map { ($0.identifier, run + limit($0.maxBandwidth, "session \($0.identifier)")) },
      uniquingKeysWith: { first, _ in first })
  }

  private mutating func options(of session: Session, isSecured: Bool) throws(UsageError) -> ConnectionOptions
  {
    let settings = session.connection
    return ConnectionOptions(
      tls: try tls(of: session, isSecured: isSecured), httpVersion: .init(settings.httpVersion),
      connectTo: settings.resolve.map { "\($0.host):\($0.port):\($0.address):\($0.port)" },
      unixSocket: try socket(of: session),
      minimumSpeed: settings.minimumSpeed.map { .init(bytes: $0.bytes, period: $0.period) },
      isBackground: settings.serviceType == .background,
      proxy: try proxy(of: session))
  }

  /// The maximum length of a socket's path in bytes: `sun_path` of unix(7), without the terminating NUL.
  private static let longestSocket = 107

  private func socket(of session: Session) throws(UsageError) -> String? {
    guard let written = session.connection.unixSocket else { return nil }
    let path = absolute(written)
    guard path.utf8.count <= Self.longestSocket else {
      throw UsageError(
        "\(session.name.location): 'unix_socket' of session '\(session.name.value)' is longer than \(Self.longestSocket) "
          + "bytes\nhelp: use a shorter path, for example that of a symbolic link")
    }
    return path
  }

  private func proxy(of session: Session) throws(UsageError) -> ConnectionOptions.Proxy {
    switch session.connection.proxy {
    case nil: return .environment
    case .off: return .off
    case .server(let server):
      let user: String? =
        if let user = server.user { try text(user, of: "user' of 'proxy", session) } else { nil }
      let password: String? =
        if let password = server.password { try text(password, of: "password' of 'proxy", session) } else {
          nil
        }
      return .server(
        .init(
          url: try text(server.url, of: "url' of 'proxy", session), user: user, password: password,
          noProxy: server.noProxy.joined(separator: ",")))
    }
  }

  private func netrc(_ path: String) throws(UsageError) -> Netrc {
    do throws(FileContents.Failure) {
      return Netrc(try FileContents(absolute(path)).bytesOfRegularFile(limit: 1 << 20))
    } catch {
      throw UsageError(
        "'netrc' of 'auth' cannot be read: \(DisplayPath.shown(path)): \(error.reason)\n"
          + "help: check that the file exists and is readable")
    }
  }

  // MARK: TLS

  /// The maximum size of a file with certificates, in bytes. A list of all common authorities has about 250 kB.
  private static let limit = 16 << 20

  /// - Parameter isSecured: whether the session may need the authorities of the environment.
  private mutating func tls(of session: Session, isSecured: Bool) throws(UsageError) -> TLSOptions {
    let settings = session.connection.tls
    var options = TLSOptions()
    options.minimum =
      switch settings.minimum {
      case .tls12: .tls12
      case .tls13: .tls13
      }
    options.pinnedPublicKey = settings.pinnedPublicKey
    options.authorities =
      if settings.caFile != nil || settings.caPath != nil {
        try authorities(of: session)
      } else {
        isSecured ? try authoritiesOfEnvironment() : nil
      }
    options.identity = try identity(of: session)
    return options
  }

  private func authorities(of session: Session) throws(UsageError) -> TLSOptions.Authorities {
    let settings = session.connection.tls
    var certificates: [UInt8]?
    if let path = settings.caFile {
      certificates = try contents(of: path, "ca_file", session)
      if let problem = certificates.flatMap(CertificateCheck.problem(ofAuthorities:)) {
        throw Self.failure(path, "ca_file", session, problem)
      }
    }
    var found: String?
    if let path = settings.caPath {
      found = absolute(path)
      if let problem = Self.problem(ofFolder: absolute(path)) {
        throw Self.failure(path, "ca_path", session, problem)
      }
    }
    return TLSOptions.Authorities(certificates: certificates, folder: found)
  }

  /// The authorities that curl(1) would use: `CURL_CA_BUNDLE`, otherwise `SSL_CERT_FILE` and `SSL_CERT_DIR`. libcurl
  /// itself does not read these variables.
  private mutating func authoritiesOfEnvironment() throws(UsageError) -> TLSOptions.Authorities? {
    if let known = defaultAuthorities { return known }
    let bundle = environment["CURL_CA_BUNDLE"].flatMap { $0.isEmpty ? nil : $0 }
    let name = bundle == nil ? "SSL_CERT_FILE" : "CURL_CA_BUNDLE"
    var certificates: [UInt8]?
    if let path = environment[name], !path.isEmpty {
      do throws(FileContents.Failure) {
        certificates = try FileContents(path).bytesOfRegularFile(limit: Self.limit)
      } catch {
        throw UsageError(Self.unusable(variable: name, path, error.reason))
      }
      if let problem = certificates.flatMap(CertificateCheck.problem(ofAuthorities:)) {
        throw UsageError(Self.unusable(variable: name, path, problem))
      }
    }
    var folder: String?
    if bundle == nil, let path = environment["SSL_CERT_DIR"], !path.isEmpty {
      folder = path
      // OpenSSL accepts a list of folders.
      for part in path.split(separator: ":").map(String.init) {
        if let problem = Self.problem(ofFolder: part) {
          throw UsageError(Self.unusable(variable: "SSL_CERT_DIR", part, problem))
        }
      }
    }
    let found =
      certificates == nil && folder == nil
      ? nil : TLSOptions.Authorities(certificates: certificates, folder: folder)
    defaultAuthorities = .some(found)
    return found
  }

  private func identity(of session: Session) throws(UsageError) -> ClientIdentity? {
    let settings = session.connection.tls
    guard let path = settings.certificate else { return nil }
    let certificate = try contents(of: path, "certificate", session)
    var key: [UInt8]?
    if let path = settings.key { key = try contents(of: path, "key", session) }
    let password = try password(of: session)
    if let problem = CertificateCheck.problem(ofCertificate: certificate, key: key, password: password) {
      throw Self.failure(
        problem.isOfKey ? settings.key ?? path : path, problem.isOfKey ? "key" : "certificate", session,
        problem.reason)
    }
    return ClientIdentity(certificate: certificate, key: key, password: password)
  }

  private func password(of session: Session) throws(UsageError) -> String? {
    guard let template = session.connection.tls.keyPassword else { return nil }
    return try text(template, of: "key_password", session)
  }

  /// The text of a session's setting, which can refer only to secrets.
  private func text(_ template: Template, of key: String, _ session: Session) throws(UsageError) -> String {
    var sensitive: [String] = []
    do throws(TransportFailure) {
      return String(
        decoding: try RequestBuilder.text(template, Bindings(secrets: secrets), sensitive: &sensitive),
        as: UTF8.self)
    } catch {
      throw UsageError(
        "\(session.name.location): '\(key)' of session '\(session.name.value)': \(error.message)")
    }
  }

  // MARK: Files

  private func contents(of path: String, _ key: String, _ session: Session) throws(UsageError) -> [UInt8] {
    do throws(FileContents.Failure) {
      return try FileContents(absolute(path)).bytesOfRegularFile(limit: Self.limit)
    } catch {
      throw Self.failure(path, key, session, error.reason)
    }
  }

  /// The reason why a folder cannot be used; `nil` if it can.
  private static func problem(ofFolder path: String) -> String? {
    do throws(FolderPath.Failure) {
      let descriptor = try FolderPath.descriptor(of: Array(path.utf8), trusting: .ownEntries)
      defer { close(descriptor) }
      var status = stat()
      // libcurl itself reads the files in the folder, regardless of their owner.
      guard fstat(descriptor, &status) == 0, status.st_mode & 0o002 == 0 else {
        return "any user can add a certificate to it, because it is world-writable"
      }
      return nil
    } catch {
      return error.reason
    }
  }

  /// Returns the absolute form of a path in the manifest.
  private func absolute(_ path: String) -> String {
    Self.absolute(path, folder: folder, environment: environment)
  }

  /// - Parameter folder: the manifest's folder.
  static func absolute(_ path: String, folder: String, environment: [String: String]) -> String {
    if path.utf8.starts(with: "~/".utf8), let home = environment["HOME"], !home.isEmpty {
      return home + String(path.unicodeScalars.dropFirst())
    }
    return path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)"
  }

  private static func failure(_ path: String, _ key: String, _ session: Session, _ reason: String)
    -> UsageError
  {
    UsageError(
      "\(session.name.location): '\(key)' of session '\(session.name.value)' cannot be used: \(DisplayPath.shown(path)): \(reason)\n"
        + "help: check the file and the key in 'tls'")
  }

  private static func unusable(variable: String, _ path: String, _ reason: String) -> String {
    "the environment variable \(variable) names \(DisplayPath.shown(path)), which cannot be used: \(reason)\n"
      + "help: correct or unset it, or write 'tls: { ca_file: … }' in the sessions"
  }
}

extension ConnectionOptions.HTTPVersion {
  fileprivate init(_ version: ConnectionSettings.HTTPVersion) {
    self =
      switch version {
      case .auto: .auto
      case .http1: .http1
      case .http2: .http2
      case .http2PriorKnowledge: .http2PriorKnowledge
      }
  }
}
