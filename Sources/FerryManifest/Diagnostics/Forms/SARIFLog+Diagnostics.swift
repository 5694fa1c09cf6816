extension SARIFLog {
  /// One run of ferry over a set of manifests. All codes are listed as rules, including codes without
  /// results.
  ///
  /// - Parameters:
  ///   - sources: the sources to which diagnostics refer, used to find the end of a value.
  ///   - version: ferry's version.
  package init(_ diagnostics: [Diagnostic], sources: [SourceText], version: String) {
    let codes = DiagnosticCode.allCases
    let index = Dictionary(uniqueKeysWithValues: codes.enumerated().map { ($0.element, $0.offset) })
    let driver = Driver(name: "ferry", version: version, rules: codes.map(Rule.init))
    self.init(runs: [
      Run(
        tool: Tool(driver: driver),
        results: diagnostics.map { Result($0, ruleIndex: index[$0.code] ?? -1, sources: sources) })
    ])
  }
}

extension SARIFLog.Rule {
  fileprivate init(_ code: DiagnosticCode) {
    let explanation = code.explanation
    self.init(
      id: code.rawValue, name: code.pascalName,
      shortDescription: .init(text: explanation.title + "."),
      fullDescription: .init(text: explanation.plainText),
      // The plain text omits the examples, because viewers may show it on one line.
      help: .init(
        text: explanation.plainText,
        markdown: explanation.plainText + "\n" + DiagnosticReference.examples(explanation)),
      defaultConfiguration: .init(level: .init(code.severity)))
  }
}

extension SARIFLog.Level {
  fileprivate init(_ severity: Diagnostic.Severity) {
    switch severity {
    case .error: self = .error
    case .warning: self = .warning
    }
  }
}

extension SARIFLog.Result {
  fileprivate init(_ diagnostic: Diagnostic, ruleIndex: Int, sources: [SourceText]) {
    // §3.11.5 requires doubled braces, because single braces mark `arguments`. Messages here have no
    // arguments, so their braces are not doubled: readers such as GitHub show `{{` unchanged, and `${{…}}`
    // would have another meaning there.
    let help = diagnostic.help.map { "\nhelp: \($0)" } ?? ""
    let notes = diagnostic.notes.map {
      SARIFLog.Location($0.location, sources: sources, message: $0.message)
    }
    self.init(
      ruleId: diagnostic.code.rawValue, ruleIndex: ruleIndex, level: .init(diagnostic.severity),
      message: .init(text: diagnostic.message + help),
      locations: [.init(diagnostic.location, sources: sources)],
      relatedLocations: notes.isEmpty ? nil : notes)
  }
}

extension SARIFLog.Location {
  fileprivate init(_ location: SourceLocation, sources: [SourceText], message: String? = nil) {
    self.init(
      physicalLocation: .init(
        artifactLocation: .init(uri: URIReference.text(path: location.file)),
        region: .init(
          startLine: location.line, startColumn: location.column,
          endColumn: sources.endColumn(of: location))),
      message: message.map { .init(text: $0) })
  }
}
