extension ManifestSchema {
  /// The allowed values of a key, and its documentation for editors.
  ///
  /// Keywords next to a `$ref` have no meaning in draft 07, but editors show them anyway.
  func property(_ key: KeyForm, _ extent: Extent) -> [OrderedJSON.Member] {
    var members = schema(key.form, extent)
    members.append(.init("description", .string(key.doc)))
    members.append(.init("markdownDescription", .string(key.doc + fallbackText(key))))
    if case .value(let text)? = key.fallback(in: .server), let value = OrderedJSON(yaml: text) {
      members.append(.init("default", value))
    }
    if let value = key.example.flatMap(OrderedJSON.init(yaml:)) {
      members.append(.init("examples", .array([value])))
    }
    return members
  }

  private func fallbackText(_ key: KeyForm) -> String {
    key.isRequired ? "\n\nRequired." : "\n\nDefault: \(ManifestReference.fallback(key))."
  }

  // MARK: - Values

  /// A value that `vars` and `env` may supply, wholly or in part.
  private static let reference = #"\$\{"#
  /// A number or boolean may only begin with a reference.
  private static let leadingReference = #"^\$\{"#

  private func schema(_ form: ValueForm, _ extent: Extent) -> [OrderedJSON.Member] {
    switch form {
    case .text:
      // The decoder accepts any scalar as a string and keeps its spelling.
      return [types("string", "number", "boolean")]
    case .boolean:
      return [types("boolean", "string"), .init("pattern", .string(Self.leadingReference))]
    case .integer(let range):
      // `minimum` and `maximum` apply to numbers, `pattern` applies to strings.
      return [types("integer", "string"), .init("minimum", .integer(Int64(range.lowerBound)))]
        + (range.upperBound == .max ? [] : [.init("maximum", .integer(Int64(range.upperBound)))])
        + [.init("pattern", .string(Self.leadingReference))]
    case .number(let range):
      return [
        types("number", "string"), .init("minimum", .number(range.lowerBound)),
        .init("maximum", .number(range.upperBound)), .init("pattern", .string(Self.leadingReference)),
      ]
    case .duration: return quantity(Quantity.durations.map(\.name), what: "duration", example: "30s")
    case .size: return quantity(Quantity.sizes.map(\.name), what: "size", example: "5MB")
    case .choice, .either:
      return [.init("anyOf", .array(alternatives(form, extent)))]
    case .json: return []
    case .list(let element):
      return [types("array"), .init("items", .object(schema(element, extent)))]
    case .map(let key, let value):
      // Some names may contain a dot, but the form does not indicate which.
      let names: [OrderedJSON.Member] =
        key == "name"
        ? [.init("title", .string(key)), .init("pattern", .string("^[A-Za-z0-9_.-]{1,100}$"))] : []
      return [types("object")] + (names.isEmpty ? [] : [.init("propertyNames", .object(names))])
        + [.init("additionalProperties", .object(schema(value, extent)))]
    case .object(let object): return [reference(to: object, extent)]
    }
  }

  private func types(_ names: String...) -> OrderedJSON.Member {
    .init("type", names.count == 1 ? .string(names[0]) : .array(names.map(OrderedJSON.string)))
  }

  private func quantity(_ units: [String], what: String, example: String) -> [OrderedJSON.Member] {
    [
      types("string"),
      .init("pattern", .string("^[0-9]+(\(units.joined(separator: "|")))$|\(Self.reference)")),
      // `patternErrorMessage` is not part of the standard. Editors show its text instead of the pattern.
      .init(
        "patternErrorMessage",
        .string("A \(what) is a whole number and a unit (\(units.joined(separator: ", "))): \(example)")),
    ]
  }

  private func alternatives(_ form: ValueForm, _ extent: Extent) -> [OrderedJSON] {
    switch form {
    case .either(let forms):
      return forms.flatMap { alternatives($0, extent) }
    case .choice(let words):
      // A word such as `true` is not a YAML string unless it is quoted.
      let plain = words.map { OrderedJSON(yaml: $0) ?? .string($0) }
      let quoted = zip(words, plain).filter { $1 != .string($0) }.map { "|^\($0.0)$" }.joined()
      return [
        .object([.init("enum", .array(plain))]),
        .object([types("string"), .init("pattern", .string(Self.reference + quoted))]),
      ]
    case .text, .boolean, .integer, .number, .duration, .size, .json, .list, .map, .object:
      return [.object(schema(form, extent))]
    }
  }
}
