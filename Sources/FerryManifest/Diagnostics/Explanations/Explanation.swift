/// What a diagnostic code means: for `ferry explain`, `docs/diagnostics.md` and tools that read SARIF.
package struct Explanation: Equatable, Sendable {
  /// One line without a period at its end.
  package var title: String
  /// Two to five sentences: what it means, why it is a mistake, and what to do.
  package var text: String
  /// A manifest with this diagnostic and no other; nil if no printable manifest has it.
  package var wrong: Example?
  /// The same manifest, corrected.
  package var right: Example?

  /// A small, complete manifest, with the variables and files that it is read with.
  package struct Example: Equatable, Sendable {
    package var manifest: String
    /// Set with `--var`.
    package var variables: [String: String] = [:]
    /// The contents of the files next to the manifest, by path.
    package var beside: [String: String] = [:]
  }

  /// The placeholder in a manifest for the part that differs between the wrong and the right example.
  private static let gap = "◊"

  /// - Parameter manifest: the whole example, with `◊` at each place that differs.
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
