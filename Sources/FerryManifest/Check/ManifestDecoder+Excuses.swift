extension ManifestDecoder {
  /// A part of the manifest could not be read: nobody knows what it declares, so nothing is said to be missing.
  mutating func excuseEverything() {
    for space in DeclaredNames.Space.allCases { declared.markUnreadable(space) }
    variables.isUnreadable = true
    mayBeIncomplete = true
  }

  /// What stands under a misspelt `sesions:` is declared in spirit: only the key is told, not each use of a name.
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
