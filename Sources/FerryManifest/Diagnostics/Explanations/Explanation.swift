/// The meaning of a diagnostic code, for `ferry explain`, `docs/diagnostics.md` and tools that read SARIF.
package struct Explanation: Equatable, Sendable {
  /// One line without a period at its end.
  package var title: String
  /// Two to five sentences: the meaning of the code, the reason why this is a mistake, and the remedy.
  package var text: String
  /// A manifest with this diagnostic and no other; nil if no printable manifest can have only this
  /// diagnostic.
  package var wrong: Example?
  /// The same manifest, corrected.
  package var right: Example?

  /// A small but complete manifest, with the variables and files that it needs.
  package struct Example: Equatable, Sendable {
    package var manifest: String
    /// The values of `--var`.
    package var variables: [String: String] = [:]
    /// The contents of the files next to the manifest, by path.
    package var beside: [String: String] = [:]
  }

  /// The placeholder for the part of a manifest that differs between the wrong and the right example.
  private static let gap = "◊"

  /// - Parameter manifest: the whole example, with `◊` in place of each part that differs.
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

  /// The text without Markdown links, for terminals.
  package var plainText: String {
    text.replacing(/\[([^\]]+)\]\(([^)]+)\)/) { "\($0.output.1) (docs/\($0.output.2))" }
  }
}
