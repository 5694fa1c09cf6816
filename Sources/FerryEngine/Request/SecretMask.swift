import FerryDigest
import FerryManifest
import FerryPlan

/// Masks secrets in text for display.
///
/// A secret is found in plain text; percent-encoded in any way (`%20` or `+`, upper- or lower-case digits); inside a
/// JSON string, regardless of the characters that its encoder escapes (`\u0026`, `\/`); with the character references
/// of HTML (`&amp;`, `&#39;`); in lower case; in Base64 (standard and URL-safe, padded or not, and within
/// `user:secret`); as the filters of the manifest's references write it; and in two of these encodings of text, one
/// inside the other. The parts of a secret URL that a server may quote alone (`SecretURLParts`) are found in the same
/// encodings of text. A secret shorter than three bytes is not masked, because it would be found everywhere and the
/// replacements would reveal it.
///
/// A server determines many of the secrets and strings, so the time is bounded: each position of a string is
/// examined once for all secrets together.
package struct SecretMask: Sendable {
  /// What is searched for in a text.
  package enum Scope {
    /// Everything that must not be shown.
    case display
    /// The whole secrets in use, without the parts of URLs. Whether a value is journaled as secret depends on them: it
    /// must depend neither on the secrets of other items that have ended nor on values that a URL also contains, such
    /// as an upload ID.
    case wholeSecretsInUse
    /// Also the secrets that are no longer in use.
    case wholeSecrets
  }

  /// The number of insertions of each secret. Keys are bytes, because String treats differently composed
  /// characters as equal.
  private var secrets: [[UInt8]: Int] = [:]
  /// The forms of the whole secrets in use.
  private var whole = NeedleSet()
  /// The parts of the secrets in use that are URLs.
  private var parts = NeedleSet()

  /// The secrets that are no longer in use.
  private var retired: SecretFingerprints

  /// The number of secrets in use.
  package var count: Int { secrets.count }

  /// The sequences of filters that a secret may pass through.
  private var filters: Set<[ReferenceFilter]>

  /// - Parameters:
  ///   - filters: the sequences of filters that a secret may pass through.
  ///   - capacity: the minimum number of retired secrets that are masked.
  package init(
    _ secrets: some Sequence<String> = [], filters: Set<[ReferenceFilter]> = [],
    retired capacity: Int = SecretFingerprints.defaultCapacity
  ) {
    self.filters = filters
    retired = SecretFingerprints(capacity: capacity)
    for secret in secrets { insert(secret) }
  }

  /// Adds sequences of filters that a secret in use may pass through.
  mutating func add(filters more: Set<[ReferenceFilter]>) {
    guard !more.isSubset(of: filters) else { return }
    var mask = SecretMask(filters: filters.union(more))
    mask.retired = retired
    for (secret, count) in secrets {
      for _ in 0..<count { mask.insert(String(decoding: secret, as: UTF8.self)) }
    }
    self = mask
  }

  /// Whether a whole secret may occur in a string, given the lengths of both in bytes. The only forms that are shorter
  /// than the secret are its lower-case form, which has at least a third of the bytes, and the forms derived from its
  /// digest.
  package func mayOccur(_ secret: Int, in text: Int) -> Bool {
    secret / 3 <= text || (text >= 2 * SHA256.size && filters.contains { $0.contains(.sha256) })
  }

  package func contains(_ secret: String) -> Bool { secrets[Array(secret.utf8)] != nil }

  package mutating func insert(_ secret: String) {
    guard secret.utf8.count >= 3 else { return }
    let count = secrets[Array(secret.utf8), default: 0] + 1
    secrets[Array(secret.utf8)] = count
    guard count == 1 else { return }
    for needle in needles(of: secret) { whole.insert(needle) }
    for part in SecretURLParts(secret).texts { parts.insert(Self.withBlanks(part)) }
  }

  /// Undoes one `insert` for a capture whose item has ended. Also accepts a secret that was never inserted. A
  /// secret without remaining insertions takes little memory and time from then on, and is masked until very
  /// many others have been retired after it.
  package mutating func retire(_ secret: String) {
    guard secret.utf8.count >= 3 else { return }
    let count = secrets[Array(secret.utf8), default: 0]
    secrets[Array(secret.utf8)] = count > 1 ? count - 1 : nil
    guard count <= 1 else { return }
    let (forms, urlParts) = (needles(of: secret), SecretURLParts(secret).texts.map(Self.withBlanks))
    retired.insert(forms.union(urlParts), isLasting: false)
    guard count == 1 else { return }
    for needle in forms { whole.remove(needle) }
    for part in urlParts { parts.remove(part) }
  }

  /// Masks a secret permanently, whether it is in use or not.
  package mutating func keepFingerprint(of secret: String) {
    guard secret.utf8.count >= 3 else { return }
    retired.insert(
      needles(of: secret).union(SecretURLParts(secret).texts.map(Self.withBlanks)), isLasting: true)
  }

  private func needles(of secret: String) -> Set<[UInt8]> {
    Set((Self.forms(of: secret) + filteredForms(of: secret)).map(Self.withBlanks))
  }

  private func filteredForms(of secret: String) -> [[UInt8]] {
    // Secrets and the results of all filters are UTF-8.
    filters.compactMap { try? $0.apply(to: Array(secret.utf8)) }
  }

  /// The text with every secret replaced by `***`. Overlapping secrets are masked together.
  ///
  /// - Parameter more: texts that are replaced too.
  package func mask(_ text: String, _ scope: Scope = .display, hiding more: [[UInt8]] = []) -> String {
    guard !secrets.isEmpty || !retired.isEmpty && scope != .wholeSecretsInUse || !more.isEmpty, !text.isEmpty
    else {
      return text
    }
    let bytes = Array(text.utf8)
    let masked = mask(bytes, upTo: bytes.count, scope, hiding: more)
    return masked == bytes ? text : String(decoding: masked, as: UTF8.self)
  }

  /// The first bytes of a string, with every secret that begins in them replaced by `***`.
  ///
  /// - Parameters:
  ///   - end: the number of bytes wanted. A secret that continues after them is also recognized.
  ///   - more: texts that are replaced too.
  package func mask(
    _ bytes: [UInt8], upTo end: Int, _ scope: Scope = .display, hiding more: [[UInt8]] = []
  ) -> [UInt8] {
    var others = NeedleSet()
    for text in more { others.insert(Self.withBlanks(text)) }
    func matches(in text: [UInt8]) -> [Range<Int>] {
      let longest = max(whole.longest, others.longest, parts.longest, retired.longest)
      let text = TextHashes(Self.withBlanks(text), longest: longest)
      let found = whole.matches(in: text) + others.matches(in: text)
      switch scope {
      case .display: return found + parts.matches(in: text) + retired.matches(in: text)
      case .wholeSecretsInUse: return found
      case .wholeSecrets: return found + retired.matches(in: text)
      }
    }
    var found = matches(in: bytes)
    for outer in DecodedText.Encoding.allCases {
      guard let text = DecodedText(bytes, removing: outer) else { continue }
      found += matches(in: text.bytes).map(text.original)
      for inner in DecodedText.Encoding.allCases {
        guard let twice = DecodedText(text.bytes, removing: inner) else { continue }
        found += matches(in: twice.bytes).map { text.original(twice.original($0)) }
      }
    }
    found.sort { $0.lowerBound < $1.lowerBound }
    var masked: [UInt8] = []
    var copied = 0
    for range in found where range.lowerBound < end {
      if range.lowerBound >= copied {
        masked += bytes[copied..<range.lowerBound]
        masked += "***".utf8
      }
      copied = max(copied, range.upperBound)
    }
    if copied < end { masked += bytes[copied..<end] }
    return masked
  }

  /// The maximum length of a secret in a string, in any of its forms, in bytes.
  package func longestForm(of secret: String) -> Int {
    let count = secret.utf8.count
    // Base64 has four characters for three bytes.
    let plain = max(count, (count + 2) / 3 * 4 + 4)
    let filtered = filters.map { Self.bound(of: count, through: $0) }.max() ?? 0
    return Self.longestEncoding(ofBytes: max(plain, filtered))
  }

  /// The maximum length of a string of `count` bytes in the encodings of text that are recognized.
  package static func longestEncoding(ofBytes count: Int) -> Int {
    // JSON and HTML need at most six characters for each byte, and percent-encoding needs three for each of
    // these characters.
    3 * 6 * count
  }

  /// The maximum number of bytes that filters produce from `count` bytes.
  private static func bound(of count: Int, through filters: [ReferenceFilter]) -> Int {
    filters.reduce(count) { count, filter in
      switch filter {
      case .url, .query, .lower: 3 * count
      case .base64: (count + 2) / 3 * 4
      case .json: 6 * count
      case .sha256: 2 * SHA256.size
      }
    }
  }

  // MARK: Forms

  /// Replaces each `+` with a space, its meaning in a query.
  private static func withBlanks(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
  }

  private static func forms(of secret: String) -> Set<[UInt8]> {
    let plain = Array(secret.utf8)
    // The host of a URL is shown in lower case.
    var forms: Set<[UInt8]> = [plain, Array(secret.lowercased().utf8)]
    for isURLSafe in [false, true] {
      let whole = Base64.encode(plain, isURLSafe: isURLSafe, isPadded: true)
      forms.insert(whole)
      forms.insert(Array(whole.prefix { $0 != UInt8(ascii: "=") }))
      for offset in 0..<3 {
        // Use only the characters that do not depend on adjacent bytes. Ignore short results, which would
        // match by chance.
        let shifted = Base64.encode(
          Array(repeating: 0, count: offset) + plain, isURLSafe: isURLSafe, isPadded: false)
        let bits = (offset + plain.count) * 8
        let core = shifted[..<(bits / 6)].dropFirst((offset * 8 + 5) / 6)
        if core.count >= 8 { forms.insert(Array(core)) }
      }
    }
    return forms
  }
}
