extension ManifestDecoder {
  /// F0715. Only settings that are written in the manifest itself are checked, because several manifests may share an
  /// included file.
  mutating func warnOfIdleConnectionSettings(_ manifest: Manifest) {
    let requests = Dictionary(grouping: writtenRequests(manifest), by: \.session)
    let settings = Dictionary(
      manifest.sessions.map { ($0.name.value, $0.connection) }, uniquingKeysWith: { first, _ in first })
    for session in declared.ordered[.sessions] ?? [] {
      // F0701 reports sessions without requests.
      guard settings[session.name.value]?.tls != TLSSettings(),
        let urls = requests[session.name.value]?.map(\.template.url),
        let tls = session.node.members?.first(where: { $0.key.value == "tls" })?.key,
        tls.location.file == start.file,
        urls.allSatisfy({ $0.hasScheme("http://") })
      else { continue }
      warn(
        .idleConnectionSetting, at: tls.location,
        "this has no effect: the session \(session.name.value.quoted) sends no request to an https URL",
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
