/// What a reading carries along: the place it has come to, what was found wrong, and what names were met.
struct ManifestDecoder {
  /// More mistakes than this are not told: nobody reads them, and hostile text could have millions.
  static let mostDiagnostics = 1_000

  let source: SourceText
  private(set) var diagnostics: [Diagnostic] = []
  /// The key whose value is being read.
  var owner: Located<String>
  /// An example of the declared key whose value is being read, for help.
  var example: (key: String, value: String)?
  /// Which references may be used here.
  var place = Place.constant
  var variables: Variables
  /// Nodes, tokens, sessions and secrets by name.
  var declared = DeclaredNames()
  /// Where the manifest names one of them.
  var nameUses: [NameUse] = []
  /// Where it refers to a value of the run.
  var referenceUses: [ReferenceUse] = []

  init(_ source: SourceText, variables: Variables) {
    self.source = source
    self.variables = variables
    owner = Located("", at: source.start)
  }

  mutating func report(
    _ code: DiagnosticCode, at location: SourceLocation, _ message: String, help: String? = nil,
    notes: [Diagnostic.Note] = []
  ) {
    guard diagnostics.count < Self.mostDiagnostics else { return }
    diagnostics.append(Diagnostic(code, at: location, message, help: help, notes: notes))
  }

  mutating func report(_ problem: Problem, at location: SourceLocation) {
    report(problem.code, at: location, problem.message, help: problem.help)
  }

  /// Told of a value that is not what its key wants.
  mutating func mismatch(_ node: YAMLNode, wanted: String, help: String? = nil) {
    let subject = owner.value.isEmpty ? "the manifest" : owner.value.quoted
    report(
      .wrongType, at: node.location, "\(subject) must be \(wanted), found \(node.kindName)",
      help: help ?? exampleHelp ?? "write \(wanted)")
  }

  /// What the key that is being read looks like where it is right.
  var exampleHelp: String? {
    guard let example, example.key == owner.value else { return nil }
    return "for example '\(example.key): \(example.value)'"
  }

  /// "did you mean"; only for the first mistakes of a hopeless text, since it looks at all names each time.
  func suggestion(for name: String, among known: @autoclosure () -> some Collection<String>) -> String? {
    diagnostics.count < 500 ? NearestName.suggestion(for: name, among: known().prefix(1_000)) : nil
  }
}
