extension ManifestDecoder {
  /// In `needs`, replaces the declared name of each node that has `for_each` by the names of its instances.
  /// Returns nil if there are too many names.
  mutating func expandNeeds(of manifest: Manifest) -> Manifest? {
    var manifest = manifest
    var left = Self.mostValues
    func expand(_ needs: inout [Located<String>]) {
      guard needs.contains(where: { declared.hasInstances($0.value) }) else { return }
      needs = needs.flatMap { need -> [Located<String>] in
        guard declared.hasInstances(need.value), left > 0 else { return [need] }
        let instances = declared.instances(of: need.value)
        left -= instances.count
        return instances.map { Located($0, at: need.location) }
      }
    }
    for index in manifest.uploads.indices { expand(&manifest.uploads[index].needs) }
    for index in manifest.downloads.indices { expand(&manifest.downloads[index].needs) }
    for index in manifest.fetches.indices { expand(&manifest.fetches[index].needs) }
    for index in manifest.requests.indices { expand(&manifest.requests[index].needs) }
    guard left > 0 else {
      report(
        .tooManyValues, at: start, "the manifest's 'needs' name more than \(Self.mostValues) nodes in total",
        help: "a node with 'for_each' counts once for each instance; reduce the number of names")
      return nil
    }
    return manifest
  }
}
