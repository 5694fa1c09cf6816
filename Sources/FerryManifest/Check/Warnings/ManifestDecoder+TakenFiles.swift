extension ManifestDecoder {
  /// F0710. Of each upload that deletes or moves its files, with the first other one whose files these may be.
  ///
  /// It is fine where it waits for the other, unless that one takes files away too.
  mutating func warnOfTakenFiles(_ manifest: Manifest) {
    var told: Set<SourceLocation> = []
    let dependencies = dependencies
    for upload in manifest.uploads where upload.after != .keep {
      let needed = dependencies.everythingNeeded(by: .node(upload.name.value))
      guard
        let other = manifest.uploads.first(where: { other in
          other.name.value != upload.name.value && upload.mayShareFiles(with: other)
            && !(other.after == .keep && needed.contains(.node(other.name.value)))
        }), let written = declared.declaration(upload.name.value, in: .uploads)?.node["after"],
        told.insert(written.location).inserted
      else { continue }
      warn(
        .takenFiles, at: written.location,
        "the upload \(other.name.value.quoted) may not have sent these files when they are taken away",
        help: other.after == .keep
          ? "let this upload need \(other.name.value.quoted), or give each its own files"
          : "give each its own files",
        notes: [.init("\(other.name.value.quoted) takes files of the same folder", at: other.name.location)],
        use: written.use)
    }
  }
}

extension Upload {
  /// Whether a file may be of both: by folders that are the same or nested, and by how their patterns begin and end.
  ///
  /// What an explicit list names is not known.
  fileprivate func mayShareFiles(with other: Upload) -> Bool {
    guard case .globs(let own, _) = files.source, case .globs(let others, _) = other.files.source else {
      return false
    }
    let (root, otherRoot) = (folder, other.folder)
    guard root.starts(with: otherRoot) || otherRoot.starts(with: root) else { return false }
    if keepsApart(otherRoot) || other.keepsApart(root) { return false }
    return own.contains { glob in
      others.contains { other in
        let (end, otherEnd) = (Self.ending(glob), Self.ending(other))
        guard end.hasSuffix(otherEnd) || otherEnd.hasSuffix(end) else { return false }
        let (begin, otherBegin) = (Self.beginning(glob), Self.beginning(other))
        return root != otherRoot || begin.hasPrefix(otherBegin) || otherBegin.hasPrefix(begin)
      }
    }
  }

  /// The root's names, behind one for where they begin.
  private var folder: [Substring] {
    let path = ManifestFiles.path(files.root, from: "")
    let names = path.split(separator: "/")
    if path.hasPrefix("/") { return ["/"] + names }
    return names.first == "~" || names.first == ".." ? names : ["."] + names
  }

  /// Whether a folder inside the root is one that is not listed: where delivered files go, or one that is excluded.
  private func keepsApart(_ inner: [Substring]) -> Bool {
    guard inner.starts(with: folder), case .globs(_, let exclude) = files.source else { return false }
    let path = inner.dropFirst(folder.count)
    if case .moveTo(let target) = after {
      let put = ManifestFiles.path(target, from: "").split(separator: "/")
      if path.starts(with: put) { return true }
    }
    guard !path.isEmpty else { return false }
    return exclude.contains(path.joined(separator: "/") + "/**")
  }

  /// What every name has at its beginning that the pattern takes.
  private static func beginning(_ glob: String) -> Substring { glob.prefix { !special.contains($0) } }

  /// What every name has at its end that the pattern takes; nothing where that is not plain to see.
  private static func ending(_ glob: String) -> Substring {
    let last = glob.lastIndex { special.contains($0) }
    return last.map { glob[glob.index(after: $0)...] } ?? glob[...]
  }

  private static let special: Set<Character> = ["*", "?", "[", "]", "{", "}", "\\"]
}
