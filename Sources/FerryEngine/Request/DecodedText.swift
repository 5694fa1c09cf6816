import FerryDigest

/// A text from which an encoding was removed, with the position of each byte in the original text.
struct DecodedText {
  let bytes: [UInt8]
  /// The range of the original text that each byte comes from.
  private let starts: [Int]
  private let ends: [Int]

  /// The encodings of text inside a text.
  enum Encoding: CaseIterable {
    /// RFC 3986 §2.1.
    case percent
    /// The escape sequences of a JSON string (RFC 8259 §7), for any character.
    case json
    /// The character references of HTML: numeric ones, and the named ones that encoders write for `&`, `"`, `'`, `<`
    /// and `>`.
    case html

    /// A byte that every text in this encoding contains.
    fileprivate var mark: UInt8 {
      switch self {
      case .percent: UInt8(ascii: "%")
      case .json: UInt8(ascii: "\\")
      case .html: UInt8(ascii: "&")
      }
    }
  }

  /// Returns `nil` if the text does not contain the encoding.
  init?(_ text: [UInt8], removing encoding: Encoding) {
    guard text.contains(encoding.mark) else { return nil }
    var bytes: [UInt8] = []
    var (starts, ends): ([Int], [Int]) = ([], [])
    bytes.reserveCapacity(text.count)
    starts.reserveCapacity(text.count)
    ends.reserveCapacity(text.count)
    var position = 0
    while position < text.count {
      let before = bytes.count
      var length = 1
      if text[position] == encoding.mark {
        switch encoding {
        case .percent: length = Self.percentDecode(position, in: text, to: &bytes)
        case .json: length = Self.unescape(position, in: text, to: &bytes)
        case .html: length = Self.dereference(position, in: text, to: &bytes)
        }
      } else {
        bytes.append(text[position])
      }
      for _ in before..<bytes.count {
        starts.append(position)
        ends.append(position + length)
      }
      position += length
    }
    (self.bytes, self.starts, self.ends) = (bytes, starts, ends)
  }

  /// The range of the original text from which a range of bytes was decoded. The range must not be empty.
  func original(_ range: Range<Int>) -> Range<Int> { starts[range.lowerBound]..<ends[range.upperBound - 1] }

  /// Appends the byte that the percent-encoding at a position represents, or the percent sign if the encoding is
  /// invalid. Returns the number of bytes read.
  private static func percentDecode(_ position: Int, in text: [UInt8], to bytes: inout [UInt8]) -> Int {
    guard text.count - position >= 3, let high = Hexadecimal.value(text[position + 1]),
      let low = Hexadecimal.value(text[position + 2])
    else {
      bytes.append(text[position])
      return 1
    }
    bytes.append(high << 4 | low)
    return 3
  }

  /// Like `percentDecode(_:in:to:)`, for an escape sequence of JSON.
  private static func unescape(_ position: Int, in text: [UInt8], to bytes: inout [UInt8]) -> Int {
    let short: UInt8? =
      switch position + 1 < text.count ? text[position + 1] : nil {
      case UInt8(ascii: "\""): UInt8(ascii: "\"")
      case UInt8(ascii: "\\"): UInt8(ascii: "\\")
      case UInt8(ascii: "/"): UInt8(ascii: "/")
      case UInt8(ascii: "b"): 0x08
      case UInt8(ascii: "f"): 0x0C
      case UInt8(ascii: "n"): 0x0A
      case UInt8(ascii: "r"): 0x0D
      case UInt8(ascii: "t"): 0x09
      default: nil
      }
    if let short {
      bytes.append(short)
      return 2
    }
    if let unit = codeUnit(position, in: text) {
      if let scalar = Unicode.Scalar(unit) {
        bytes += Array(UTF8.encode(scalar).map(Array.init) ?? [])
        return 6
      }
      if let low = codeUnit(position + 6, in: text), UTF16.isLeadSurrogate(unit), UTF16.isTrailSurrogate(low)
      {
        bytes += Array(String(decoding: [unit, low], as: UTF16.self).utf8)
        return 12
      }
    }
    bytes.append(text[position])
    return 1
  }

  /// Like `percentDecode(_:in:to:)`, for a character reference of HTML.
  private static func dereference(_ position: Int, in text: [UInt8], to bytes: inout [UInt8]) -> Int {
    let name = text[(position + 1)...].prefix(longestReference).prefix { $0 != UInt8(ascii: ";") }
    let end = position + 1 + name.count
    guard end < text.count, text[end] == UInt8(ascii: ";"), let scalar = scalar(named: name) else {
      bytes.append(text[position])
      return 1
    }
    bytes += Array(String(scalar).utf8)
    return end + 1 - position
  }

  /// The maximum length of the name of a character reference, in bytes. The longest number of a scalar is `#1114111`
  /// or `#x10FFFF`.
  private static let longestReference = 8

  private static func scalar(named name: ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard name.first == UInt8(ascii: "#") else {
      return switch String(decoding: name, as: UTF8.self) {
      case "amp": "&"
      case "quot": "\""
      case "apos": "'"
      case "lt": "<"
      case "gt": ">"
      default: nil
      }
    }
    let isHexadecimal = name.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
    let digits = String(decoding: name.dropFirst(isHexadecimal ? 2 : 1), as: UTF8.self)
    // `UInt32` would also accept a sign.
    guard digits.first?.isHexDigit == true else { return nil }
    return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
  }

  /// The UTF-16 code unit of a `\uXXXX`.
  private static func codeUnit(_ position: Int, in text: [UInt8]) -> UInt16? {
    guard text.count - position >= 6, text[position] == UInt8(ascii: "\\"),
      text[position + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for digit in text[position + 2..<position + 6] {
      guard let value = Hexadecimal.value(digit) else { return nil }
      unit = unit << 4 | UInt16(value)
    }
    return unit
  }
}
