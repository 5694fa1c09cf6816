import FerryPlan

/// The stored form of captures: one compact JSON object, with the names in the order of capture.
enum CaptureText {
  /// The texts of both columns; `nil` for a column without captures.
  struct Pair {
    var open: String?
    var secret: String?

    init(_ values: [CapturedValue]) {
      open = encode(values, secret: false)
      secret = encode(values, secret: true)
    }
  }

  /// Encodes either the secret captures or the others. Returns `nil` if there are none of that kind.
  static func encode(_ values: [CapturedValue], secret: Bool) -> String? {
    var text = ""
    for value in values where value.isSecret == secret {
      text += text.isEmpty ? "{" : ","
      append(value.name, to: &text)
      text += ":"
      append(value.value, to: &text)
    }
    return text.isEmpty ? nil : text + "}"
  }

  /// Returns `nil` if the text is not in the format that `encode` writes.
  static func decode(_ text: String?, secret: Bool) -> [CapturedValue]? {
    guard var text else { return [] }
    return text.withUTF8 { bytes in
      var reader = Reader(rest: bytes[...])
      var values: [CapturedValue] = []
      guard reader.skip("{") else { return nil }
      repeat {
        guard let name = reader.string(), reader.skip(":"), let value = reader.string() else { return nil }
        values.append(CapturedValue(name: name, value: value, isSecret: secret))
      } while reader.skip(",")
      return reader.skip("}") && reader.rest.isEmpty ? values : nil
    }
  }

  /// Merges two lists of captures. If both contain a name, the newer value is used.
  static func merge(_ old: [CapturedValue], _ new: [CapturedValue]) -> [CapturedValue] {
    var merged = old
    for value in new {
      if let index = merged.firstIndex(where: { $0.name == value.name }) {
        merged[index] = value
      } else {
        merged.append(value)
      }
    }
    return merged
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    // In the usual case, nothing is escaped. A contiguous buffer is searched several times faster than `utf8`.
    var contiguous = string
    guard contiguous.withUTF8({ $0.contains(where: isEscaped) }) else {
      text += contiguous
      text += "\""
      return
    }
    // All escaped characters are ASCII, so the text between them is copied unchanged.
    var rest = string.utf8[...]
    while let end = rest.firstIndex(where: isEscaped) {
      text += Substring(rest[..<end])
      let byte = rest[end]
      if byte < 0x20 {
        text += byte < 0x10 ? "\\u000" : "\\u00"
        text += String(byte, radix: 16)
      } else {
        text += byte == UInt8(ascii: "\"") ? "\\\"" : "\\\\"
      }
      rest = rest[rest.index(after: end)...]
    }
    text += Substring(rest)
    text += "\""
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Operates on bytes: captures may be megabytes long, and a launch reads the captures of all open items.
  private struct Reader {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard let byte = rest.first, byte == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func string() -> String? {
      guard skip("\"") else { return nil }
      var string: [UInt8] = []
      while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
        string += rest[..<end]
        let isEnd = rest[end] == UInt8(ascii: "\"")
        rest = rest[(end + 1)...]
        if isEnd { return String(decoding: string, as: UTF8.self) }
        guard appendEscaped(to: &string) else { return nil }
      }
      return nil
    }

    /// Reads the characters after a backslash.
    private mutating func appendEscaped(to string: inout [UInt8]) -> Bool {
      switch rest.popFirst() {
      case UInt8(ascii: "\""): string.append(UInt8(ascii: "\""))
      case UInt8(ascii: "\\"): string.append(UInt8(ascii: "\\"))
      case UInt8(ascii: "u"):
        let digits = String(decoding: rest.prefix(4), as: UTF8.self)
        rest = rest.dropFirst(4)
        guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else { return false }
        string += UTF8.encode(scalar).map(Array.init) ?? []
      default: return false
      }
      return true
    }
  }
}
