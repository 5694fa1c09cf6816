/// RFC 4648 §4, so that this target needs no Foundation.
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
}
