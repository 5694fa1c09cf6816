import FerryManifest

/// A value without its location and spelling: a JSON value, or one of YAML's infinities.
enum PlainValue: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([PlainValue])
  case object([String: PlainValue])
}

// MARK: - From YAML

extension PlainValue {
  init(_ node: YAMLNode) {
    switch node.content {
    case .sequence(let elements):
      self = .array(elements.map(PlainValue.init))
    case .mapping(let members):
      self = .object(Dictionary(members.map { ($0.key.value, PlainValue($0.value)) }) { $1 })
    case .scalar(let scalar):
      switch scalar.value {
      case .null: self = .null
      case .bool(let value): self = .bool(value)
      case .integer(let value): self = .number(Double(value))
      case .float(let value): self = .number(value)
      case .hugeInteger, .string: self = .string(scalar.text)
      }
    }
  }
}

// MARK: - From JSON

extension PlainValue {
  /// The values in a sequence of JSON texts; `nil` if the text is not valid JSON.
  static func values(ofJSON text: String) -> [PlainValue]? {
    var reader = JSONReader(rest: Substring(text).unicodeScalars)
    var values: [PlainValue] = []
    while !reader.isAtEnd {
      guard let value = reader.value() else { return nil }
      values.append(value)
    }
    return values
  }
}

/// A JSON reader that shares no code with the YAML reader.
private struct JSONReader {
  var rest: Substring.UnicodeScalarView

  var isAtEnd: Bool {
    mutating get {
      rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r" }
      return rest.isEmpty
    }
  }

  mutating func take(_ word: String) -> Bool {
    guard !isAtEnd, rest.starts(with: word.unicodeScalars) else { return false }
    rest = rest.dropFirst(word.unicodeScalars.count)
    return true
  }

  mutating func value() -> PlainValue? {
    if take("null") { return .null }
    if take("true") { return .bool(true) }
    if take("false") { return .bool(false) }
    if take("\"") { return string().map(PlainValue.string) }
    if take("[") { return array() }
    if take("{") { return object() }
    let number = rest.prefix { "+-.0123456789eE".unicodeScalars.contains($0) }
    rest = rest.dropFirst(number.count)
    return Double(String(number)).map(PlainValue.number)
  }

  private mutating func array() -> PlainValue? {
    var elements: [PlainValue] = []
    if take("]") { return .array([]) }
    while let element = value() {
      elements.append(element)
      if take("]") { return .array(elements) }
      guard take(",") else { return nil }
    }
    return nil
  }

  private mutating func object() -> PlainValue? {
    var members: [String: PlainValue] = [:]
    if take("}") { return .object([:]) }
    while take("\""), let key = string(), take(":"), let member = value() {
      members[key] = member
      if take("}") { return .object(members) }
      guard take(",") else { return nil }
    }
    return nil
  }

  /// Reads the rest of a string, after its opening quotation mark.
  private mutating func string() -> String? {
    var text = String.UnicodeScalarView()
    while let letter = rest.popFirst() {
      switch letter {
      case "\"": return String(text)
      case "\\":
        guard let escaped = escape() else { return nil }
        text.append(escaped)
      default: text.append(letter)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    switch rest.popFirst() {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "u":
      let digits = rest.prefix(4)
      rest = rest.dropFirst(4)
      return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
    case let other: return other
    }
  }
}
