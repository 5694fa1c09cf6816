extension ValueKind {
  static func list<Element: Sendable>(
    _ element: ValueKind<Element>, atLeastOne: Bool = false
  ) -> ValueKind<[Element]> where Value == [Element] {
    ValueKind(
      .list(element.form),
      text: { values in
        // A list without elements is not allowed, so an absent key has no text.
        guard !atLeastOne || !values.isEmpty else { return nil }
        let texts = values.compactMap(element.text)
        return texts.count == values.count ? "[\(texts.map(flow).joined(separator: ", "))]" : nil
      },
      decode: { node, decoder in
        guard let elements = node.elements else {
          let help = node.scalar.flatMap {
            $0.isOnOneLine && !node.isNull
              ? "write [\($0.inList)]" : nil
          }
          decoder.mismatch(node, wanted: "a list", help: help)
          return nil
        }
        guard !atLeastOne || !elements.isEmpty else {
          decoder.report(
            .emptyList, at: node.location, "\(decoder.owner.value.quoted) is an empty list",
            help: "add an element, or remove the key")
          return nil
        }
        return elements.compactMap { element.decode($0, &decoder) }
      })
  }

  /// An element in the notation of a bracketed list. It is quoted if YAML would otherwise interpret it, as
  /// it would `**`.
  private static func flow(_ text: String) -> String {
    switch OrderedJSON(yaml: "[\(text)]") {
    case .array(let elements)? where elements.count == 1: text
    default: OrderedJSON.string(text).line
    }
  }

  static func object(_ shape: ObjectSchema<Value>) -> Self {
    Self(.object(shape.form), text: shape.text) { node, decoder in shape.decode(node, &decoder) }
  }

  /// Accepts a word that represents a special value, or the value itself.
  static func wordOr(_ word: String, meaning: Value, _ other: ValueKind<Value>) -> Self
  where Value: Equatable {
    Self(
      .either([.choice([word]), other.form]),
      text: { $0 == meaning ? word : other.text($0) },
      decode: { node, decoder in node.scalar?.text == word ? meaning : other.decode(node, &decoder) })
  }

  /// Elements with names that the author chooses, in the manifest's order.
  ///
  /// - Parameter space: where the names are recorded, so that references can find them.
  static func named<Element: Sendable>(
    _ shape: ObjectSchema<Element>, in space: DeclaredNames.Space? = nil
  ) -> Self where Value == [Element] {
    Self(.map(key: "name", value: .object(shape.form))) { node, decoder in
      guard let members = node.members else {
        if let space { decoder.declared.markUnreadable(space) }
        let sample = "\(decoder.owner.value.clipped): { NAME: \(ValueForm.object(shape.form).sample) }"
        decoder.mismatch(
          node, wanted: "a mapping with names as keys", help: decoder.exampleHelp ?? "for example '\(sample)'"
        )
        return nil
      }
      let outer = decoder.owner
      defer { decoder.owner = outer }
      return members.flatMap { member -> [Element] in
        if let problem = NameRule.problem(member.key.value, allowsDots: false) {
          decoder.report(problem, at: member.key.location)
        }
        if let space { decoder.declared.add(member.key, member.value, to: space) }
        decoder.owner = member.key
        guard let space, let instances = decoder.instances(of: member, in: space) else {
          return shape.decode(member.value, &decoder).map { [$0] } ?? []
        }
        return instances.compactMap { instance in
          decoder.each = instance
          decoder.instanceName = instance.name(member.key.value)
          defer { decoder.each = nil }
          return shape.decode(member.value, &decoder)
        }
      }
    }
  }
}

extension ValueKind where Value == Located<String> {
  /// A name that is declared elsewhere.
  static func name(of purpose: NameUse.Purpose) -> Self {
    let what =
      switch purpose {
      case .session: "session name"
      case .token: "token name"
      case .needs: "node name"
      case .fetch: "name of a fetch"
      }
    return Self(.text(what: what, references: false)) { node, decoder in
      guard let text = decoder.constant(node, wanted: "a \(what)") else { return nil }
      let name = Located(text, at: node.location)
      if !decoder.isPartial {
        decoder.nameUses.append(
          NameUse(
            purpose: purpose, name: name, place: decoder.place, isFromOutside: decoder.isFromOutside))
      }
      return name
    }
  }
}
