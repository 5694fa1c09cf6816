/// What a diagnostic's code means: told by `ferry explain`, in `docs/diagnostics.md` and to tools that read SARIF.
package struct Explanation: Equatable, Sendable {
  /// One line without a full stop.
  package var title: String
  /// Two to five sentences: what it means, why it is a mistake, and what to do.
  package var text: String
  /// A manifest with this diagnostic and no other; nil where none can stand on a page.
  package var wrong: Example?
  /// The same manifest, mended.
  package var right: Example?

  /// A small manifest, whole, and what it is read with.
  package struct Example: Equatable, Sendable {
    package var manifest: String
    /// Given with `--var`.
    package var variables: [String: String] = [:]
    /// The texts of files that lie beside the manifest, by their paths.
    package var beside: [String: String] = [:]
  }

  /// Stands in a manifest for what is first wrong and then mended.
  private static let gap = "◊"

  /// - Parameter manifest: the whole example, with `◊` for what differs, wherever it stands.
  init(_ title: String, _ text: String, in manifest: String, wrong: String, right: String) {
    self.init(
      title, text, wrong: Example(manifest: manifest.replacing(Self.gap, with: wrong) + "\n"),
      right: Example(manifest: manifest.replacing(Self.gap, with: right) + "\n"))
  }

  init(_ title: String, _ text: String, wrong: Example? = nil, right: Example? = nil) {
    self.title = title
    self.text = text
    self.wrong = wrong
    self.right = right
  }

  /// The text without Markdown's links, for a terminal.
  package var plainText: String {
    text.replacing(/\[([^\]]+)\]\(([^)]+)\)/) { "\($0.output.1) (docs/\($0.output.2))" }
  }
}
