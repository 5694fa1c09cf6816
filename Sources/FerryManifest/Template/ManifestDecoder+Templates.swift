extension ManifestDecoder {
  /// Reads a text with references; what is known before a run is put in.
  mutating func template(_ node: YAMLNode, wanted: String = "a text") -> Template? {
    guard let scalar = node.scalar, !node.isNull else {
      mismatch(node, wanted: wanted)
      return nil
    }
    let scanner = TemplateScanner(scalar, at: node.location, in: source(of: node.location))
    for diagnostic in scanner.diagnostics { report(diagnostic) }
    var isWhole = scanner.diagnostics.isEmpty
    var segments: [Template.Segment] = []
    for piece in scanner.pieces {
      switch piece {
      case .text(let text):
        segments.append(.literal(text))
      case .expression(let expression, let location):
        if let segment = segment(expression, at: location) {
          segments.append(segment)
        } else {
          isWhole = false
        }
      }
    }
    return isWhole ? Template(joining: segments) : nil
  }

  /// Reads a text that must be settled before a run.
  mutating func constant(_ node: YAMLNode, wanted: String = "a text") -> String? {
    let outer = place
    place = .constant
    defer { place = outer }
    return template(node, wanted: wanted)?.constant
  }

  /// A scalar with `vars` and `env` put in: a text that is references alone is read as if it stood there plain.
  mutating func settled(_ node: YAMLNode) -> YAMLScalar? {
    guard var scalar = node.scalar, scalar.value == .string, scalar.text.hasPrefix("${") else {
      return node.scalar
    }
    guard let text = constant(node) else { return nil }
    scalar.text = text
    scalar.style = .plain
    scalar.forcedType = nil
    return scalar
  }

  mutating func report(_ diagnostic: Diagnostic) {
    report(
      diagnostic.code, at: diagnostic.location, diagnostic.message, help: diagnostic.help,
      notes: diagnostic.notes)
  }

  // MARK: - One reference

  /// - Returns: nil where something is wrong with it, and has been told.
  private mutating func segment(_ expression: String, at location: SourceLocation) -> Template.Segment? {
    let (family, rest) = Self.split(expression)
    switch family {
    case "env":
      return environmentValue(rest, at: location).map { .value($0) }
    case "vars":
      guard !rest.isEmpty else {
        report(.incompleteReference, at: location, "'${vars}' names no variable", help: "write ${vars.NAME}")
        return nil
      }
      guard case .text(let text) = variable(rest, at: location) else { return nil }
      return .literal(text)
    default:
      guard let family = Reference.Family(rawValue: family) else {
        let known = ["vars", "env"] + Reference.Family.allCases.map(\.rawValue)
        report(
          .unknownReference, at: location, "\("${\(expression)}".quoted) names nothing",
          help: suggestion(for: family, among: known).map {
            "\($0) A reference begins with one word and a dot"
          }
            ?? "a reference begins with \(known.map { "\($0)." }.alternatives(quoted: false))")
        return nil
      }
      guard place.families.contains(family) else {
        refuse(family, expression, at: location)
        return nil
      }
      guard let reference = reference(family, rest, at: location) else { return nil }
      referenceUses.append(ReferenceUse(reference: Located(reference, at: location), place: place))
      return .reference(reference)
    }
  }

  private static func split(_ expression: String) -> (family: String, rest: String) {
    guard let dot = expression.firstIndex(of: ".") else { return (expression, "") }
    return (String(expression[..<dot]), String(expression[expression.index(after: dot)...]))
  }

  private mutating func refuse(_ family: Reference.Family, _ expression: String, at location: SourceLocation)
  {
    let reference = "${\(expression)}".quoted
    switch place {
    case .constant:
      report(
        .referenceOutOfPlace, at: location,
        "\(reference) has no value before a run, and \(owner.value.quoted) needs one",
        help: "use ${vars.NAME} or ${env.NAME} here")
    case .session, .token, .apply, .upload, .fetch, .request:
      let known = (["vars", "env"] + place.families.map(\.rawValue)).map { "\($0).…" }
      report(
        .referenceOutOfPlace, at: location, "\(reference) has no value \(place.name)",
        help: "references here are \(known.alternatives(quoted: false))")
    }
  }

  private mutating func reference(
    _ family: Reference.Family, _ rest: String, at location: SourceLocation
  ) -> Reference? {
    guard !rest.isEmpty else {
      report(
        .incompleteReference, at: location, "'${\(family.rawValue)}' says too little",
        help: "write ${\(family.rawValue).NAME}")
      return nil
    }
    switch family {
    case .secrets: return .secret(rest)
    case .token: return .token(rest)
    case .allocate: return .allocate(rest)
    case .transfer: return .transfer(rest)
    case .file:
      if let field = Reference.FileField(rawValue: rest) { return .file(field) }
      unknown(rest, of: family, known: Reference.FileField.allCases.map(\.rawValue), at: location)
      return nil
    case .run:
      if let field = Reference.RunField(rawValue: rest) { return .run(field) }
      unknown(rest, of: family, known: Reference.RunField.allCases.map(\.rawValue), at: location)
      return nil
    case .requests:
      let (name, capture) = Self.split(rest)
      if !capture.isEmpty { return .request(name: name, capture: capture) }
      report(
        .incompleteReference, at: location, "\("${requests.\(rest)}".quoted) names no capture",
        help: "write ${requests.NAME.CAPTURE}")
      return nil
    }
  }

  private mutating func unknown(
    _ name: String, of family: Reference.Family, known: [String], at location: SourceLocation
  ) {
    report(
      .unknownReference, at: location, "\("${\(family.rawValue).\(name)}".quoted) names nothing",
      help: suggestion(for: name, among: known)
        ?? "there is \(known.map { "\(family.rawValue).\($0)" }.alternatives(quoted: false))")
  }
}

