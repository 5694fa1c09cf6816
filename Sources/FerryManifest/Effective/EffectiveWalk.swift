/// Traverses a document according to the declarations of its keys, and inserts the defaults of absent keys.
/// No key name is hard-coded: the forms define the allowed values, the defaults of absent keys, and the
/// mutually exclusive keys.
struct EffectiveWalk {
  let profile: Profile

  /// The text that contains the nodes.
  private enum Text {
    /// The document; `use` is the location of the outermost alias that inserted this part of it.
    case document(use: SourceLocation?)
    /// A default, in the manifest's notation.
    case fallback(EffectiveOrigin)

    func entering(_ node: YAMLNode) -> Text {
      switch self {
      case .document(let use): .document(use: use ?? node.use)
      case .fallback: self
      }
    }

    func origin(at location: SourceLocation) -> EffectiveOrigin {
      switch self {
      case .document(let use): EffectiveOrigin(location, use: use)
      case .fallback(let origin): origin
      }
    }
  }

  func value(_ node: YAMLNode, as form: ValueForm) -> EffectiveValue {
    value(node, as: form, of: nil, in: .document(use: nil))
  }

  /// Returns the effective form of a value and of the values that it contains.
  ///
  /// - Parameters:
  ///   - form: the declared form; nil inside free-form values.
  ///   - key: the key to which the value belongs.
  private func value(
    _ node: YAMLNode, as form: ValueForm?, of key: Located<String>?, in outer: Text
  ) -> EffectiveValue {
    let text = outer.entering(node)
    let isShared =
      switch text {
      case .document(let use): use != nil
      case .fallback: false
      }
    switch node.content {
    case .scalar(let scalar):
      return EffectiveValue(content: .scalar(scalar), origin: text.origin(at: node.location))
    case .sequence(let elements):
      let element = form?.element
      return EffectiveValue(
        content: .list(elements.map { value($0, as: element, of: nil, in: text) }),
        origin: text.origin(at: node.location))
    case .mapping(let members):
      // In block style, the mapping begins on the line below its key.
      let place = isShared ? node.location : key?.location ?? node.location
      let all =
        form?.object.map { object($0, members, in: text) } ?? free(members, as: form?.memberValue, in: text)
      return EffectiveValue(content: .mapping(all), origin: text.origin(at: place))
    }
  }

  /// A mapping with keys that the author chose.
  private func free(
    _ members: [YAMLNode.Member], as form: ValueForm?, in text: Text
  ) -> [EffectiveValue.Member] {
    members.map { member in
      .init(
        key: member.key.value, standing: .value(value(member.value, as: form, of: member.key, in: text)))
    }
  }

  /// A mapping with declared keys, in the order of their declarations.
  private func object(
    _ form: ObjectForm, _ members: [YAMLNode.Member], in text: Text
  ) -> [EffectiveValue.Member] {
    let given = Dictionary(members.map { ($0.key.value, $0) }, uniquingKeysWith: { first, _ in first })
    let standing = standing(in: form, beside: Set(given.keys))
    var all: [EffectiveValue.Member] = form.keys.compactMap { key in
      let value: EffectiveValue.Standing? =
        if let member = given[key.name] {
          .value(value(member.value, as: key.form, of: member.key, in: text))
        } else if form.allowsDefault(of: key.name, beside: standing) {
          fallback(of: key)
        } else {
          nil
        }
      return value.map { .init(key: key.name, standing: $0) }
    }
    // Keys without a declaration have already been processed. They are kept as written.
    let known = Set(form.keys.map(\.name))
    all += free(members.filter { !known.contains($0.key.value) }, as: nil, in: text)
    return all
  }

  /// The keys that have a value, explicitly or by default. A default that is only described in words is omitted
  /// if one of these keys excludes its key.
  private func standing(in form: ObjectForm, beside given: Set<String>) -> Set<String> {
    let defaults = form.keys.filter { key in
      switch key.fallback(in: profile) {
      case .value, .itsKeys: form.allowsDefault(of: key.name, beside: given)
      case .words, nil: false
      }
    }
    return given.union(defaults.map(\.name))
  }

  /// The default of an absent key; nil for a required key.
  private func fallback(of key: KeyForm) -> EffectiveValue.Standing? {
    guard let fallback = key.fallback(in: profile) else { return nil }
    let origin: EffectiveOrigin = key.isOfProfile ? .profile(profile) : .builtIn
    switch fallback {
    case .words(let words):
      return .words(words, origin)
    case .itsKeys:
      guard let form = key.form.objects.first else { return nil }
      return .value(
        EffectiveValue(content: .mapping(object(form, [], in: .fallback(origin))), origin: origin))
    case .value(let text):
      guard let node = YAMLDocument(SourceText(Array(text.utf8), file: "")).root else {
        preconditionFailure("the default of '\(key.name)' is not valid YAML: \(text)")
      }
      return .value(value(node, as: key.form, of: nil, in: .fallback(origin)))
    }
  }
}

extension KeyForm {
  /// Whether the default depends on the profile. The key `profile` itself does not count.
  fileprivate var isOfProfile: Bool {
    guard case .optional(let defaults) = presence else { return false }
    return defaults != Profile.allCases.map { .value($0.rawValue) }
      && defaults.contains { $0 != defaults.first }
  }
}

extension ObjectForm {
  /// Whether the default of an absent key may be written out in addition to the keys that have a value.
  fileprivate func allowsDefault(of name: String, beside standing: Set<String>) -> Bool {
    rules.allSatisfy { rule in
      switch rule {
      case .atMostOne(let names), .exactlyOne(let names):
        !names.contains(name) || names.allSatisfy { $0 == name || !standing.contains($0) }
      case .requires(let key, let other):
        key != name || standing.contains(other)
      }
    }
  }
}

extension ValueForm {
  /// The declared keys, if the form is a mapping with declared keys.
  fileprivate var object: ObjectForm? {
    switch self {
    case .object(let form): form
    case .either(let forms): forms.lazy.compactMap(\.object).first
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .list, .map: nil
    }
  }

  /// The form of the values, if the form is a mapping with keys that the author chooses.
  fileprivate var memberValue: ValueForm? {
    switch self {
    case .map(_, let value): value
    case .either(let forms): forms.lazy.compactMap(\.memberValue).first
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .list, .object: nil
    }
  }

  /// The form of the elements, if the form is a list.
  fileprivate var element: ValueForm? {
    switch self {
    case .list(let element): element
    case .either(let forms): forms.lazy.compactMap(\.element).first
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .map, .object: nil
    }
  }
}
