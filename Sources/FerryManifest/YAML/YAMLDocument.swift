/// One YAML document, read whole; what could not be used is told by `diagnostics`.
package struct YAMLDocument: Sendable {
  /// Nil for an empty document, and where the text ends in the middle of something.
  package var root: YAMLNode?
  package var diagnostics: [Diagnostic]

  package init(_ source: SourceText) {
    if let unreadable = source.unreadable() {
      self.init(root: nil, diagnostics: [unreadable])
      return
    }
    var composer = YAMLComposer(source)
    let problem = YAMLEvent.forEach(in: source) { composer.handle($0) }
    var diagnostics = Array(composer.diagnostics.prefix(ManifestDecoder.mostDiagnostics))
    if let problem { diagnostics.append(problem) }
    if diagnostics.isEmpty, composer.root == nil {
      diagnostics.append(
        Diagnostic(
          .emptyManifest, at: source.start, "the manifest is empty",
          help: "begin with 'version: 1' and 'name: …'"))
    }
    // A tree that broke off in the middle would call forth errors about what is only not read.
    self.init(root: problem == nil && !composer.isBroken ? composer.root : nil, diagnostics: diagnostics)
  }

  private init(root: YAMLNode?, diagnostics: [Diagnostic]) {
    self.root = root
    self.diagnostics = diagnostics
  }
}