// MARK: - vars and env

extension ManifestDecoder {
  /// `NAME` or `NAME:-default`; as in the shell, the default stands for an empty variable too.
  private mutating func environmentValue(_ expression: String, at location: SourceLocation) -> String? {
    let mark = expression.firstRange(of: ":-")
    let name = String(expression[..<(mark?.lowerBound ?? expression.endIndex)])
    let fallback = mark.map { String(expression[$0.upperBound...]) }
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 != 0x3D && $0 > 0x20 }) else {
      report(
        .invalidEnvironmentName, at: location,
        "\("${env.\(expression)}".quoted) names no environment variable",
        help: "write ${env.NAME} or ${env.NAME:-default}")
      return nil
    }
    guard fallback?.contains("${") != true else {
      report(
        .referenceInDefault, at: location, "a default cannot have a reference in it",
        help: "give the default as it is, or choose it in 'vars'")
      return nil
    }
    variables.environmentUses.append(
      EnvironmentUse(name: name, location: location, hasDefault: fallback != nil, isSecret: false))
    if let value = variables.environment[name], !value.isEmpty || fallback == nil {
      return spend(value, at: location)
    }
    if let fallback { return spend(fallback, at: location) }
    report(
      .environmentNotSet, at: location, "the environment variable \(name.quoted) is not set",
      help: "set it, or give a default: ${env.\(name.clipped):-default}")
    return nil
  }

  /// The value of a variable, put together at its first use.
  mutating func variable(_ name: String, at location: SourceLocation) -> Variables.Value {
    if let known = variables.resolved[name] {
      guard case .text(let text) = known else { return .broken }
      return spend(text, at: location).map(Variables.Value.text) ?? .broken
    }
    guard let written = variables.written else { return .broken }
    guard let node = written[name] else {
      report(
        .unknownVariable, at: location, "no variable is called \(name.quoted)",
        help: suggestion(for: name, among: written.keys.sorted()) ?? "declare it under 'vars:'")
      return .broken
    }
    if let override = variables.overrides[name] {
      variables.resolved[name] = .text(override)
      return spend(override, at: location).map(Variables.Value.text) ?? .broken
    }
    guard !variables.underway.contains(where: { $0.value == name }) else {
      reportCircle(name, at: location)
      return .broken
    }
    guard variables.underway.count < Variables.deepest else {
      report(
        .variablesTooDeep, at: location, "variables use each other more than \(Variables.deepest) deep",
        help: "write some of the values out")
      return .broken
    }
    variables.underway.append(Located(name, at: location))
    let outer = owner
    owner = Located(name, at: node.location)
    let value = constant(node).map(Variables.Value.text) ?? .broken
    owner = outer
    variables.underway.removeLast()
    variables.resolved[name] = value
    guard case .text(let text) = value else { return .broken }
    return spend(text, at: location).map(Variables.Value.text) ?? .broken
  }

  private mutating func reportCircle(_ name: String, at location: SourceLocation) {
    let circle = variables.underway.drop { $0.value != name }
    let path = (circle.map(\.value) + [name]).map(\.clipped).joined(separator: " → ")
    report(
      .variableCircle, at: location, "variables go in a circle: \(path)",
      help: "give one of them a value of its own",
      notes: circle.dropFirst().map { .init("\($0.value.quoted) is used here", at: $0.location) })
  }

  /// Refuses a manifest whose variables double and double again.
  private mutating func spend(_ text: String, at location: SourceLocation) -> String? {
    variables.budget -= text.utf8.count
    guard variables.budget < 0 else { return text }
    // Once is enough: everything behind it is over the budget as well.
    if variables.budget + text.utf8.count >= 0 {
      report(
        .variablesTooLarge, at: location, "variables stand for more than 64 MiB of text in all",
        help: "variables that use others several times grow fast; shorten them")
    }
    return nil
  }
}

extension Template {
  /// Neighbouring literals become one: where a variable begins is of no interest to a run.
  fileprivate init(joining segments: [Segment]) {
    var joined: [Segment] = []
    var literal = ""
    for segment in segments {
      switch segment {
      case .literal(let text):
        literal += text
        continue
      case .value(""):
        continue
      case .value, .reference:
        if !literal.isEmpty { joined.append(.literal(literal)) }
        literal = ""
        joined.append(segment)
      }
    }
    if !literal.isEmpty { joined.append(.literal(literal)) }
    self.init(joined)
  }
}
