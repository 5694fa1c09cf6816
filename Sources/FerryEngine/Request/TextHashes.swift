/// The hashes of the substrings of a text.
struct TextHashes {
  let text: [UInt8]
  /// The hashes of the text's prefixes, by length.
  private var beginnings: [UInt64] = [0]
  /// The powers of the base.
  private var powers: [UInt64] = [1]

  /// - Parameter longest: the greatest length of a substring, in bytes; 0 if no hashes are needed.
  init(_ text: [UInt8], longest: Int) {
    self.text = text
    guard longest > 0 else { return }
    beginnings.reserveCapacity(text.count + 1)
    var hash: UInt64 = 0
    for byte in text {
      hash = PolynomialHash.appending(byte, to: hash)
      beginnings.append(hash)
    }
    // `SecretFingerprints` also looks up prefixes of eight bytes, even if every form is shorter.
    for _ in 0..<min(max(longest, 8), text.count) {
      powers.append(PolynomialHash.product(powers[powers.count - 1], PolynomialHash.base))
    }
  }

  var count: Int { text.count }

  func hash(at start: Int, length: Int) -> UInt64 {
    PolynomialHash.difference(
      beginnings[start + length], PolynomialHash.product(beginnings[start], powers[length]))
  }
}

/// Polynomial hashes modulo the prime 2^61 - 1.
enum PolynomialHash {
  private static let prime: UInt64 = (1 << 61) - 1
  /// The base is random, so that a server cannot choose texts with the same hash. Apart from such collisions,
  /// results do not depend on the base.
  static let base = UInt64.random(in: 1 << 32..<prime)

  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0) { appending($1, to: $0) }
  }

  static func appending(_ byte: UInt8, to hash: UInt64) -> UInt64 {
    reduced(product(hash, base) &+ UInt64(byte) &+ 1)
  }

  static func product(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (high, low) = first.multipliedFullWidth(by: second)
    // 2^61 is congruent to 1.
    return reduced((low & prime) &+ (low >> 61 | high << 3))
  }

  static func difference(_ first: UInt64, _ second: UInt64) -> UInt64 {
    first >= second ? first &- second : first &+ prime &- second
  }

  private static func reduced(_ value: UInt64) -> UInt64 { value >= prime ? value &- prime : value }

  /// A hash and a length in one number other than zero, with all bits mixed.
  static func fingerprint(_ hash: UInt64, length: Int) -> UInt64 {
    var mixed = hash &+ UInt64(length) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 32) &* 0xD6E8_FEB8_6659_FD93
    mixed = (mixed ^ mixed >> 32) &* 0xD6E8_FEB8_6659_FD93
    mixed ^= mixed >> 32
    return mixed == 0 ? 1 : mixed
  }

  /// A length without its low bits, of which there are few (`rounding`).
  static func rounded(_ length: Int) -> Int { length & ~rounding(of: length) }

  /// A mask of the low bits that are ignored in a length. At most 64 lengths are distinguished between two
  /// successive powers of two, because a server could otherwise slow down the search with secrets of many
  /// different lengths.
  static func rounding(of length: Int) -> Int {
    (1 << max(0, Int.bitWidth - length.leadingZeroBitCount - 7)) - 1
  }
}
