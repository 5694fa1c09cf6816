/// Which files an upload takes.
package struct FileSelection: Hashable, Codable, Sendable {
  /// Relative to the manifest's folder; `~/` is the home folder.
  package var root: String
  package var source: Source

  package enum Source: Hashable, Codable, Sendable {
    /// Globs over paths relative to `root`: `*` and `?` stop at a slash, `**` does not, `[…]`, `{a,b}`.
    case globs(include: [String], exclude: [String])
    /// Paths relative to `root`, one a line or NUL-separated, from a file or `-`, the standard input.
    case list(String, nullSeparated: Bool)
  }

  package init(root: String, source: Source) {
    self.root = root
    self.source = source
  }
}
