/// A scalar as written, and its meaning according to the YAML 1.2 core schema (§10.3.2).
package struct YAMLScalar: Sendable {
  package enum Style: Sendable {
    case plain
    case singleQuoted
    case doubleQuoted
    case literal
    case folded
  }

  /// The meaning of a scalar.
  package enum Value: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// An integer that does not fit in 64 bits.
    case hugeInteger
    case float(Double)
    case string
  }

  package var text: String
  package var style: Style
  /// A tag that determines the type of the value regardless of its text: `!!str 5`.
  package var forcedType: ForcedType?
  /// Whether the scalar starts and ends on one line.
  package var isOnOneLine: Bool

  package enum ForcedType: Sendable {
    case string
    /// Resolved as if the scalar were unquoted: `!!int "5"`.
    case resolved
  }

  package var value: Value {
    switch forcedType {
    case .string: .string
    case .resolved: Self.resolve(text)
    case nil: style == .plain ? Self.resolve(text) : .string
    }
  }

  /// The meaning of a plain scalar; `no`, `on` and `yes` are strings.
  package static func resolve(_ text: String) -> Value {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .float(.infinity)
    case "-.inf", "-.Inf", "-.INF": return .float(-.infinity)
    case ".nan", ".NaN", ".NAN": return .float(.nan)
    default: break
    }
    // The first byte rules out a number for almost every string.
    guard let first = text.utf8.first, isDigit(first) || first == 0x2B || first == 0x2D || first == 0x2E
    else { return .string }
    if text.hasPrefix("0o") { return integer(text.dropFirst(2), radix: 8) }
    if text.hasPrefix("0x") { return integer(text.dropFirst(2), radix: 16) }
    let unsigned = first == 0x2B || first == 0x2D ? text.dropFirst() : text[...]
    if !unsigned.isEmpty, unsigned.utf8.allSatisfy(isDigit) {
      return Int64(text).map(Value.integer) ?? .hugeInteger
    }
    guard isDecimal(unsigned), let number = Double(text) else { return .string }
    return .float(number)
  }

  private static func integer(_ digits: Substring, radix: Int) -> Value {
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.hexDigitValue.map { $0 < radix } == true })
    else { return .string }
    return Int64(digits, radix: radix).map(Value.integer) ?? .hugeInteger
  }

  /// Whether the text matches `\. [0-9]+ | [0-9]+ ( \. [0-9]* )?`, followed by an optional exponent.
  private static func isDecimal(_ text: Substring) -> Bool {
    var rest = text.utf8
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction = 0
    if rest.first == 0x2E {
      rest = rest.dropFirst()
      fraction = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(fraction)
    }
    guard whole.count + fraction > 0 else { return false }
    guard let mark = rest.first else { return true }
    guard mark == 0x65 || mark == 0x45 else { return false }
    rest = rest.dropFirst()
    if rest.first == 0x2B || rest.first == 0x2D { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
