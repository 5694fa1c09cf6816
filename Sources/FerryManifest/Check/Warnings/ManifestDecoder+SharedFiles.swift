extension ManifestDecoder {
  /// F0707. Reports fetches, and items of download batches in the manifest, that save to the same file.
  mutating func warnOfSharedFiles(_ manifest: Manifest) {
    var first: [String: SavedFile] = [:]
    for file in savedFiles(manifest) {
      let path = ManifestFiles.path(file.saveTo, from: "")
      guard let other = first[path] else {
        first[path] = file
        continue
      }
      // Two items of one batch are an error.
      guard other.node.value != file.node.value else { continue }
      // If both take the path from the same line, the note refers to the other one's name.
      let isSameLine = other.written.location == file.written.location
      warn(
        .sharedSaveTo, at: file.written.location, "another \(other.kind) also saves to this file",
        help: "the two replace each other's file; give each a separate file",
        notes: [
          .init(
            "\(other.node.value.quoted) saves to the same file here",
            at: isSameLine ? other.node.location : other.written.location)
        ],
        use: file.written.use ?? file.use)
    }
  }

  /// A file that the manifest itself names.
  private struct SavedFile {
    var node: Located<String>
    var kind: String
    var saveTo: String
    /// The value of `save_to`.
    var written: YAMLNode
    var use: SourceLocation?
  }

  private func savedFiles(_ manifest: Manifest) -> [SavedFile] {
    let fetched = manifest.fetches.compactMap { fetch -> SavedFile? in
      guard let node = declared.declaration(fetch.name.value, in: .fetches)?.node,
        let written = node["save_to"]
      else { return nil }
      return SavedFile(
        node: fetch.name, kind: "fetch", saveTo: fetch.saveTo, written: written, use: node.use)
    }
    return fetched
      + manifest.downloads.flatMap { download -> [SavedFile] in
        guard case .written(let items) = download.items.source,
          let node = declared.declaration(download.name.value, in: .downloads)?.node,
          let elements = node["items"]?.elements
        else { return [] }
        return zip(items, elements).compactMap { item, element in
          guard let saveTo = item.saveTo, let written = element["save_to"] else { return nil }
          return SavedFile(
            node: download.name, kind: "download", saveTo: saveTo, written: written, use: node.use)
        }
      }
  }
}
