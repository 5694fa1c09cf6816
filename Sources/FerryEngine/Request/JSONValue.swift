/// A parsed JSON text. Numbers keep their text, so that identifiers do not lose digits.
indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  struct Member: Hashable, Sendable {
    var name: String
    var value: JSONValue
  }

  /// The value at a JSON pointer (RFC 6901). If several members have the same name, the last one is used.
  func value(at pointer: String) -> JSONValue? {
    guard !pointer.isEmpty else { return self }
    guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
    var value = self
    let parts = pointer.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for part in parts.map(Substring.init) {
      switch value {
      case .object(let members):
        let name = Self.unescaped(part)
        // Compare scalars: String's == treats differently composed characters as equal; RFC 6901 §4 does not.
        guard let member = members.last(where: { $0.name.unicodeScalars.elementsEqual(name.unicodeScalars) })
        else { return nil }
        value = member.value
      case .array(let elements):
        // RFC 6901 §4: no sign, no leading zero; "-" is the element after the last one.
        guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), part == "0" || part.utf8.first != 0x30,
          let index = Int(part), index < elements.count
        else { return nil }
        value = elements[index]
      case .null, .bool, .number, .string:
        return nil
      }
    }
    return value
  }

  /// Decodes `~0` and `~1` in one pass, so that `~01` becomes `~1` (RFC 6901 §4).
  private static func unescaped(_ part: Substring) -> String {
    guard part.utf8.contains(UInt8(ascii: "~")) else { return String(part) }
    var text = String.UnicodeScalarView()
    var letters = part.unicodeScalars.makeIterator()
    while let letter = letters.next() {
      guard letter == "~" else {
        text.append(letter)
        continue
      }
      switch letters.next() {
      case "0": text.append("~")
      case "1": text.append("/")
      case let other?:
        text.append("~")
        text.append(other)
      case nil: text.append("~")
      }
    }
    return String(text)
  }
}
