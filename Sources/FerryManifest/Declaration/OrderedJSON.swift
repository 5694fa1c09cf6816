/// A JSON value whose members keep their order, so that an editor offers keys in the order of their
/// declarations and equal values always have the same text.
package indirect enum OrderedJSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([OrderedJSON])
  case object([Member])

  package struct Member: Equatable, Sendable {
    package var name: String
    package var value: OrderedJSON

    package init(_ name: String, _ value: OrderedJSON) {
      self.name = name
      self.value = value
    }
  }
}

extension OrderedJSON {
  /// The value on one line.
  package var line: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): Self.text(value)
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[\(elements.map(\.line).joined(separator: ", "))]"
    case .object(let members):
      members.isEmpty
        ? "{}" : "{ \(members.map { "\(Self.quoted($0.name)): \($0.value.line)" }.joined(separator: ", ")) }"
    }
  }

  /// The value for human readers. A value that fits on one line is written on one line.
  package var pretty: String { pretty(indentation: 0, taken: 0) + "\n" }

  private static let width = 100

  /// Formats the value, on one line if it fits on the rest of the current line.
  ///
  /// - Parameter taken: the columns of the line that are already used.
  private func pretty(indentation: Int, taken: Int) -> String {
    let line = line
    guard taken + line.count > Self.width else { return line }
    let outer = String(repeating: " ", count: indentation)
    let inner = outer + "  "
    switch self {
    case .null, .bool, .integer, .number, .string: return line
    case .array(let elements):
      let lines = elements.map { inner + $0.pretty(indentation: indentation + 2, taken: indentation + 2) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
    case .object(let members):
      let lines = members.map { member in
        let name = "\(inner)\(Self.quoted(member.name)): "
        return name + member.value.pretty(indentation: indentation + 2, taken: name.count)
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
    }
  }

  /// JSON cannot represent infinity or NaN. A number beyond every allowed range replaces infinity.
  private static func text(_ number: Double) -> String {
    number.isFinite ? ValueForm.text(number) : number < 0 ? "-1e999" : "1e999"
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for letter in text.unicodeScalars {
      switch letter {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      // Also escapes characters that JSON allows but YAML 1.2 does not, because the JSON is read as YAML.
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}", "\u{FEFF}":
        let digits = String(letter.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(letter)
      }
    }
    return quoted + "\""
  }
}

extension OrderedJSON {
  /// The JSON value that represents a YAML value according to the core schema. Editors check this JSON value
  /// against a JSON schema.
  package init(_ node: YAMLNode) {
    switch node.content {
    case .sequence(let elements): self = .array(elements.map(OrderedJSON.init))
    case .mapping(let members):
      self = .object(members.map { Member($0.key.value, OrderedJSON($0.value)) })
    case .scalar(let scalar):
      switch scalar.value {
      case .null: self = .null
      case .bool(let value): self = .bool(value)
      case .integer(let value): self = .integer(value)
      case .float(let value): self = .number(value)
      case .hugeInteger: self = .number(scalar.text.hasPrefix("-") ? -.infinity : .infinity)
      case .string: self = .string(scalar.text)
      }
    }
  }

  /// Parses a value as written in a manifest: `[401]` is a list, `0.5` a number. Nil if it is not valid YAML.
  package init?(yaml text: String) {
    let document = YAMLDocument(SourceText(Array(text.utf8), file: ""))
    guard let root = document.root, document.diagnostics.isEmpty else { return nil }
    self.init(root)
  }
}
