import CFiles
import FerryDigest
import FerryManifest
import FerryPlan

/// Masks secrets in text for display.
///
/// A secret is found in plain text; percent-encoded in any way (`%20` or `+`, upper- or lower-case digits); inside a
/// JSON string, regardless of the characters that its encoder escapes (`\u0026`, `\/`); with the character references
/// of HTML (`&amp;`, `&#39;`); in lower case; in Base64 (standard and URL-safe, padded or not, and within
/// `user:secret`); as the filters of the manifest's references write it; and in two of these encodings of text, one
/// inside the other. A secret shorter than three bytes is not masked, because it would be found everywhere and the
/// replacements would reveal it.
///
/// A server determines many of the secrets and strings, so the time is bounded: each position of a string is
/// examined once for all short secrets together, and each long secret takes time linear in the length of the
/// text.
package struct SecretMask: Sendable {
  /// The number of insertions of each secret. Keys are bytes, because String treats differently composed
  /// characters as equal.
  private var secrets: [[UInt8]: Int] = [:]
  /// Short needles (the forms to search for), sorted, with a space in place of each `+`.
  private var short: [[UInt8]] = []
  /// Long needles, with a space in place of each `+`.
  private var long: [[UInt8]] = []

  /// The minimum length of a long needle in bytes.
  private static let longCount = 32

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

  /// Whether a secret may occur in a string, given the lengths of both in bytes. The only forms that are shorter than
  /// the secret are its lower-case form, which has at least a third of the bytes, and the forms derived from its
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
    for needle in needles(of: secret) {
      if needle.count < Self.longCount {
        short.insert(needle, at: firstShort { !$0.lexicographicallyPrecedes(needle) })
      } else {
        long.append(needle)
      }
    }
  }

  /// Undoes one `insert` for a capture whose item has ended. Also accepts a secret that was never inserted. A
  /// secret without remaining insertions takes little memory and time from then on, and is masked until very
  /// many others have been retired after it.
  package mutating func retire(_ secret: String) {
    guard secret.utf8.count >= 3 else { return }
    let count = secrets[Array(secret.utf8), default: 0]
    secrets[Array(secret.utf8)] = count > 1 ? count - 1 : nil
    guard count <= 1 else { return }
    let needles = needles(of: secret)
    retired.insert(needles, isLasting: false)
    guard count == 1 else { return }
    for needle in needles {
      if needle.count < Self.longCount {
        let index = firstShort { !$0.lexicographicallyPrecedes(needle) }
        if index < short.count, short[index] == needle { short.remove(at: index) }
      } else if let index = long.lastIndex(of: needle) {
        long.remove(at: index)
      }
    }
  }

  /// Masks a secret permanently, whether it is in use or not.
  package mutating func keepFingerprint(of secret: String) {
    guard secret.utf8.count >= 3 else { return }
    retired.insert(needles(of: secret), isLasting: true)
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
  /// - Parameter includesRetired: whether secrets that are no longer in use are replaced too.
  package func mask(_ text: String, includesRetired: Bool = true) -> String {
    guard !secrets.isEmpty || !retired.isEmpty && includesRetired, !text.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let masked = mask(bytes, upTo: bytes.count, includesRetired: includesRetired)
    return masked == bytes ? text : String(decoding: masked, as: UTF8.self)
  }

  /// The first bytes of a string, with every secret that begins in them replaced by `***`.
  ///
  /// - Parameter end: the number of bytes wanted. A secret that continues after them is also recognized.
  package func mask(_ bytes: [UInt8], upTo end: Int, includesRetired: Bool = true) -> [UInt8] {
    let retired = includesRetired ? retired : SecretFingerprints()
    func matches(in text: [UInt8]) -> [Range<Int>] {
      let text = Self.withBlanks(text)
      return self.matches(in: text) + retired.matches(in: text)
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
    // JSON and HTML need at most six characters for each byte, and percent-encoding needs three for each of
    // these characters.
    return 3 * 6 * max(plain, filtered)
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

  private func matches(in text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    if !short.isEmpty {
      for start in text.indices {
        if let end = end(ofShortAt: start, in: text) { found.append(start..<end) }
      }
    }
    for needle in long where needle.count <= text.count { found += Self.places(of: needle, in: text) }
    return found
  }

  // MARK: Short needles

  /// The end of the longest short needle that begins at a position.
  private func end(ofShortAt start: Int, in text: [UInt8]) -> Int? {
    var end: Int?
    // The needles that begin with the text from `start` to `position`.
    var candidates = short.indices
    for position in start..<min(text.count, start + Self.longCount) {
      let depth = position - start
      let byte = text[position]
      let lower = first(in: candidates) { $0.count > depth && $0[depth] >= byte }
      let upper = first(in: lower..<candidates.upperBound) { $0[depth] > byte }
      candidates = lower..<upper
      guard let shortest = candidates.first else { return end }
      // Among needles with the same beginning, the shortest comes first.
      if short[shortest].count == depth + 1 { end = position + 1 }
    }
    return end
  }

  private func firstShort(where isReached: ([UInt8]) -> Bool) -> Int {
    first(in: short.indices, where: isReached)
  }

  /// The first of the sorted needles for which the condition holds. The condition must also hold for all later
  /// needles.
  private func first(in range: Range<Int>, where isReached: ([UInt8]) -> Bool) -> Int {
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while lower < upper {
      let middle = (lower + upper) / 2
      if isReached(short[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }

  // MARK: Long needles

  /// The occurrences of a needle, including overlapping ones.
  private static func places(of needle: [UInt8], in text: [UInt8]) -> [Range<Int>] {
    // Most strings do not contain the needle, and memmem(3) detects that without a table.
    let occurs = text.withUnsafeBytes { memmem($0.baseAddress, $0.count, needle, needle.count) != nil }
    guard occurs else { return [] }
    // Knuth–Morris–Pratt: for each position of the needle, the length of its longest proper prefix that ends
    // there.
    var borders = [0]
    var border = 0
    for index in needle.indices.dropFirst() {
      while border > 0, needle[index] != needle[border] { border = borders[border - 1] }
      if needle[index] == needle[border] { border += 1 }
      borders.append(border)
    }
    var places: [Range<Int>] = []
    var matched = 0
    for index in text.indices {
      while matched > 0, matched == needle.count || text[index] != needle[matched] {
        matched = borders[matched - 1]
      }
      if text[index] == needle[matched] { matched += 1 }
      if matched == needle.count { places.append(index + 1 - matched..<index + 1) }
    }
    return places
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
