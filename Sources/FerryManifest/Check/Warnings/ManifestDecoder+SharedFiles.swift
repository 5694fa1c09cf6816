extension ManifestDecoder {
  /// F0707.
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
      // If several names share one line, that line exists only once.
      let place = other.place == written.location ? other.fetch.location : other.place
      warn(
        .sharedSaveTo, at: written.location, "another fetch saves to this file too",
        help: "each replaces the file of the other; give each its own file",
        notes: [.init("\(other.fetch.value.quoted) saves to it here", at: place)],
        use: written.use ?? node.use)
    }
  }
}
