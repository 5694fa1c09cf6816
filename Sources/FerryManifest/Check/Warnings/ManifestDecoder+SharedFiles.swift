extension ManifestDecoder {
  /// F0707. Reports fetches that save to the same file.
  mutating func warnOfSharedFiles(_ manifest: Manifest) {
    var first: [String: (fetch: Located<String>, place: SourceLocation)] = [:]
    for fetch in manifest.fetches {
      guard let node = declared.declaration(fetch.name.value, in: .fetches)?.node,
        let written = node["save_to"]
      else { continue }
      let path = ManifestFiles.path(fetch.saveTo, from: "")
      guard let other = first[path] else {
        first[path] = (fetch.name, written.location)
        continue
      }
      // If both fetches take the path from the same line, the note refers to the other fetch's name.
      let place = other.place == written.location ? other.fetch.location : other.place
      warn(
        .sharedSaveTo, at: written.location, "another fetch also saves to this file",
        help: "the fetches replace each other's file; give each a separate file",
        notes: [.init("\(other.fetch.value.quoted) saves to the same file here", at: place)],
        use: written.use ?? node.use)
    }
  }
}
