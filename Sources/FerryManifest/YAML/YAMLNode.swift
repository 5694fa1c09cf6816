/// A value of a YAML document and its location.
package struct YAMLNode: Sendable {
  /// The start of the value; for the value of an alias, the location of the anchor's definition.
  package var location: SourceLocation
  /// The location of the alias that inserted the value here, directly or through a merge key; nil for a
  /// value that is written in place.
  ///
  /// Values inside it keep their own locations. For nested aliases, the outermost value has the location of
  /// the outermost alias.
  package var use: SourceLocation?
  package var content: Content
  /// Whether the value could not be read as intended: it is an alias without an anchor, or merges a value
  /// that is not a mapping. This has been reported, and the value's content, or the lack of it, is
  /// meaningless.
  var isIncomplete = false

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

  /// The value of a key, if this is a mapping that has the key.
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

  /// A string such as ", found 'text'", with the text as written, because the value of a reference in it may
  /// be secret.
  var foundWord: String { scalar.map { ", found \($0.text.quoted)" } ?? "" }

  /// A description for messages, such as "a list" or "the number 5".
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
