/// The values given on the command line: `--var`, and the files of `--vars-file`.
struct GivenVariables: Sendable {
  struct Value: Sendable {
    var text: String
    /// The location of the name in a file; nil for `--var`.
    var key: SourceLocation?
    var location: SourceLocation?
  }

  private(set) var values: [String: Value] = [:]
  /// Variables whose value in a file is not a string. This has been reported.
  private(set) var broken: Set<String> = []
  private(set) var sources: [SourceText] = []
  private(set) var diagnostics: [Diagnostic] = []

  /// - Parameters:
  ///   - variables: the values of `--var`, which take precedence.
  ///   - files: mappings of names to scalars; each scalar is a string as written. A later file takes
  ///     precedence.
  init(_ variables: [String: String], files: [SourceText]) {
    for source in files {
      sources.append(source)
      let document = YAMLDocument(source)
      diagnostics += document.diagnostics
      guard let root = document.root else { continue }
      guard let members = root.members else {
        diagnostics.append(
          Diagnostic(
            .wrongType, at: root.location, "a variables file must be a mapping, found \(root.kindName)",
            help: "write 'name: value' lines"))
        continue
      }
      for member in members {
        guard let scalar = member.value.scalar, !member.value.isNull else {
          diagnostics.append(
            Diagnostic(
              .wrongType, at: member.value.location,
              "\(member.key.value.quoted) must be a string, found \(member.value.kindName)",
              help: "write a single scalar as the value"))
          broken.insert(member.key.value)
          continue
        }
        broken.remove(member.key.value)
        values[member.key.value] = Value(
          text: scalar.text, key: member.key.location, location: member.value.location)
      }
    }
    for (name, text) in variables { values[name] = Value(text: text) }
    broken.subtract(variables.keys)
  }
}
