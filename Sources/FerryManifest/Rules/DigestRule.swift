import FerryDigest

/// The rule for a digest in a manifest.
enum DigestRule {
  /// Returns the problem with a text that is not a digest in hexadecimal.
  ///
  /// - Parameter name: the name of the algorithm in messages.
  static func problem(_ text: String, _ name: String, _ algorithm: DigestAlgorithm) -> Problem? {
    let digits = algorithm.size * 2
    guard text.utf8.count != digits || !text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return Problem(
      .wrongType, "a \(name) digest consists of \(digits) hexadecimal digits",
      help: "write the digest as 'sha256sum' and similar programs print it")
  }
}
