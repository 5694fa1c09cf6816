/// The files that an upload includes.
package struct FileSelection: Hashable, Codable, Sendable {
  /// The base folder, relative to the manifest's folder; `~/` is the home directory.
  package var root: String
  package var source: Source

  package enum Source: Hashable, Codable, Sendable {
    /// Globs for paths relative to `root`. `*` and `?` do not match a slash, but `**` does; `[…]` and `{a,b}`
    /// match alternatives.
    case globs(include: [String], exclude: [String])
    /// Paths relative to `root`, one per line or NUL-terminated, read from a file, or from standard input
    /// for `-`.
    case list(String, nullSeparated: Bool)
    /// The items of a download batch, whose paths are relative to the manifest's folder.
    case items(DownloadItems)
  }

  package init(root: String, source: Source) {
    self.root = root
    self.source = source
  }
}
