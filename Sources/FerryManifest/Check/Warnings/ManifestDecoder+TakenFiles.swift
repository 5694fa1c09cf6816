extension ManifestDecoder {
  /// F0710. Reports each upload that deletes or moves its files, with the first other upload that may have
  /// the same files.
  ///
  /// There is no warning if the upload waits for the other one, unless the other one also deletes or moves files.
  mutating func warnOfTakenFiles(_ manifest: Manifest) {
    var reported: Set<SourceLocation> = []
    let dependencies = dependencies
    for upload in manifest.uploads where upload.after != .keep {
      let needed = dependencies.everythingNeeded(by: .node(upload.name.value))
      guard
        let other = manifest.uploads.first(where: { other in
          other.name.value != upload.name.value && upload.mayShareFiles(with: other)
            && !(other.after == .keep && needed.contains(.node(other.name.value)))
        }), let written = declared.declaration(upload.name.value, in: .uploads)?.node["after"],
        reported.insert(written.location).inserted
      else { continue }
      warn(
        .takenFiles, at: written.location,
        "upload \(other.name.value.quoted) might not have sent these files before they are removed",
        help: other.after == .keep
          ? "add \(other.name.value.quoted) to 'needs' of this upload, or select different files in each"
          : "select different files in each upload",
        notes: [
          .init("\(other.name.value.quoted) sends files from the same folder", at: other.name.location)
        ],
        use: written.use)
    }
  }
}

extension Upload {
  /// Whether a file may belong to both uploads: their folders are the same or nested, and the beginnings and
  /// ends of their patterns are compatible.
  ///
  /// Returns `false` for different lists, or a list and patterns, because the contents of lists are unknown.
  fileprivate func mayShareFiles(with other: Upload) -> Bool {
    if case .list(let list, _) = files.source, case .list(let others, _) = other.files.source {
      return list == others && folder == other.folder
    }
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

  /// The path components of `root`, after the folder in which the path begins: `/`, `~`, `..` or `.`.
  private var folder: [Substring] {
    let path = ManifestFiles.path(files.root, from: "")
    let names = PathLetters(path).parts
    if PathLetters(path).isAbsolute { return ["/"] + names }
    return names.first == "~" || names.first == ".." ? names : ["."] + names
  }

  /// Whether a folder inside the root is never listed because delivered files are moved there or because it
  /// is excluded.
  private func keepsApart(_ inner: [Substring]) -> Bool {
    guard inner.starts(with: folder), case .globs(_, let exclude) = files.source else { return false }
    let path = inner.dropFirst(folder.count)
    if case .moveTo(let target) = after {
      let put = PathLetters(ManifestFiles.path(target, from: "")).parts
      if path.starts(with: put) { return true }
    }
    guard !path.isEmpty else { return false }
    return exclude.contains(path.joined(separator: "/") + "/**")
  }

  /// The literal beginning of every name that the pattern matches.
  private static func beginning(_ glob: String) -> Substring { glob.prefix { !special.contains($0) } }

  /// The literal end of every name that the pattern matches; empty if it cannot be determined simply.
  private static func ending(_ glob: String) -> Substring {
    let last = glob.lastIndex { special.contains($0) }
    return last.map { glob[glob.index(after: $0)...] } ?? glob[...]
  }

  private static let special: Set<Character> = ["*", "?", "[", "]", "{", "}", "\\"]
}
