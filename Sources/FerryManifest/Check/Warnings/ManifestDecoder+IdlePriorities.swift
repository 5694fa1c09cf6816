extension ManifestDecoder {
  /// F0708. Warns of a priority that has no other work to be compared with. Fetches and single requests count
  /// as other work: they wait in the same queue as uploads, with the default priority.
  mutating func warnOfIdlePriorities(_ manifest: Manifest) {
    var nodesIn: [String: Int] = [:]
    for sessions in manifest.uploads.map(\.sessions) + manifest.downloads.map({ [$0.session.value] })
      + manifest.fetches.map({ [$0.session.value] })
      + manifest.requests.map({ [$0.session.value] })
    {
      for session in sessions { nodesIn[session, default: 0] += 1 }
    }
    let sessions = Dictionary(
      manifest.sessions.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    for upload in manifest.uploads {
      guard upload.sessions.allSatisfy({ nodesIn[$0] == 1 }), let session = sessions[upload.session.value],
        session.maxConnectionsPerHost == 1,
        // Another manifest may share a session that has an identifier.
        session.identifier == nil,
        let node = declared.declaration(upload.name.value, in: .uploads)?.node,
        let priority = node["priority"]
      else { continue }
      let connections = declared.declaration(session.name.value, in: .sessions)?
        .node["max_connections_per_host"]
      warn(
        .idlePriority, at: priority.location,
        "this priority has no effect: no other batch uses session \(session.name.value.quoted)",
        help: "remove it, or let a batch with a lower priority use the same session",
        notes: connections.map { [.init("the session has one connection", at: $0.location)] } ?? [],
        use: priority.use ?? node.use)
    }
  }
}

extension Upload {
  /// The sessions of the upload and of its steps.
  fileprivate var sessions: Set<String> {
    Set([session, allocate?.session, commit?.session, abandon?.session].compactMap { $0?.value })
  }
}
