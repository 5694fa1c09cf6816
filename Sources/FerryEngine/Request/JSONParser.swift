import FerryDigest
import FerryPlan

/// Parses one JSON text (RFC 8259) strictly and without losing digits.
struct JSONParser {
  /// The maximum nesting depth; the parser is recursive.
  static let depthLimit = 256
  /// The maximum number of values. A value takes up to about 200 bytes of memory, even if its text is short:
  /// `[1,1,…]` of 1 MiB contains half a million values.
  static let valueLimit = 100_000
  /// The maximum number of values in the list of a download batch.
  static let listValueLimit = 1_000_000

  private let bytes: [UInt8]
  private var position = 0
  private var values = 0
  private let limit: Int
  /// The reason why `value(depth:)` returned `nil`.
  private var problem = JSONProblem.malformed

  static func parse(_ bytes: [UInt8], valueLimit: Int = valueLimit) throws(JSONProblem) -> JSONValue {
    var parser = JSONParser(bytes: bytes, limit: valueLimit)
    // RFC 8259 §8.1: a byte order mark may be ignored.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
    guard let value = parser.value(depth: 0) else { throw parser.problem }
    parser.skipSpace()
    guard parser.position == bytes.count else { throw .malformed }
    return value
  }

  private init(bytes: [UInt8], limit: Int) { (self.bytes, self.limit) = (bytes, limit) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func skip(_ letter: Unicode.Scalar) -> Bool {
    guard let byte = next, UInt32(byte) == letter.value else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) -> JSONValue? {
    guard depth < Self.depthLimit else { return fail(.tooDeep) }
    guard values < limit else { return fail(.tooManyValues) }
    values += 1
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func fail(_ problem: JSONProblem) -> JSONValue? {
    self.problem = problem
    return nil
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
    let length = word.utf8CodeUnitCount
    guard bytes.count - position >= length,
      bytes[position..<(position + length)].elementsEqual(
        UnsafeBufferPointer(start: word.utf8Start, count: length))
    else { return nil }
    position += length
    return value
  }

  private mutating func object(depth: Int) -> JSONValue? {
    position += 1
    var members: [JSONValue.Member] = []
    skipSpace()
    if skip("}") { return .object(members) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard skip(":"), let value = value(depth: depth + 1) else { return nil }
      members.append(JSONValue.Member(name: name, value: value))
      skipSpace()
      if skip("}") { return .object(members) }
      guard skip(",") else { return nil }
    }
  }

  private mutating func array(depth: Int) -> JSONValue? {
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if skip("]") { return .array(elements) }
    while true {
      guard let value = value(depth: depth + 1) else { return nil }
      elements.append(value)
      skipSpace()
      if skip("]") { return .array(elements) }
      guard skip(",") else { return nil }
    }
  }

  private mutating func number() -> JSONValue? {
    let start = position
    _ = skip("-")
    if !skip("0") { guard digits() else { return nil } }
    if skip(".") { guard digits() else { return nil } }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      guard digits() else { return nil }
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func string() -> String? {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): guard escape(into: &text) else { return nil }
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape(into text: inout [UInt8]) -> Bool {
    guard let byte = next else { return false }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      guard let unit = hexUnit() else { return false }
      text.append(contentsOf: String(scalar(unit)).utf8)
    default: return false
    }
    return true
  }

  /// Replaces an unpaired surrogate with U+FFFD.
  private mutating func scalar(_ unit: UInt32) -> Unicode.Scalar {
    if (0xD800..<0xDC00).contains(unit), bytes.count - position >= 6, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    {
      let back = position
      position += 2
      if let low = hexUnit(), (0xDC00..<0xE000).contains(low) {
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
      }
      position = back
    }
    return Unicode.Scalar(unit) ?? "\u{FFFD}"
  }

  private mutating func hexUnit() -> UInt32? {
    guard bytes.count - position >= 4 else { return nil }
    var unit: UInt32 = 0
    for byte in bytes[position..<(position + 4)] {
      guard let digit = Hexadecimal.value(byte) else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    position += 4
    return unit
  }
}

/// The reason why a string could not be parsed as JSON.
enum JSONProblem: Error {
  case malformed
  /// The nesting is deeper than `JSONParser.depthLimit`.
  case tooDeep
  /// There are more values than the limit given to the parser.
  case tooManyValues

  /// A clause about the response, for messages.
  var message: String {
    switch self {
    case .malformed: "the response is not JSON"
    case .tooDeep: "the response's JSON is nested more than \(JSONParser.depthLimit) levels deep"
    case .tooManyValues: "the response's JSON contains more than \(JSONParser.valueLimit) values"
    }
  }
}
