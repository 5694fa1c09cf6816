extension ManifestDecoder {
  /// F0715. Warns of a connection setting that has no effect. Only settings that are written in the manifest
  /// itself are checked, because several manifests may share an included file.
  mutating func warnOfIdleConnectionSetting(
    at location: SourceLocation, _ reason: String, help: String, use: SourceLocation?
  ) {
    guard location.file == start.file else { return }
    warn(.idleConnectionSetting, at: location, "this has no effect: \(reason)", help: help, use: use)
  }

  /// F0715. Warns of keys of sessions that have no effect.
  mutating func warnOfIdleConnectionSettings(_ manifest: Manifest) {
    let requests = Dictionary(grouping: writtenRequests(manifest), by: \.session)
    let settings = Dictionary(
      manifest.sessions.map { ($0.name.value, $0.connection) }, uniquingKeysWith: { first, _ in first })
    for session in declared.ordered[.sessions] ?? [] {
      if let connection = settings[session.name.value], connection.unixSocket != nil,
        connection.serviceType == .background,
        let key = session.node.members?.first(where: { $0.key.value == "service_type" })?.key
      {
        warnOfIdleConnectionSetting(
          at: key.location, "a Unix domain socket has no packets to mark",
          help: "remove it, or remove 'unix_socket'", use: session.node.use)
      }
      // F0701 reports sessions without requests.
      guard settings[session.name.value]?.tls != TLSSettings(),
        let urls = requests[session.name.value]?.map(\.template.url),
        let tls = session.node.members?.first(where: { $0.key.value == "tls" })?.key,
        urls.allSatisfy({ $0.hasScheme("http://") })
      else { continue }
      warnOfIdleConnectionSetting(
        at: tls.location, "the session \(session.name.value.quoted) sends no request to an https URL",
        help: "remove it, or use https URLs", use: session.node.use)
    }
  }
}

extension Template {
  /// Whether the text begins with a scheme that is known before a run.
  func hasScheme(_ prefix: String) -> Bool {
    var text = ""
    for segment in segments {
      switch segment {
      case .literal(let part), .value(let part): text += part
      case .reference: return text.lowercased().hasPrefix(prefix)
      }
    }
    return text.lowercased().hasPrefix(prefix)
  }
}
