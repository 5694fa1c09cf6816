/// A SHA-256 digest, stored inline: a million of them form one array.
package struct ContentDigest: Hashable, Sendable {
  private var words: SIMD4<UInt64>

  /// - Parameter bytes: exactly 32 bytes; otherwise the result is `nil`.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    words = .zero
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
  }

  package var bytes: [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64(56 - $0 % 8 * 8)) }
  }
}
