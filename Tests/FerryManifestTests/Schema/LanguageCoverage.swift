import FerryManifest

/// The keys, words and alternatives of the language that the added manifests use.
struct LanguageCoverage {
  private(set) var used: Set<String> = []

  /// All keys, words and alternatives of the language.
  static func everything() -> [String] {
    ManifestReference.objects().flatMap { object in
      object.keys.flatMap { key in [label(object, key)] + parts(key.form, label(object, key)) }
    }
  }

  mutating func add(_ manifest: OrderedJSON) {
    guard let top = ManifestReference.objects().first else { return }
    add(manifest, top)
  }

  private static func label(_ object: ObjectForm, _ key: KeyForm) -> String { "\(object.title).\(key.name)" }

  private static func parts(_ form: ValueForm, _ label: String) -> [String] {
    switch form {
    case .text, .boolean, .integer, .number, .duration, .size, .json, .object: []
    case .choice(let words): words.map { "\(label) = \($0)" }
    case .list(let element): parts(element, label + "[]")
    case .map(_, let value): parts(value, label + ".*")
    case .either(let forms):
      forms.enumerated().flatMap { ["\(label), alternative \($0 + 1)"] + parts($1, label) }
    }
  }

  private mutating func add(_ value: OrderedJSON, _ object: ObjectForm) {
    guard case .object(let members) = value else { return }
    for key in object.keys {
      guard let member = members.first(where: { $0.name == key.name }) else { continue }
      used.insert(Self.label(object, key))
      add(member.value, key.form, Self.label(object, key))
    }
  }

  private mutating func add(_ value: OrderedJSON, _ form: ValueForm, _ label: String) {
    switch form {
    case .text, .boolean, .integer, .number, .duration, .size, .json: break
    case .choice: if let text = value.scalarText { used.insert("\(label) = \(text)") }
    case .list(let element):
      if case .array(let elements) = value { elements.forEach { add($0, element, label + "[]") } }
    case .map(_, let inner):
      if case .object(let members) = value { members.forEach { add($0.value, inner, label + ".*") } }
    case .object(let object): add(value, object)
    case .either(let forms):
      guard let index = forms.firstIndex(where: { value.looksLike($0) }) else { break }
      used.insert("\(label), alternative \(index + 1)")
      add(value, forms[index], label)
    }
  }
}

extension OrderedJSON {
  /// The text of a scalar as a manifest contains it.
  fileprivate var scalarText: String? {
    switch self {
    case .string(let text): text
    case .null, .bool, .integer, .number: line
    case .array, .object: nil
    }
  }

  fileprivate func looksLike(_ form: ValueForm) -> Bool {
    switch (form, self) {
    case (.choice(let words), _): scalarText.map(words.contains) ?? false
    case (.duration, .string(let text)), (.size, .string(let text)): text.first?.isNumber == true
    case (.number, .number), (.number, .integer), (.integer, .integer), (.boolean, .bool): true
    case (.text, .string), (.text, .number), (.text, .integer), (.text, .bool): true
    case (.list, .array), (.map, .object), (.object, .object), (.json, _): true
    case (.either(let forms), _): forms.contains(where: looksLike)
    case (.text, _), (.boolean, _), (.integer, _), (.number, _), (.duration, _), (.size, _), (.list, _),
      (.map, _), (.object, _):
      false
    }
  }
}
