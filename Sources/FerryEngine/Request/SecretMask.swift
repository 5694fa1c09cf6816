import CFiles

/// Takes secrets out of a text that people will see.
///
/// A secret is found plain, percent-encoded in any way (`%20` or `+`, either case of the digits), as the inside
/// of a JSON string, in lower case, and in Base64 (standard and URL-safe, padded or not, and within `user:secret`). One shorter
/// than three bytes is not masked: it would be found everywhere, and its gaps would tell it.
///
/// A server chooses many of the secrets and texts, so the time is bounded: every place of a text is looked at once for
/// all short secrets together, and every long secret takes time linear in the text.
package struct SecretMask: Sendable {
  /// How often each was inserted. As bytes: String takes differently composed letters for equal.
  private var secrets: [[UInt8]: Int] = [:]
  /// What to look for that is short: sorted, with a blank for each `+`.
  private var short: [[UInt8]] = []
  /// What to look for that is long, likewise with blanks.
  private var long: [[UInt8]] = []

  /// From this many bytes on, a needle is long.
  private static let longCount = 32

  /// How many secrets it looks for.
  package var count: Int { secrets.count }

  package init(_ secrets: some Sequence<String> = []) {
    for secret in secrets { insert(secret) }
  }

  package mutating func insert(_ secret: String) {
    guard secret.utf8.count >= 3 else { return }
    let count = secrets[Array(secret.utf8), default: 0] + 1
    secrets[Array(secret.utf8)] = count
    guard count == 1 else { return }
    for needle in Self.needles(of: secret) {
      if needle.count < Self.longCount {
        short.insert(needle, at: firstShort { !$0.lexicographicallyPrecedes(needle) })
      } else {
        long.append(needle)
      }
    }
  }

  /// Takes back one `insert`, for a capture whose item is done: each secret costs time in every `mask`. What was
  /// inserted more often stays masked.
  package mutating func remove(_ secret: String) {
    guard let count = secrets[Array(secret.utf8)] else { return }
    secrets[Array(secret.utf8)] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    for needle in Self.needles(of: secret) {
      if needle.count < Self.longCount {
        let index = firstShort { !$0.lexicographicallyPrecedes(needle) }
        if index < short.count, short[index] == needle { short.remove(at: index) }
      } else if let index = long.lastIndex(of: needle) {
        long.remove(at: index)
      }
    }
  }

  private static func needles(of secret: String) -> Set<[UInt8]> { Set(forms(of: secret).map(withBlanks)) }

  /// The text with `***` in the place of each secret. Secrets that overlap are masked together.
  package func mask(_ text: String) -> String {
    guard !secrets.isEmpty, !text.isEmpty else { return text }
    let bytes = Array(text.utf8)
    var found = matches(in: Self.withBlanks(bytes))
    if bytes.contains(UInt8(ascii: "%")) {
      let (decoded, starts) = Self.decoded(bytes)
      found += matches(in: Self.withBlanks(decoded)).map { starts[$0.lowerBound]..<starts[$0.upperBound] }
    }
    guard !found.isEmpty else { return text }
    found.sort { $0.lowerBound < $1.lowerBound }
    var masked: [UInt8] = []
    var copied = 0
    for range in found {
      if range.lowerBound >= copied {
        masked += bytes[copied..<range.lowerBound]
        masked += "***".utf8
      }
      copied = max(copied, range.upperBound)
    }
    masked += bytes[copied...]
    return String(decoding: masked, as: UTF8.self)
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

  /// The end of the longest short needle that begins at a place.
  private func end(ofShortAt start: Int, in text: [UInt8]) -> Int? {
    var end: Int?
    // The needles that begin as the text does from `start` to `position`.
    var candidates = short.indices
    for position in start..<min(text.count, start + Self.longCount) {
      let depth = position - start
      let byte = text[position]
      let lower = first(in: candidates) { $0.count > depth && $0[depth] >= byte }
      let upper = first(in: lower..<candidates.upperBound) { $0[depth] > byte }
      candidates = lower..<upper
      guard let shortest = candidates.first else { return end }
      // Of those with one beginning, the one that has no more comes first.
      if short[shortest].count == depth + 1 { end = position + 1 }
    }
    return end
  }

  private func firstShort(where isReached: ([UInt8]) -> Bool) -> Int {
    first(in: short.indices, where: isReached)
  }

  /// The first of the sorted needles for which this holds, as it does for all behind it.
  private func first(in range: Range<Int>, where isReached: ([UInt8]) -> Bool) -> Int {
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while lower < upper {
      let middle = (lower + upper) / 2
      if isReached(short[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }

  // MARK: Long needles

  /// Where a needle occurs, overlapping occurrences included.
  private static func places(of needle: [UInt8], in text: [UInt8]) -> [Range<Int>] {
    // Nearly every text has none, which memmem(3) finds out without a table.
    let occurs = text.withUnsafeBytes { memmem($0.baseAddress, $0.count, needle, needle.count) != nil }
    guard occurs else { return [] }
    // Knuth, Morris and Pratt: how much of the needle's beginning ends at each of its places.
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

  /// The text with every percent-encoded byte decoded; and where each of its bytes began, and the last one ended.
  private static func decoded(_ text: [UInt8]) -> (bytes: [UInt8], starts: [Int]) {
    var bytes: [UInt8] = []
    var starts: [Int] = []
    var position = 0
    while position < text.count {
      let byte = percentDecoded(position, in: text)
      bytes.append(byte ?? text[position])
      starts.append(position)
      position += byte == nil ? 1 : 3
    }
    return (bytes, starts + [text.count])
  }

  /// With a blank for each `+`, which stands for one in a query.
  private static func withBlanks(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
  }

  private static func percentDecoded(_ position: Int, in text: [UInt8]) -> UInt8? {
    guard text[position] == UInt8(ascii: "%"), text.count - position >= 3,
      let high = Hexadecimal.value(text[position + 1]), let low = Hexadecimal.value(text[position + 2])
    else { return nil }
    return high << 4 | low
  }

  private static func forms(of secret: String) -> Set<[UInt8]> {
    let plain = Array(secret.utf8)
    // Hosts of URLs are shown in lower case.
    var forms: Set<[UInt8]> = [plain, Array(secret.lowercased().utf8)]
    var quoted: [UInt8] = []
    JSONText.append(plain, to: &quoted)
    forms.insert(Array(quoted.dropFirst().dropLast()))
    for isURLSafe in [false, true] {
      let whole = Base64Text.encode(plain, isURLSafe: isURLSafe, isPadded: true)
      forms.insert(whole)
      forms.insert(Array(whole.prefix { $0 != UInt8(ascii: "=") }))
      for offset in 0..<3 {
        // Only the letters that no neighbour has a bit of; short ones would be found by chance.
        let shifted = Base64Text.encode(
          Array(repeating: 0, count: offset) + plain, isURLSafe: isURLSafe, isPadded: false)
        let bits = (offset + plain.count) * 8
        let core = shifted[..<(bits / 6)].dropFirst((offset * 8 + 5) / 6)
        if core.count >= 8 { forms.insert(Array(core)) }
      }
    }
    return forms
  }
}
