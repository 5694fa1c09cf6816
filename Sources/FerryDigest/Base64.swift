/// Base64 (RFC 4648 §4 and §5), for targets that do not import Foundation.
package enum Base64 {
  private static let standard = alphabet("+/")
  private static let urlSafe = alphabet("-_")

  private static func alphabet(_ last: String) -> [UInt8] {
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
  }

  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: encode(bytes, isURLSafe: false, isPadded: true), as: UTF8.self)
  }

  /// Encodes bytes as ASCII characters.
  ///
  /// - Parameters:
  ///   - isURLSafe: whether `-` and `_` replace `+` and `/`.
  ///   - isPadded: whether the output is padded with `=` to a multiple of four characters.
  package static func encode(
    _ bytes: some Collection<UInt8>, isURLSafe: Bool, isPadded: Bool
  ) -> [UInt8] {
    let letters = isURLSafe ? urlSafe : standard
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes[...]
    while !rest.isEmpty {
      let group = rest.prefix(3)
      rest = rest.dropFirst(3)
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(8 * (3 - group.count))
      for letter in 0...group.count { text.append(letters[Int(bits >> UInt32(18 - 6 * letter) & 63)]) }
      if isPadded { text += repeatElement(UInt8(ascii: "="), count: 3 - group.count) }
    }
    return text
  }

  /// Returns `nil` if the text is not the standard, padded encoding of any bytes.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    guard text.utf8.count.isMultiple(of: 4) else { return nil }
    var output: [UInt8] = []
    var bits: UInt32 = 0
    for (index, digit) in digits.enumerated() {
      guard let value = standard.firstIndex(of: digit) else { return nil }
      bits = bits << 6 | UInt32(value)
      if index % 4 > 0 { output.append(UInt8(truncatingIfNeeded: bits >> UInt32(6 - index % 4 * 2))) }
    }
    return encode(output) == text ? output : nil
  }
}
