/// The source of a secret's value, read when a run starts. The value itself is never part of a manifest.
package struct Secret: Equatable, Sendable {
  package var name: Located<String>
  package var source: Source

  package enum Source: Equatable, Sendable {
    case environment(String)
    /// The contents of a file, with one trailing line break removed; the path is relative to the manifest's folder.
    case file(String)
  }

  package init(name: Located<String>, source: Source) {
    self.name = name
    self.source = source
  }
}
