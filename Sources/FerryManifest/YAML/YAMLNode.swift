/// A value of a YAML document and its place.
package struct YAMLNode: Sendable {
  /// Where the value starts; for what an alias stands for, where the anchor defines it.
  package var location: SourceLocation
  /// Where the alias stands that brought the value here, by itself or through a merge key; nil for what is
  /// written where it is meant.
  ///
  /// What is inside the value keeps its own: of aliases in aliases, the outermost stands on the outermost value.
  package var use: SourceLocation?
  package var content: Content

  package init(location: SourceLocation, use: SourceLocation? = nil, content: Content) {
    self.location = location
    self.use = use
    self.content = content
  }

  package indirect enum Content: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Member])
  }

  /// One `key: value`; keys are strings, and unique in their mapping.
  package struct Member: Sendable {
    package var key: Located<String>
    package var value: YAMLNode
  }

  /// The value of a key, where this is a mapping that has it.
  package subscript(key: String) -> YAMLNode? {
    members?.first { $0.key.value == key }?.value
  }

  package var members: [Member]? {
    if case .mapping(let members) = content { members } else { nil }
  }

  package var elements: [YAMLNode]? {
    if case .sequence(let elements) = content { elements } else { nil }
  }

  package var scalar: YAMLScalar? {
    if case .scalar(let scalar) = content { scalar } else { nil }
  }

  package var isNull: Bool {
    if case .null? = scalar?.value { true } else { false }
  }

  /// What a person would call it: "a list", "the number 5".
  package var kindName: String {
    switch content {
    case .sequence: return "a list"
    case .mapping: return "a mapping"
    case .scalar(let scalar):
      switch scalar.value {
      case .null: return "nothing"
      case .bool(let value): return "the boolean \(value)"
      case .integer, .hugeInteger, .float: return "the number \(scalar.text.clipped)"
      case .string: return "the string \(scalar.text.quoted)"
      }
    }
  }
}
