extension ManifestDecoder {
  /// Reports items in the manifest that would replace each other's file. ferry would download neither of them.
  mutating func checkFiles(of download: Download, _ node: YAMLNode) {
    guard case .written(let items) = download.items.source, let elements = node["items"]?.elements,
      elements.count == items.count
    else { return }
    var first: [String: (path: String, location: SourceLocation)] = [:]
    for (item, element) in zip(items, elements) {
      guard let saveTo = item.saveTo, let written = element["save_to"] else { continue }
      let path = ManifestFiles.path(saveTo, from: "")
      guard let other = first[path.lowercased()] else {
        first[path.lowercased()] = (path, written.location)
        continue
      }
      report(
        .invalidPath, at: written.location,
        path == other.path
          ? "another item of this batch is saved to the same file"
          : "another item of this batch is saved to a path that differs only in case",
        help: "specify a separate file for each item",
        notes: [.init("the other item is here", at: other.location)],
        use: written.use ?? node.use)
    }
  }
}
