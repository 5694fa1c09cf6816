/// Base64 (RFC 4648 §4), so that this target does not need Foundation.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count + 2) / 3 * 4)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 1
      if count == 3 {
        for shift in [18, 12, 6, 0] { output.append(alphabet[Int(bits >> UInt32(shift) & 63)]) }
        bits = 0
        count = 0
      }
    }
    if count > 0 {
      bits <<= UInt32(8 * (3 - count))
      for shift in [18, 12, 6, 0].prefix(count + 1) {
        output.append(alphabet[Int(bits >> UInt32(shift) & 63)])
      }
      output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: 3 - count))
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// `nil` if the text is not what `encode` would produce.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    guard text.utf8.count.isMultiple(of: 4) else { return nil }
    var output: [UInt8] = []
    var bits: UInt32 = 0
    for (index, digit) in digits.enumerated() {
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      if index % 4 > 0 { output.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))) }
    }
    return encode(output) == text ? output : nil
  }
}
