extension ManifestDecoder {
  /// Called if a part of the manifest could not be read. The names declared in that part are unknown, so no
  /// name is reported as missing.
  mutating func excuseEverything() {
    for space in DeclaredNames.Space.allCases { declared.markUnreadable(space) }
    variables.isUnreadable = true
    mayBeIncomplete = true
  }

  /// Whether a key is misspelled rather than absent. If so, only the key is reported, not the references to
  /// it.
  func isMisspelt(_ key: String, in node: YAMLNode) -> Bool {
    node.members?.contains { nearest(to: $0.key.value, among: [key]) != nil } == true
  }

  /// Treats the contents of a misspelled section such as `sesions:` as declared, so that only the key is
  /// reported, and not each use of a name declared in it.
  mutating func excuseMisspeltSections(_ root: YAMLNode) {
    let sections = DeclaredNames.Space.allCases.map(\.rawValue) + ["vars"]
    for key in (root.members ?? []).map(\.key.value) where !sections.contains(key) {
      guard let nearest = NearestName.nearest(to: key, among: sections) else { continue }
      if let space = DeclaredNames.Space(rawValue: nearest) {
        declared.markUnreadable(space)
      } else {
        variables.isUnreadable = true
      }
    }
  }
}
