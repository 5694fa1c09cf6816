/// Inserts the values of the manifest's `defaults` wherever a value is absent.
///
/// The declared forms of the language guide the insertion. The only hard-coded keys are the names of the
/// sections in `defaults`.
struct Defaults {
  private let byName: [String: YAMLNode]
  private let form = ManifestDocument.shape(file: "").form
  /// The number of values that may still be processed. It is limited because default values multiply by the
  /// number of nodes.
  private var budget = ManifestDecoder.mostValues

  /// Whether some values were not inserted. The decoder then reports that its own limit is exceeded.
  private var isExhausted: Bool { budget < 0 }

  /// The titles of the objects that have default values wherever they occur, and their names in `defaults`.
  private static let everywhere = [
    "Request": "request", "Download request": "request", "Retry": "retry",
  ]

  /// Nil if the manifest has no `defaults`.
  init?(of root: YAMLNode) {
    guard let members = root["defaults"]?.members else { return nil }
    byName = Dictionary(
      members.filter { $0.value.members != nil }.map { ($0.key.value, $0.value) },
      uniquingKeysWith: { first, _ in first })
    guard !byName.isEmpty else { return nil }
  }

  /// Returns the document with every default value inserted.
  mutating func filled(_ root: YAMLNode) -> YAMLNode {
    var root = root
    root.mapMembers { member in
      guard let key = form.keys.first(where: { $0.name == member.key.value }), key.name != "defaults" else {
        return
      }
      if case .map(_, let value) = key.form, let common = byName[key.name] {
        member.value.mapMembers { $0.value = fill($0.value, with: common, value) }
      }
      member.value = filled(member.value, key.form)
    }
    return root
  }

  /// Inserts the default values of requests and retries below a value.
  private mutating func filled(_ node: YAMLNode, _ form: ValueForm) -> YAMLNode {
    guard node.members != nil, !isExhausted else { return node }
    var node = node
    switch form {
    case .map(_, let value):
      node.mapMembers { $0.value = filled($0.value, value) }
    case .object(let object):
      for key in object.keys {
        guard case .object(let inner) = key.form, let name = Self.everywhere[inner.title],
          let common = byName[name], !key.isRequired, !object.hasAlternative(to: key.name),
          node[key.name] == nil,
          case .mapping(let members) = node.content
        else { continue }
        node.content = .mapping(members + [.init(key: Located(key.name, at: common.location), value: common)])
      }
      node.mapMembers { member in
        guard let key = object.keys.first(where: { $0.name == member.key.value }) else { return }
        if case .object(let inner) = key.form,
          let common = Self.everywhere[inner.title].flatMap({ byName[$0] })
        {
          member.value = fill(member.value, with: common, key.form)
        }
        member.value = filled(member.value, key.form)
      }
    case .either(let forms):
      if let form = forms.first(where: \.isMapping) { node = filled(node, form) }
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .list:
      break
    }
    return node
  }

  /// Inserts the absent values of a mapping. The mapping's own values take precedence; a value that is not a
  /// mapping with declared keys replaces the whole default.
  private mutating func fill(_ node: YAMLNode, with common: YAMLNode, _ form: ValueForm) -> YAMLNode {
    guard form.isMapping, let own = node.members, let others = common.members, !isExhausted else {
      return node
    }
    budget -= own.count + others.count
    var members = own
    let places = Dictionary(
      own.enumerated().map { (form.folded($0.element.key.value), $0.offset) },
      uniquingKeysWith: { first, _ in first })
    for other in others {
      let name = other.key.value
      if let index = places[form.folded(name)] {
        guard let inner = form.value(at: name) else { continue }
        members[index].value = fill(members[index].value, with: other.value, inner)
      } else if !form.excludes(name, beside: own.map(\.key.value)) {
        members.append(other)
      }
    }
    var node = node
    node.content = .mapping(members)
    return node
  }
}

extension YAMLNode {
  /// Changes each member of a mapping; leaves other values unchanged.
  fileprivate mutating func mapMembers(_ change: (inout Member) -> Void) {
    guard case .mapping(var members) = content else { return }
    content = .mapping([])
    for index in members.indices { change(&members[index]) }
    content = .mapping(members)
  }
}

extension ObjectForm {
  /// Whether the object needs the key or another one in its place.
  fileprivate func hasAlternative(to key: String) -> Bool {
    rules.contains { if case .exactlyOne(let names) = $0 { names.contains(key) } else { false } }
  }
}

extension ValueForm {
  fileprivate var isMapping: Bool {
    switch self {
    case .map, .object: true
    case .either(let forms): forms.contains(where: \.isMapping)
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .list: false
    }
  }

  /// The form of a key's value.
  fileprivate func value(at key: String) -> ValueForm? {
    switch self {
    case .map(_, let value): value
    case .object(let object): object.keys.first { $0.name == key }?.form
    case .either(let forms): forms.first(where: \.isMapping)?.value(at: key)
    case .text, .boolean, .integer, .number, .duration, .size, .choice, .json, .list: nil
    }
  }

  /// Names of header fields are case-insensitive (RFC 9110 §5.1).
  fileprivate func folded(_ key: String) -> String {
    if case .map(key: "header", _) = self { key.lowercased() } else { key }
  }

  /// Whether a rule forbids a key next to the given keys.
  fileprivate func excludes(_ key: String, beside given: [String]) -> Bool {
    guard case .object(let object) = self else { return false }
    return object.rules.contains { rule in
      switch rule {
      case .atMostOne(let names), .exactlyOne(let names):
        names.contains(key) && given.contains { $0 != key && names.contains($0) }
      case .requires: false
      }
    }
  }
}
