/// A complete YAML document. Unusable parts are reported in `diagnostics`.
package struct YAMLDocument: Sendable {
  /// The top-level value; nil for an empty document, or if the text ends prematurely.
  package var root: YAMLNode?
  package var diagnostics: [Diagnostic]

  package init(_ source: SourceText) {
    if let unreadable = source.unreadable() {
      self.init(root: nil, diagnostics: [unreadable])
      return
    }
    var composer = YAMLComposer(source)
    let problem = YAMLEvent.forEach(in: source) { composer.handle($0) }
    var diagnostics = Array(composer.diagnostics.prefix(Diagnostic.mostReported))
    if let problem { diagnostics.append(problem) }
    if diagnostics.isEmpty, composer.root == nil {
      diagnostics.append(
        Diagnostic(
          .emptyManifest, at: source.start, "the manifest is empty",
          help: "begin with 'version: 1' and 'name: …'"))
    }
    // An incomplete tree would cause errors about parts that were not read.
    self.init(root: problem == nil && !composer.isBroken ? composer.root : nil, diagnostics: diagnostics)
  }

  private init(root: YAMLNode?, diagnostics: [Diagnostic]) {
    self.root = root
    self.diagnostics = diagnostics
  }
}
