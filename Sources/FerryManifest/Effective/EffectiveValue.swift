/// A value of an effective manifest.
struct EffectiveValue: Sendable {
  indirect enum Content: Sendable {
    case scalar(YAMLScalar)
    case list([EffectiveValue])
    case mapping([Member])
  }

  struct Member: Sendable {
    var key: String
    var standing: Standing
  }

  /// The content of a key: a value, or a description of a default.
  enum Standing: Sendable {
    case value(EffectiveValue)
    /// A default with a description instead of a value.
    case words(String, EffectiveOrigin)

    var isValue: Bool {
      switch self {
      case .value: true
      case .words: false
      }
    }
  }

  var content: Content
  var origin: EffectiveOrigin
}

extension EffectiveValue: Encodable {
  private enum CodingKeys: String, CodingKey {
    case value
    case from
  }

  func encode(to encoder: any Encoder) throws {
    switch content {
    case .mapping(let members) where !members.isEmpty:
      // Encoded as a dictionary, so that the names chosen by the author remain unchanged.
      var container = encoder.singleValueContainer()
      try container.encode(
        Dictionary(members.map { ($0.key, $0.standing) }, uniquingKeysWith: { first, _ in first }))
    case .list(let elements) where !elements.isEmpty:
      var container = encoder.singleValueContainer()
      try container.encode(elements)
    case .mapping, .list, .scalar:
      var container = encoder.container(keyedBy: CodingKeys.self)
      try encodeLeaf(into: &container)
      try container.encode(origin.description, forKey: .from)
    }
  }

  private func encodeLeaf(into container: inout KeyedEncodingContainer<CodingKeys>) throws {
    switch content {
    case .mapping: try container.encode([String: String](), forKey: .value)
    case .list: try container.encode([String](), forKey: .value)
    case .scalar(let scalar):
      switch scalar.value {
      case .null: try container.encodeNil(forKey: .value)
      case .bool(let value): try container.encode(value, forKey: .value)
      case .integer(let value): try container.encode(value, forKey: .value)
      case .float(let value) where value.isFinite: try container.encode(value, forKey: .value)
      case .float, .hugeInteger, .string: try container.encode(scalar.text, forKey: .value)
      }
    }
  }
}

extension EffectiveValue.Standing: Encodable {
  private enum CodingKeys: String, CodingKey {
    case words
    case from
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .value(let value): try value.encode(to: encoder)
    case .words(let words, let origin):
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(words, forKey: .words)
      try container.encode(origin.description, forKey: .from)
    }
  }
}
