import Testing

@testable import FerryEngine

struct SecretFingerprintsTests {
  private func fingerprints(_ secrets: String..., capacity: Int = 100) -> SecretFingerprints {
    var fingerprints = SecretFingerprints(capacity: capacity)
    for secret in secrets { fingerprints.insert([Array(secret.utf8)], isLasting: false) }
    return fingerprints
  }

  private func matches(_ fingerprints: SecretFingerprints, _ text: [UInt8]) -> [Range<Int>] {
    fingerprints.matches(in: TextHashes(text, longest: fingerprints.longest))
  }

  private func found(_ fingerprints: SecretFingerprints, in text: String) -> [String] {
    let bytes = Array(text.utf8)
    return matches(fingerprints, bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  @Test func secretsOfEveryLengthAreFoundEverywhere() {
    for length in 1...128 {
      let secret = String((0..<length).map { Character(UnicodeScalar(UInt8(0x30 + ($0 * 7 + length) % 70))) })
      let known = fingerprints(secret)
      #expect(found(known, in: secret) == [secret])
      // The match of a secret of 128 bytes or more may be one byte too long.
      let places = matches(known, Array("..\(secret).\(secret)".utf8))
      #expect(places.map(\.lowerBound) == [2, 3 + length])
      #expect(places.first?.count == length || length >= 128)
      #expect(found(known, in: "..\(secret.dropLast())").isEmpty)
      #expect(found(known, in: "").isEmpty)
    }
  }

  @Test func theLongestOfSeveralSecretsIsFound() {
    let known = fingerprints("tok", "token", "token-1 of ferry", "token-1 of f", "ferry")
    #expect(
      found(known, in: "token-1 of ferry, token-1 of f, toke") == [
        "token-1 of ferry", "ferry", "token-1 of f", "tok",
      ])
  }

  @Test(arguments: [128, 129, 255, 256, 300, 5_000, 65_536, 87_384])
  func aLongSecretIsFoundWhole(_ length: Int) throws {
    let secret = Array((0..<length).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3 ^ $0 >> 8) })
    var known = SecretFingerprints()
    known.insert([secret], isLasting: false)
    let text = Array(repeating: 0xFF, count: 9) + secret + Array(repeating: 0xFF, count: 2 * length)
    let place = try #require(matches(known, text).first { $0.lowerBound == 9 })
    #expect(place.count >= length && place.count <= length + length / 64)
    #expect(matches(known, secret).first == 0..<length)
    #expect(matches(known, Array(text.prefix(9 + length * 63 / 64))).isEmpty)
  }

  @Test func theLatestSecretsAndAllLastingOnesAreKept() {
    var known = SecretFingerprints(capacity: 10)
    known.insert([Array("the lasting one".utf8)], isLasting: true)
    let secrets = (0..<100).map { "secret \($0)!" }
    for (index, secret) in secrets.enumerated() {
      known.insert([Array(secret.utf8)], isLasting: false)
      // Inserting the same secret again does not use capacity.
      known.insert([Array(secret.utf8)], isLasting: false)
      for latest in secrets[max(0, index - 9)...index] { #expect(found(known, in: latest) == [latest]) }
      if index >= 20 { #expect(found(known, in: secrets[index - 20]).isEmpty) }
      #expect(found(known, in: "the lasting one") == ["the lasting one"])
    }
  }

  /// A server determines both the secrets and the text that is searched.
  @Test func manySecretsAreFoundQuickly() {
    let beginning = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    var known = SecretFingerprints()
    let insertion = ThreadTime.measure {
      for index in 0..<2_000 {
        known.insert([Array("\(beginning)\(index)".utf8), Array("\(index) key".utf8)], isLasting: false)
      }
    }
    #expect(insertion < .seconds(20), "\(insertion)")
    let text = Array(String(repeating: beginning, count: 100).utf8)
    let time = ThreadTime.measure { #expect(matches(known, text).isEmpty) }
    #expect(time < .seconds(20), "\(time)")
    #expect(found(known, in: "a \(beginning)1999") == ["\(beginning)1999"])
  }

  @Test func secretsOfManyLengthsAreFoundQuickly() {
    var known = SecretFingerprints()
    for length in 1...100 {
      known.insert([Array(repeating: UInt8(ascii: "a"), count: 20 * length) + [0]], isLasting: false)
    }
    let text = Array(repeating: UInt8(ascii: "a"), count: 4_000)
    let time = ThreadTime.measure { _ = matches(known, text) }
    #expect(time < .seconds(20), "\(time)")
  }
}
