import FerryManifest

/// A diagnostic code in the output of `ferry explain --format json`. The JSON keys are a stable public
/// interface.
struct ExplanationRecord: Encodable {
  var code: DiagnosticCode
  var severity: Diagnostic.Severity
  var title: String
  /// The explanation in Markdown.
  var text: String
  var wrong: Example?
  var right: Example?

  struct Example: Encodable {
    var manifest: String
    /// The values of `--var`.
    var variables: [String: String]
    /// The contents of the files that the manifest uses, by path.
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
