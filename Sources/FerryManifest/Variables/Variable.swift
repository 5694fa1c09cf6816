/// The declaration of one of the manifest's `vars`.
struct Variable: Sendable {
  /// The type of a variable, which determines the allowed form of its text.
  enum Kind: String, CaseIterable, Sendable {
    case string
    case boolean
    case integer
    case number
    case duration
    case size
    case url
  }

  var name: Located<String>
  var kind = Kind.string
  /// The default as written.
  var fallback: YAMLNode?
  var description: String?
  /// Whether the variable needs a value from the command line; nil if the manifest does not specify this. In
  /// that case, a variable without a default needs one.
  var required: Bool?

  var isRequired: Bool { required ?? (fallback == nil) }
}

extension Variable {
  static let shape = ObjectSchema<Self>(
    "Variable", doc: "The declaration of a variable with additional properties.",
    keys: [
      Key("type", \.kind, .choice(), doc: "The type of the value.", example: "integer"),
      Key(
        "default", \.fallback, .scalarNode, default: "none",
        doc: "The value if the command line does not set one. It can refer to `vars` and `env`.",
        example: "8080"),
      Key(
        "description", \.description, .constant("description"), default: "none",
        doc: "The purpose of the variable, which `ferry check` prints.",
        example: "the port that the API listens on"),
      Key(
        "required", \.required, .boolean, default: "`true` if there is no default, otherwise `false`",
        doc:
          "Whether the command line must set the variable. A variable that is not required and has no default is empty.",
        example: "true"),
    ],
    blank: { name, _ in Self(name: name) },
    finish: { variable, node, decoder in
      if variable.required == false, variable.fallback == nil, node["default"] == nil,
        let wanted = variable.kind.wanted(insteadOf: "")
      {
        decoder.report(
          .invalidVariable, at: (node["required"] ?? node).location,
          "variable \(variable.name.value.quoted) is empty if no value is set, but must be \(wanted)",
          help: "give it a 'default'")
      }
      guard variable.required == true, let fallback = variable.fallback, let place = node["required"] else {
        return
      }
      decoder.report(
        .excludingKeys, at: place.location, "a variable with a default cannot be required",
        help: "keep one of them", notes: [.init("'default' is set here", at: fallback.location)])
    })
}

extension Variable {
  /// Whether a declaration has a key that is not part of the language.
  static func hasUnknownKey(_ node: YAMLNode) -> Bool {
    node.members?.contains { member in !shape.keys.contains { $0.name == member.key.value } } == true
  }
}

extension ValueKind where Value == YAMLNode {
  /// A scalar that is read later.
  fileprivate static var scalarNode: Self {
    Self(.text(what: "string", references: true)) { node, decoder in
      guard node.scalar != nil, !node.isNull else {
        decoder.mismatch(node, wanted: "a string")
        return nil
      }
      return node
    }
  }
}

extension Variable.Kind {
  /// A description of valid values if the text is not a valid value, otherwise nil.
  func wanted(insteadOf text: String) -> String? {
    let value = YAMLScalar.resolve(text)
    switch self {
    case .string:
      return nil
    case .boolean:
      if case .bool = value { return nil }
      return "true or false"
    case .integer:
      if case .integer = value { return nil }
      return "a whole number"
    case .number:
      switch value {
      case .integer: return nil
      case .float(let number) where number.isFinite: return nil
      case .null, .bool, .float, .hugeInteger, .string: return "a number"
      }
    case .duration:
      return (try? Quantity(text, units: Quantity.durations)) == nil ? "a duration such as 30s" : nil
    case .size:
      return (try? Quantity(text, units: Quantity.sizes)) == nil ? "a size such as 500MB" : nil
    case .url:
      return URLRule.problem(Template(literal: text)) == nil ? nil : "a URL"
    }
  }
}
