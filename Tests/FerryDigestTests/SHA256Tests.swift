import Foundation
import Testing

@testable import FerryDigest

@Suite struct SHA256Tests {
  private func text(_ digest: [UInt8]) -> String { digest.map { String(format: "%02x", $0) }.joined() }

  /// The examples that NIST publishes for FIPS 180-4.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      String(repeating: "a", count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ])
  func theDigestOfAKnownTextIsCorrect(input: String, digest: String) {
    #expect(text(SHA256.hash(input.utf8)) == digest)
    // The input is passed in pieces, and as a sequence without contiguous storage.
    let hash = SHA256()
    for byte in input.utf8.prefix(1000) { hash.update([byte]) }
    hash.update(input.utf8.dropFirst(1000).lazy.map(\.self))
    #expect(text(hash.finalize()) == digest)
  }

  @Test func aFinalizedDigestStartsOver() {
    let hash = SHA256()
    hash.update("first".utf8)
    #expect(hash.finalize() == SHA256.hash("first".utf8))
    hash.update("second".utf8)
    #expect(hash.finalize() == SHA256.hash("second".utf8))
    #expect(hash.finalize() == SHA256.hash([]))
  }
}
