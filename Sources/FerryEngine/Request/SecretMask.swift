import CFiles

/// Takes secrets out of a text that people will see.
///
/// A secret is found plain, percent-encoded in any way (`%20` or `+`, either case of the digits), as the inside
/// of a JSON string, and in Base64 (standard and URL-safe, padded or not, and within `user:secret`). One shorter
/// than three bytes is not masked: it would be found everywhere, and its gaps would tell it.
package struct SecretMask: Sendable {
  /// How often each was inserted. As bytes: String takes differently composed letters for equal.
  private var secrets: [[UInt8]: Int] = [:]
  /// What to look for that is short, by its first byte; longer ones first.
  private var needles: [UInt8: [[UInt8]]] = [:]
  /// What to look for that is long. A server chooses secrets and texts: each of these is looked for on its own, in
  /// linear time.
  private var longNeedles: [[UInt8]] = []

  /// From this many bytes on a needle is long.
  private static let long = 32

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
    for needle in Self.forms(of: secret) {
      guard needle.count < Self.long else {
        longNeedles.append(Self.withoutPlus(needle))
        continue
      }
      guard let first = needle.first else { continue }
      var bucket = needles[first] ?? []
      bucket.insert(needle, at: bucket.firstIndex { $0.count < needle.count } ?? bucket.count)
      needles[first] = bucket
    }
  }

  /// Takes back one `insert`, for a capture whose item is done: each secret costs time in every `mask`. What was
  /// inserted more often stays masked.
  package mutating func remove(_ secret: String) {
    guard let count = secrets[Array(secret.utf8)] else { return }
    secrets[Array(secret.utf8)] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    for needle in Self.forms(of: secret) {
      guard needle.count < Self.long else {
        if let index = longNeedles.lastIndex(of: Self.withoutPlus(needle)) { longNeedles.remove(at: index) }
        continue
      }
      guard let first = needle.first, let index = needles[first]?.firstIndex(of: needle) else { continue }
      needles[first]?.remove(at: index)
    }
  }

  /// The text with `***` in the place of each secret.
  package func mask(_ text: String) -> String {
    guard !secrets.isEmpty, !text.isEmpty else { return text }
    let bytes = Array(text.utf8)
    let found = (shortMatches(in: bytes) + longMatches(in: bytes)).sorted { $0.lowerBound < $1.lowerBound }
    guard !found.isEmpty else { return text }
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

  /// One behind another, the longest at each place.
  private func shortMatches(in text: [UInt8]) -> [Range<Int>] {
    guard !needles.isEmpty else { return [] }
    var found: [Range<Int>] = []
    var position = 0
    while position < text.count {
      guard let end = end(ofSecretAt: position, in: text) else {
        position += 1
        continue
      }
      found.append(position..<end)
      position = end
    }
    return found
  }

  private func longMatches(in text: [UInt8]) -> [Range<Int>] {
    guard text.count >= Self.long, !longNeedles.isEmpty else { return [] }
    let plain = Self.withoutPlus(text)
    var found: [Range<Int>] = []
    for needle in longNeedles { found += Self.places(of: needle, in: plain) }
    guard text.contains(UInt8(ascii: "%")) else { return found }
    // The text with every byte decoded, and where each byte began.
    var decoded: [UInt8] = []
    var starts: [Int] = []
    var position = 0
    while position < text.count {
      let byte = Self.percentDecoded(position, in: text)
      decoded.append(byte ?? text[position])
      starts.append(position)
      position += byte == nil ? 1 : 3
    }
    starts.append(text.count)
    decoded = Self.withoutPlus(decoded)
    for needle in longNeedles {
      found += Self.places(of: needle, in: decoded).map { starts[$0.lowerBound]..<starts[$0.upperBound] }
    }
    return found
  }

  /// With a blank for each `+`, which stands for one in a query.
  private static func withoutPlus(_ bytes: [UInt8]) -> [UInt8] {
    bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
  }

  /// Where a part occurs, one occurrence behind another.
  private static func places(of part: [UInt8], in bytes: [UInt8]) -> [Range<Int>] {
    var places: [Range<Int>] = []
    bytes.withUnsafeBytes { bytes in
      var start = 0
      while let base = bytes.baseAddress, bytes.count - start >= part.count,
        let place = memmem(base + start, bytes.count - start, part, part.count)
      {
        start = UnsafeRawPointer(place) - base
        places.append(start..<start + part.count)
        start += part.count
      }
    }
    return places
  }

  private func end(ofSecretAt start: Int, in text: [UInt8]) -> Int? {
    var end: Int?
    func look(for first: UInt8) {
      for needle in needles[first] ?? [] {
        if let found = Self.end(of: needle, at: start, in: text), found > end ?? start { end = found }
      }
    }
    look(for: text[start])
    if text[start] == UInt8(ascii: "+") { look(for: 0x20) }
    if let decoded = Self.percentDecoded(start, in: text) { look(for: decoded) }
    return end
  }

  /// Each byte may stand for itself or be percent-encoded.
  private static func end(of needle: [UInt8], at start: Int, in text: [UInt8]) -> Int? {
    var position = start
    for byte in needle {
      guard position < text.count else { return nil }
      if text[position] == byte || (byte == 0x20 && text[position] == UInt8(ascii: "+")) {
        position += 1
      } else if percentDecoded(position, in: text) == byte {
        position += 3
      } else {
        return nil
      }
    }
    return position
  }

  private static func percentDecoded(_ position: Int, in text: [UInt8]) -> UInt8? {
    guard text[position] == UInt8(ascii: "%"), text.count - position >= 3,
      let high = Hexadecimal.value(text[position + 1]), let low = Hexadecimal.value(text[position + 2])
    else { return nil }
    return high << 4 | low
  }

  private static func forms(of secret: String) -> Set<[UInt8]> {
    let plain = Array(secret.utf8)
    var forms: Set<[UInt8]> = [plain]
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
