/// A JSON value with templates as leaves. Members of an object keep the manifest's order.
package indirect enum JSONTemplate: Hashable, Codable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// A leaf that consists of a single reference keeps the type of its value: a size is sent as a number.
  case string(Template)
  case array([JSONTemplate])
  case object([Member])

  package struct Member: Hashable, Codable, Sendable {
    package var name: String
    package var value: JSONTemplate

    package init(name: String, value: JSONTemplate) {
      self.name = name
      self.value = value
    }
  }

  /// The strings in the value, in order.
  package var templates: [Template] {
    switch self {
    case .null, .bool, .integer, .number: []
    case .string(let template): [template]
    case .array(let values): values.flatMap(\.templates)
    case .object(let members): members.flatMap(\.value.templates)
    }
  }
}
