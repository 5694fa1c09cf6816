import CFiles

/// Strings to search for in many texts.
///
/// Each position of a text is examined once for all short needles together, and each long needle takes time linear in
/// the length of the text. A needle that was inserted several times remains until it has been removed as often.
struct NeedleSet {
  /// Short needles, sorted.
  private var short: [[UInt8]] = []
  private var long: [[UInt8]] = []

  /// The minimum length of a long needle in bytes.
  private static let longCount = 32

  mutating func insert(_ needle: [UInt8]) {
    if needle.count < Self.longCount {
      short.insert(needle, at: firstShort { !$0.lexicographicallyPrecedes(needle) })
    } else {
      long.append(needle)
    }
  }

  /// Removes one of the insertions of a needle.
  mutating func remove(_ needle: [UInt8]) {
    if needle.count < Self.longCount {
      let index = firstShort { !$0.lexicographicallyPrecedes(needle) }
      if index < short.count, short[index] == needle { short.remove(at: index) }
    } else if let index = long.lastIndex(of: needle) {
      long.remove(at: index)
    }
  }

  /// The occurrences of all needles, including overlapping ones.
  func matches(in text: [UInt8]) -> [Range<Int>] {
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
}
