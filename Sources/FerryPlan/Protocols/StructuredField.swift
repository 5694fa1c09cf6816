/// A parser for structured field values (RFC 9651), as far as the fields of resumable uploads need it.
///
/// It fails on every value that the RFC does not allow, because a field that cannot be parsed must be ignored as a whole.
/// It takes linear time and does not recurse.
struct StructuredField {
  /// A bare item. The values of types that no field of resumable uploads uses are checked and dropped.
  enum Item: Hashable, Sendable {
    case integer(Int64)
    case boolean(Bool)
    case other
  }

  private var rest: Substring.UTF8View

  /// - Parameter text: the value of the field. The values of several fields are joined with `, `.
  private init(_ text: String) { rest = text[...].utf8 }

  /// The value of an Item field; `nil` if the field is not valid.
  static func item(_ text: String) -> Item? {
    var parser = StructuredField(text)
    parser.skipSpaces()
    guard let item = parser.item() else { return nil }
    parser.skipSpaces()
    return parser.rest.isEmpty ? item : nil
  }

  /// The members of a Dictionary field; `nil` if the field is not valid. If a key occurs several times, its
  /// last value is used.
  static func dictionary(_ text: String) -> [String: Item]? {
    var parser = StructuredField(text)
    var members: [String: Item] = [:]
    parser.skipSpaces()
    while !parser.rest.isEmpty {
      guard let key = parser.key() else { return nil }
      if parser.skip("=") {
        guard let value = parser.member() else { return nil }
        members[key] = value
      } else {
        guard parser.parameters() else { return nil }
        members[key] = .boolean(true)
      }
      parser.skipBlanks()
      if parser.rest.isEmpty { return members }
      guard parser.skip(",") else { return nil }
      parser.skipBlanks()
      // A comma at the end is not valid.
      guard !parser.rest.isEmpty else { return nil }
    }
    return members
  }

  // MARK: Members

  /// Reads an item or an inner list. The members of an inner list are dropped.
  private mutating func member() -> Item? {
    guard skip("(") else { return item() }
    while true {
      skipSpaces()
      if skip(")") { return parameters() ? .other : nil }
      guard item() != nil, rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else {
        return nil
      }
    }
  }

  /// Reads a bare item, and drops its parameters.
  private mutating func item() -> Item? {
    guard let item = bareItem(), parameters() else { return nil }
    return item
  }

  private mutating func parameters() -> Bool {
    while skip(";") {
      skipSpaces()
      guard key() != nil else { return false }
      if skip("="), bareItem() == nil { return false }
    }
    return true
  }

  private mutating func key() -> String? {
    guard let first = rest.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else { return nil }
    let key = rest.prefix { $0.isLowercaseLetter || $0.isDigit || "_-.*".utf8.contains($0) }
    rest = rest[key.endIndex...]
    return String(Substring(key))
  }

  private mutating func bareItem() -> Item? {
    guard let first = rest.first else { return nil }
    switch first {
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
    case UInt8(ascii: "?"):
      rest.removeFirst()
      guard let digit = rest.popFirst(), digit == UInt8(ascii: "0") || digit == UInt8(ascii: "1") else {
        return nil
      }
      return .boolean(digit == UInt8(ascii: "1"))
    case UInt8(ascii: "\""): return string() ? .other : nil
    case UInt8(ascii: ":"): return byteSequence() ? .other : nil
    case UInt8(ascii: "@"):
      rest.removeFirst()
      if case .integer = number() { return .other }
      return nil
    case UInt8(ascii: "%"):
      rest.removeFirst()
      return string() ? .other : nil
    case UInt8(ascii: "*"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
      rest = rest.drop { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
      return .other
    default: return nil
    }
  }

  // MARK: Values

  /// An integer of at most 15 digits, or a decimal of at most 12 digits before and 3 after its point.
  private mutating func number() -> Item? {
    let isNegative = skip("-")
    let digits = rest.prefix(while: \.isDigit)
    rest = rest[digits.endIndex...]
    guard !digits.isEmpty, digits.count <= 15 else { return nil }
    if skip(".") {
      let fraction = rest.prefix(while: \.isDigit)
      rest = rest[fraction.endIndex...]
      return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
    }
    let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    return .integer(isNegative ? -value : value)
  }

  private mutating func string() -> Bool {
    guard skip("\"") else { return false }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
        else { return false }
      case 0x20...0x7E: break
      default: return false
      }
    }
    return false
  }

  private mutating func byteSequence() -> Bool {
    rest.removeFirst()
    rest = rest.drop { $0.isLowercaseLetter || $0.isUppercaseLetter || $0.isDigit || "+/=".utf8.contains($0) }
    return skip(":")
  }

  // MARK: Characters

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skipSpaces() { rest = rest.drop { $0 == UInt8(ascii: " ") } }
  private mutating func skipBlanks() { rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == 0x09 } }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
  fileprivate var isLowercaseLetter: Bool { (0x61...0x7A).contains(self) }
  fileprivate var isUppercaseLetter: Bool { (0x41...0x5A).contains(self) }
  /// A character of a token (RFC 9110, section 5.6.2).
  fileprivate var isTokenCharacter: Bool {
    isDigit || isLowercaseLetter || isUppercaseLetter || "!#$%&'*+-.^_`|~".utf8.contains(self)
  }
}
