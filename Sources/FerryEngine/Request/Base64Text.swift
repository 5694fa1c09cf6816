/// Base64 encoding of bytes (RFC 4648 §4 and §5).
enum Base64Text {
  static func encode(_ bytes: [UInt8], isURLSafe: Bool, isPadded: Bool) -> [UInt8] {
    let last = isURLSafe ? "-_" : "+/"
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(8 * (3 - group.count))
      for letter in 0...group.count { text.append(letters[Int(bits >> UInt32(18 - 6 * letter) & 63)]) }
      if isPadded { text += repeatElement(UInt8(ascii: "="), count: 3 - group.count) }
    }
    return text
  }
}
