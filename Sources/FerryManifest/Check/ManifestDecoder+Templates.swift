extension ManifestDecoder {
  /// Reads a string with references, and substitutes the values that are known before a run.
  mutating func template(_ node: YAMLNode, wanted: String = "a string") -> Template? {
    guard let scalar = node.scalar, !node.isNull else {
      mismatch(node, wanted: wanted)
      return nil
    }
    let scanner = TemplateScanner(scalar, at: node.location, in: source(of: node.location))
    for diagnostic in scanner.diagnostics { report(diagnostic) }
    var isWhole = scanner.diagnostics.isEmpty
    var segments: [Template.Segment] = []
    var isAnyFromOutside = false
    defer { isFromOutside = isAnyFromOutside }
    for piece in scanner.pieces {
      switch piece {
      case .text(let text):
        segments.append(.literal(text))
      case .expression(let expression, let location):
        isFromOutside = false
        defer { isAnyFromOutside = isAnyFromOutside || isFromOutside }
        if let segment = segment(expression, at: location) {
          segments.append(segment)
        } else {
          isWhole = false
        }
      }
    }
    return isWhole ? Template(joining: segments) : nil
  }

  /// Reads a string that must be known before a run.
  mutating func constant(_ node: YAMLNode, wanted: String = "a string") -> String? {
    let outer = place
    place = .constant
    defer { place = outer }
    return template(node, wanted: wanted)?.constant
  }

  /// Substitutes `vars` and `env` in a scalar, and returns its value. A string that begins with a reference
  /// is read as if its value were written there unquoted. If the node is not a scalar or has a mistake,
  /// reports this and returns nil.
  mutating func settled(_ node: YAMLNode, wanted: String, help: String? = nil) -> YAMLScalar.Value? {
    guard let scalar = node.scalar else {
      mismatch(node, wanted: wanted, help: help)
      return nil
    }
    guard scalar.value == .string, scalar.text.hasPrefix("${") else { return scalar.value }
    return constant(node).map(YAMLScalar.resolve)
  }

  /// Reads a key that the author chooses. `$${` means `${` in it, as in any string, but references are
  /// rejected.
  mutating func name(ofKey key: Located<String>) -> String {
    guard key.value.contains("${") else { return key.value }
    let scalar = YAMLScalar(text: key.value, style: .literal, isOnOneLine: false)
    let scanner = TemplateScanner(scalar, at: key.location, in: source(of: key.location))
    let texts = scanner.pieces.compactMap { if case .text(let text) = $0 { text } else { nil } }
    if texts.count != scanner.pieces.count || !scanner.diagnostics.isEmpty {
      report(
        .referenceOutOfPlace, at: key.location,
        "a key cannot contain a reference, found \(key.value.quoted)",
        help: "write a literal name, or '$${' for the characters '${'")
    }
    return texts.joined()
  }

  mutating func report(_ diagnostic: Diagnostic) {
    report(
      diagnostic.code, at: diagnostic.location, diagnostic.message, help: diagnostic.help,
      notes: diagnostic.notes)
  }

  // MARK: - One reference

  /// Reads the expression of one reference.
  ///
  /// - Returns: nil if there is a mistake, which has been reported.
  private mutating func segment(_ expression: String, at location: SourceLocation) -> Template.Segment? {
    let written = FilteredExpression(expression)
    let filters = filters(of: written, at: location)
    guard let segment = segment(unfiltered: written.reference, at: location), let filters else { return nil }
    switch segment {
    case .literal(let text):
      return filtered(text, filters, at: location).map { .literal($0) }
    case .value(let text):
      return filtered(text, filters, at: location).map {
        filters.arePercentEncoding ? .literal($0) : .value($0)
      }
    case .reference(let reference, _):
      return .reference(reference, filters: filters)
    }
  }

  /// Reads an expression without its filters.
  ///
  /// - Returns: nil if there is a mistake, which has been reported.
  private mutating func segment(
    unfiltered expression: String, at location: SourceLocation
  ) -> Template.Segment? {
    let (family, rest) = Self.split(expression)
    switch family {
    case "env":
      return environmentValue(rest, at: location).map { .value($0) }
    case "each":
      isFromOutside = each?.isFromOutside == true
      return eachText(rest, at: location).flatMap { spend($0, at: location) }.map { .literal($0) }
    case "vars":
      guard !rest.isEmpty else {
        report(
          .incompleteReference, at: location, "'${vars}' does not name a variable", help: "write ${vars.NAME}"
        )
        return nil
      }
      let value = variable(rest, at: location)
      isFromOutside = variables.fromOutside.contains(rest)
      guard case .text(let text) = value else { return nil }
      return .literal(text)
    default:
      guard let family = Reference.Family(rawValue: family) else {
        report(
          .unknownReference, at: location, "unknown reference \("${\(expression)}".quoted)",
          help: help(forUnknown: family, rest))
        return nil
      }
      guard place.families.contains(family) else {
        refuse(family, expression, at: location)
        return nil
      }
      guard let reference = reference(family, rest, at: location) else { return nil }
      if !isPartial {
        referenceUses.append(ReferenceUse(reference: Located(reference, at: location), place: place))
      }
      return .reference(reference)
    }
  }

  /// The reference that was probably meant by an expression with an unknown first word.
  private func help(forUnknown family: String, _ rest: String) -> String {
    let known = ["vars", "env", "each"] + Reference.Family.allCases.map(\.rawValue)
    let meant: String? =
      if rest.isEmpty {
        variables.names.contains(family)
          ? "vars.\(family)"
          : variables.environment[family] != nil || family == family.uppercased() ? "env.\(family)" : nil
      } else {
        nearest(to: family, among: known).map { "\($0).\(rest)" }
      }
    return meant.map { "did you mean \("${\($0)}".quoted)?" }
      ?? "a reference begins with \(known.alternatives(quoted: false)), followed by a dot"
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
        "\(reference) has no value before a run, but \(owner.value.quoted) requires one",
        help: "use ${vars.NAME} or ${env.NAME} here")
    case .session, .defaults, .token, .apply, .upload, .download, .fetch, .request, .onEnd:
      let known = (["vars", "env"] + place.families.map(\.rawValue)).map { "\($0).…" }
      report(
        .referenceOutOfPlace, at: location, "\(reference) has no value \(place.name)",
        help: "references allowed here: \(known.alternatives(quoted: false))")
    }
  }

  private mutating func reference(
    _ family: Reference.Family, _ rest: String, at location: SourceLocation
  ) -> Reference? {
    guard !rest.isEmpty else {
      reportIncomplete(family, at: location)
      return nil
    }
    switch family {
    case .secrets: return .secret(rest)
    case .token: return .token(rest)
    case .allocate: return .allocate(rest)
    case .transfer: return .transfer(rest)
    case .item: return .item(rest)
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
        .incompleteReference, at: location, "\("${requests.\(rest)}".quoted) does not name a capture",
        help: "write ${requests.\(rest.clipped).CAPTURE}")
      return nil
    }
  }

  private mutating func unknown(
    _ name: String, of family: Reference.Family, known: [String], at location: SourceLocation
  ) {
    report(
      .unknownReference, at: location, "unknown reference \("${\(family.rawValue).\(name)}".quoted)",
      help: nearest(to: name, among: known).map { "did you mean '${\(family.rawValue).\($0)}'?" }
        ?? "use \(known.map { "\(family.rawValue).\($0)" }.alternatives(quoted: false))")
  }

  private mutating func reportIncomplete(_ family: Reference.Family, at location: SourceLocation) {
    let (what, example) =
      switch family {
      case .secrets: ("secret", "NAME")
      case .token, .allocate, .transfer: ("capture", "CAPTURE")
      case .requests: ("request", "NAME.CAPTURE")
      case .file: ("property of the file", "name")
      case .item: ("field of the item", "name")
      case .run: ("property of the run", "id")
      }
    report(
      .incompleteReference, at: location, "'${\(family.rawValue)}' does not name a \(what)",
      help: "write ${\(family.rawValue).\(example)}")
  }
}

