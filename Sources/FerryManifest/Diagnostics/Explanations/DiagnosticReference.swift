/// The reference page of the diagnostics and the text of `ferry explain`, generated from the explanations.
package enum DiagnosticReference {
  /// `docs/diagnostics.md`.
  package static func markdown() -> String {
    var page = introduction
    for family in DiagnosticCode.Family.allCases {
      page += "\n## \(family.title)\n"
      for code in family.codes { page += "\n" + section(code) }
    }
    return page
  }

  /// The explanation of one code, for a terminal.
  package static func text(_ code: DiagnosticCode) -> String {
    let explanation = code.explanation
    var text = "\(code.rawValue) (\(code.severity.rawValue)): \(explanation.title)\n\n"
    text += wrapped(explanation.plainText) + "\n"
    for (heading, example) in [("wrong", explanation.wrong), ("right", explanation.right)] {
      guard let example else { continue }
      text += "\n\(heading)\(condition(example)):\n\n"
      for (file, content) in files(example) {
        if let file { text += "  # \(file)\n" }
        text += content.split(separator: "\n").map { "  \($0)\n" }.joined()
      }
    }
    return text
  }

  /// All codes with their titles, one per line.
  package static func list() -> String {
    DiagnosticCode.allCases.map { "\($0.rawValue)  \($0.explanation.title)\n" }.joined()
  }

  /// The examples of a code as Markdown.
  static func examples(_ explanation: Explanation) -> String {
    var text = ""
    for (heading, example) in [("Wrong", explanation.wrong), ("Right", explanation.right)] {
      guard let example else { continue }
      text += "\n\(heading)\(condition(example, quote: "`")):\n"
      for (file, content) in files(example) {
        text += "\n```yaml\n\(file.map { "# \($0)\n" } ?? "")\(content)```\n"
      }
    }
    return text
  }

  private static func section(_ code: DiagnosticCode) -> String {
    let explanation = code.explanation
    return "### \(code.rawValue)\n\n**\(explanation.title).** \(explanation.text)\n" + examples(explanation)
  }

  /// The command-line options with which an example is read, if there are any.
  private static func condition(_ example: Explanation.Example, quote: String = "") -> String {
    guard !example.variables.isEmpty else { return "" }
    let options = example.variables.sorted { $0.key < $1.key }.map { "--var \($0.key)=\($0.value)" }
    return ", with \(quote)\(options.joined(separator: " "))\(quote)"
  }

  /// The sources of an example, with their file names if there are several.
  private static func files(_ example: Explanation.Example) -> [(file: String?, content: String)] {
    guard !example.beside.isEmpty else { return [(nil, example.manifest)] }
    return [("photos.yaml", example.manifest)]
      + example.beside.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Wraps the text into lines of at most 80 characters.
  private static func wrapped(_ text: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > 80 {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).joined(separator: "\n")
  }

  private static let introduction = """
    <!-- Generated from Sources/FerryManifest/Diagnostics/Explanations. Do not edit; see ExplanationTests. -->
    # Diagnostics

    Each diagnostic that `ferry check` prints has a code in brackets, such as `[F0201]`. A code always identifies the \
    same kind of mistake; the wording of its message may change. `ferry explain F0201` prints the text below in a \
    terminal.

    A manifest with an error is invalid: nothing is run, and ferry exits with 3. A manifest with a warning is valid and \
    runs.

    """
}
