extension ManifestDecoder {
  /// F0701. Warns of sessions that are not used. The sessions of included files are not checked, because a
  /// file that several manifests include may declare more sessions than each manifest needs.
  mutating func warnOfUnusedSessions() {
    let used = Set(nameUses.filter { $0.purpose == .session }.map(\.name.value))
    for session in declared.ordered[.sessions] ?? []
    where !used.contains(session.name.value) && session.name.location.file == start.file {
      warn(
        .unusedSession, at: session.name.location, "session \(session.name.value.quoted) is not used",
        help: "remove it, or refer to it with 'session:'")
    }
  }
}
