extension ManifestDecoder {
  /// Returns the value of a variable, and resolves it at its first use.
  mutating func variable(_ name: String, at location: SourceLocation) -> Variables.Value {
    if let known = variables.resolved[name] { return spend(known, at: location) }
    guard let declared = variables.declared[name] else {
      guard !variables.isUnreadable else { return .broken }
      report(
        .unknownVariable, at: location, "unknown variable \(name.quoted)",
        help: suggestion(for: name, among: variables.names) ?? "declare it under 'vars:'")
      return .broken
    }
    guard !variables.underway.contains(where: { $0.value == name }) else {
      reportCircle(name, at: location)
      return .broken
    }
    guard variables.underway.count < Variables.deepest else {
      report(
        .variablesTooDeep, at: location, "variables are nested more than \(Variables.deepest) levels deep",
        help: "replace some of the references with literal values")
      return .broken
    }
    variables.underway.append(Located(name, at: location))
    let value = resolve(declared)
    variables.underway.removeLast()
    variables.resolved[name] = value
    return spend(value, at: location)
  }

  /// A string that consists of a single variable whose type exists in JSON.
  mutating func typedVariable(_ text: String, at location: SourceLocation) -> JSONTemplate? {
    guard text.hasPrefix("${vars."), text.hasSuffix("}") else { return nil }
    let name = String(text.dropFirst("${vars.".count).dropLast())
    switch variables.declared[name]?.kind {
    case .boolean, .integer, .number: break
    case .string, .duration, .size, .url, nil: return nil
    }
    guard case .text(let value) = variable(name, at: location) else { return nil }
    switch YAMLScalar.resolve(value) {
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .float(let number): return .number(number)
    case .null, .hugeInteger, .string: return nil
    }
  }

  /// Reports values on the command line for variables that the manifest does not declare.
  mutating func reportUndeclared(_ given: GivenVariables) {
    guard !variables.isUnreadable else { return }
    let names = variables.names
    for (name, value) in given.values.sorted(by: { $0.key < $1.key }) where variables.declared[name] == nil {
      let help =
        suggestion(for: name, among: names)
        ?? (names.isEmpty ? "the manifest has no 'vars'" : "use \(names.alternatives())")
      if let key = value.key {
        // A variables file may be used for several manifests.
        report(
          .undeclaredVariable, .warning, at: key, "the manifest does not declare variable \(name.quoted)",
          help: help)
      } else {
        report(
          .undeclaredVariable, at: varsPlace ?? start,
          "--var \(name.clipped): the manifest does not declare this variable", help: help)
      }
    }
  }

  private mutating func resolve(_ variable: Variable) -> Variables.Value {
    let name = variable.name.value
    guard !variables.broken.contains(name) else { return .broken }
    if let given = variables.given[name] {
      variables.fromOutside.insert(name)
      return checked(given.text, variable, at: given.location ?? variable.name.location)
    }
    guard let node = variable.fallback else {
      guard variable.isRequired else { return .text("") }
      report(
        .missingVariable, at: variable.name.location, "variable \(name.quoted) has no value",
        help: "set it with --var \(name.clipped)=…"
          + (variable.description.map { ": \($0.clipped)" } ?? ", or a 'default' here"))
      return .broken
    }
    let outer = owner
    owner = Located(name, at: node.location)
    defer { owner = outer }
    // A variable has the same value in every place, so it cannot depend on an instance.
    let instance = each
    each = nil
    defer { each = instance }
    guard let text = constant(node) else { return .broken }
    if isFromOutside { variables.fromOutside.insert(name) }
    return checked(text, variable, at: node.location)
  }

  private mutating func checked(_ text: String, _ variable: Variable, at location: SourceLocation)
    -> Variables.Value
  {
    guard let wanted = variable.kind.wanted(insteadOf: text) else { return .text(text) }
    let given = variables.given[variable.name.value]
    let isFromCommandLine = given != nil && given?.location == nil
    // The value may come from outside and be secret, so the message omits it.
    report(
      .invalidVariable, at: location, "variable \(variable.name.value.quoted) must be \(wanted)",
      help: "its type is declared as '\(variable.kind.rawValue)'"
        + (isFromCommandLine ? "; set a different value with --var" : ""),
      notes: location == variable.name.location
        ? [] : [.init("declared here", at: variable.name.location)])
    return .broken
  }

  private mutating func reportCircle(_ name: String, at location: SourceLocation) {
    let circle = variables.underway.drop { $0.value != name }
    guard circle.count > 1 else {
      report(
        .variableCircle, at: location, "variable \(name.quoted) refers to itself",
        help: "give it a literal value, or use ${env.NAME}")
      return
    }
    let path = (circle.map(\.value) + [name]).map(\.clipped).joined(separator: " → ")
    report(
      .variableCircle, at: location, "variables form a cycle: \(path)",
      help: "give one of them a literal value",
      notes: circle.dropFirst().map { .init("\($0.value.quoted) is used here", at: $0.location) })
  }

  private mutating func spend(_ value: Variables.Value, at location: SourceLocation) -> Variables.Value {
    guard case .text(let text) = value else { return .broken }
    return spend(text, at: location).map(Variables.Value.text) ?? .broken
  }

  /// Rejects a manifest whose variables grow exponentially.
  mutating func spend(_ text: String, at location: SourceLocation) -> String? {
    variables.budget -= text.utf8.count
    guard variables.budget < 0 else { return text }
    // Reported only once, because every later value also exceeds the budget.
    if variables.budget + text.utf8.count >= 0 {
      report(
        .variablesTooLarge, at: location, "variables expand to more than 64 MiB of text in total",
        help: "variables that repeat other variables grow exponentially; shorten them")
    }
    return nil
  }
}
