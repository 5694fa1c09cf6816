import FerryManifest

/// The type of a value in a JSON Schema (2020-12).
indirect enum SchemaValue: Sendable {
  case string, boolean, integer, number
  /// A time in RFC 3339 format, in UTC with milliseconds.
  case time
  /// A number of bytes, items or requests.
  case count
  /// Seconds.
  case seconds
  case choice([String])
  case constant(Int64)
  case list(SchemaValue)
  /// A mapping of names to strings.
  case strings
  /// An object, by its title.
  case object(String)

  static func words<Value: RawRepresentable & CaseIterable>(_ type: Value.Type) -> SchemaValue
  where Value.RawValue == String {
    .choice(type.allCases.map(\.rawValue))
  }

  var members: [OrderedJSON.Member] {
    switch self {
    case .string: [.init("type", .string("string"))]
    case .boolean: [.init("type", .string("boolean"))]
    case .integer: [.init("type", .string("integer"))]
    case .number: [.init("type", .string("number"))]
    case .time: [.init("type", .string("string")), .init("format", .string("date-time"))]
    case .count: [.init("type", .string("integer")), .init("minimum", .integer(0))]
    case .seconds: [.init("type", .string("number")), .init("minimum", .integer(0))]
    case .choice(let words): [.init("enum", .array(words.map { .string($0) }))]
    case .constant(let value): [.init("const", .integer(value))]
    case .list(let element): [.init("type", .string("array")), .init("items", .object(element.members))]
    case .strings:
      [
        .init("type", .string("object")),
        .init("additionalProperties", .object([.init("type", .string("string"))])),
      ]
    case .object(let title): [.init("$ref", .string("#/$defs/\(title)"))]
    }
  }
}

/// A key of an object in a JSON Schema.
struct SchemaKey: Sendable {
  var name: String
  var value: SchemaValue
  var doc: String
  var isRequired: Bool

  static func required(_ name: String, _ value: SchemaValue, _ doc: String) -> SchemaKey {
    SchemaKey(name: name, value: value, doc: doc, isRequired: true)
  }

  static func optional(_ name: String, _ value: SchemaValue, _ doc: String) -> SchemaKey {
    SchemaKey(name: name, value: value, doc: doc, isRequired: false)
  }
}

/// An object in a JSON Schema. It allows only the listed keys.
struct SchemaObject: Sendable {
  var title: String
  var doc: String
  var keys: [SchemaKey]

  init(_ title: String, _ doc: String, _ keys: [SchemaKey]) {
    self.title = title
    self.doc = doc
    self.keys = keys
  }

  var members: [OrderedJSON.Member] {
    let properties = keys.map { key in
      OrderedJSON.Member(
        key.name, .object(key.value.members + [.init("description", .string(key.doc))]))
    }
    let required = keys.filter(\.isRequired).map { OrderedJSON.string($0.name) }
    return [
      .init("description", .string(doc)), .init("type", .string("object")),
      .init("properties", .object(properties)),
    ] + (required.isEmpty ? [] : [.init("required", .array(required))]) + [
      .init("additionalProperties", .bool(false))
    ]
  }
}
