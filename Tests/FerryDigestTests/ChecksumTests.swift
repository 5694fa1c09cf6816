import Foundation
import Testing

@testable import FerryDigest

@Suite struct `The checksum of a part` {
  private static func text(_ digest: [UInt8]) -> String { digest.map { String(format: "%02x", $0) }.joined() }

  private static func sum(_ algorithm: DigestAlgorithm, _ pieces: [ArraySlice<UInt8>]) -> String {
    let digest = algorithm.makeDigest()
    for piece in pieces { piece.withUnsafeBytes(digest.update) }
    return text(digest.finalize())
  }

  /// The examples that NIST publishes for FIPS 180-4, the check values of CRC-32 and CRC-32C in the catalog of CRC
  /// algorithms, and an example of RFC 3720, section B.4.
  @Test(arguments: [
    (DigestAlgorithm.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (
      .sha1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    ),
    (.sha1, String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    (.crc32, "", "00000000"), (.crc32, "123456789", "cbf43926"),
    (.crc32, "The quick brown fox jumps over the lazy dog", "414fa339"),
    (.crc32c, "", "00000000"), (.crc32c, "123456789", "e3069283"),
    (.crc32c, String(repeating: "\0", count: 32), "8a9136aa"),
  ])
  func `covers its bytes, however they are divided`(
    _ algorithm: DigestAlgorithm, input: String, digest: String
  ) {
    let bytes = Array(input.utf8)
    #expect(Self.sum(algorithm, [bytes[...]]) == digest)
    for cut in [1, 2, 3, 5, 7] where cut < bytes.count {
      #expect(Self.sum(algorithm, [bytes[..<cut], bytes[cut..<cut], bytes[cut...]]) == digest)
    }
  }

  @Test(arguments: [DigestAlgorithm.sha1, .crc32, .crc32c])
  func `starts over after its end`(_ algorithm: DigestAlgorithm) {
    let digest = algorithm.makeDigest()
    Array("first".utf8).withUnsafeBytes(digest.update)
    let first = digest.finalize()
    Array("first".utf8).withUnsafeBytes(digest.update)
    #expect(digest.finalize() == first)
    #expect(digest.finalize() == algorithm.makeDigest().finalize())
  }
}