// MARK: - env

extension ManifestDecoder {
  /// Resolves `NAME` or `NAME:-default`. As in the shell, the default also replaces an empty variable.
  private mutating func environmentValue(_ expression: String, at location: SourceLocation) -> String? {
    let mark = expression.firstRange(of: ":-")
    let name = String(expression[..<(mark?.lowerBound ?? expression.endIndex)])
    let fallback = mark.map { String(expression[$0.upperBound...]) }
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 != 0x3D && $0 > 0x20 }) else {
      report(
        .invalidEnvironmentName, at: location,
        "\("${env.\(expression)}".quoted) does not name an environment variable",
        help: "write ${env.NAME} or ${env.NAME:-default}")
      return nil
    }
    guard fallback?.contains("${") != true else {
      report(
        .referenceInDefault, at: location, "a default cannot contain a reference",
        help: "write a literal default, or declare a variable in 'vars'")
      return nil
    }
    variables.note(
      EnvironmentUse(name: name, location: location, hasDefault: fallback != nil, isSecret: false))
    if let value = variables.environment[name], !value.isEmpty || fallback == nil {
      isFromOutside = true
      return spend(value, at: location)
    }
    if let fallback { return spend(fallback, at: location) }
    report(
      .environmentNotSet, at: location, "environment variable \(name.quoted) is not set",
      help: "set it, or give a default: ${env.\(name.clipped):-default}")
    return nil
  }
}

extension Template {
  /// Joins adjacent literals, because a run does not need the boundaries of variables.
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
