import FerryManifest

/// What `ferry explain --format json` writes of a code; its keys are an interface.
struct ExplanationRecord: Encodable {
  var code: DiagnosticCode
  var severity: Diagnostic.Severity
  var title: String
  /// Markdown.
  var text: String
  var wrong: Example?
  var right: Example?

  struct Example: Encodable {
    var manifest: String
    /// Given with `--var`.
    var variables: [String: String]
    /// The texts of files beside the manifest, by their paths.
    var beside: [String: String]

    init(_ example: Explanation.Example) {
      manifest = example.manifest
      variables = example.variables
      beside = example.beside
    }
  }

  init(_ code: DiagnosticCode) {
    let explanation = code.explanation
    self.code = code
    severity = code.severity
    title = explanation.title
    text = explanation.text
    wrong = explanation.wrong.map(Example.init)
    right = explanation.right.map(Example.init)
  }
}
