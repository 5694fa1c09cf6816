/// Strings to search for in many texts.
///
/// Each position of a text is examined once for all needles together. A needle that was inserted several times remains
/// until it has been removed as often.
///
/// A server determines many of the needles and texts. Repetitive ones would take quadratic time, so the work is limited:
/// after `mostComparisons`, the rest of a text counts as found.
struct NeedleSet {
  /// The needles with fewer than `longCount` bytes.
  private var short = SortedNeedles()
  private var long = LongNeedles()

  /// The minimum length of a long needle in bytes.
  fileprivate static let longCount = 32
  /// The maximum number of comparisons for each byte of a text. Other texts than repetitive ones need less than one.
  private static let mostComparisons = 64

  mutating func insert(_ needle: [UInt8]) {
    if needle.count < Self.longCount { short.insert(needle) } else { long.insert(needle) }
  }

  /// Removes one of the insertions of a needle.
  mutating func remove(_ needle: [UInt8]) {
    if needle.count < Self.longCount { short.remove(needle) } else { long.remove(needle) }
  }

  /// The length of the substrings whose hashes `matches` needs, in bytes; 0 if it needs none.
  var longest: Int { long.longest }

  /// The ranges of the longest needle at each position of a text.
  ///
  /// - Parameter text: the hashes of substrings of at least `longest` bytes.
  func matches(in text: TextHashes) -> [Range<Int>] {
    guard !short.isEmpty || !long.isEmpty else { return [] }
    var found: [Range<Int>] = []
    var comparisons = Self.mostComparisons * text.count
    for start in 0..<text.count {
      guard comparisons >= 0 else { return found + [start..<text.count] }
      if let end = long.end(at: start, in: text, &comparisons) ?? short.end(at: start, in: text.text) {
        found.append(start..<end)
      }
    }
    return found
  }
}

/// Needles that share a beginning, or have fewer than `NeedleSet.longCount` bytes, in ascending order.
private struct SortedNeedles {
  private var all: [[UInt8]] = []

  var isEmpty: Bool { all.isEmpty }

  mutating func insert(_ needle: [UInt8]) { all.insert(needle, at: index(of: needle)) }

  mutating func remove(_ needle: [UInt8]) {
    if contains(needle) { all.remove(at: index(of: needle)) }
  }

  func contains(_ needle: [UInt8]) -> Bool {
    let index = index(of: needle)
    return index < all.count && all[index] == needle
  }

  func end(at start: Int, in text: [UInt8]) -> Int? {
    var comparisons = 0
    return end(at: start, in: text, &comparisons)
  }

  /// The end of the longest needle that begins at a position; `nil` if there is none.
  ///
  /// - Parameter comparisons: reduced by the number of bytes that were compared.
  func end(at start: Int, in text: [UInt8], _ comparisons: inout Int) -> Int? {
    // The needles that begin with the text from `start` to `position`.
    var candidates = all.indices
    var end: Int?
    var position = start
    while let shortest = candidates.first {
      // Among needles with the same beginning, the shortest comes first.
      if all[shortest].count == position - start { end = position }
      guard position < text.count else { break }
      let (depth, byte) = (position - start, text[position])
      let lower = first(in: candidates) { $0.count > depth && $0[depth] >= byte }
      let upper = first(in: lower..<candidates.upperBound) { $0[depth] > byte }
      candidates = lower..<upper
      position += 1
    }
    comparisons -= position - start
    return end
  }

  private func index(of needle: [UInt8]) -> Int {
    first(in: all.indices) { !$0.lexicographicallyPrecedes(needle) }
  }

  /// The first of the needles for which the condition holds. The condition must also hold for all later needles.
  private func first(in range: Range<Int>, where isReached: ([UInt8]) -> Bool) -> Int {
    var (lower, upper) = (range.lowerBound, range.upperBound)
    while lower < upper {
      let middle = (lower + upper) / 2
      if isReached(all[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}

/// Needles that are found by the hash of their beginning (Karp and Rabin, 1987), because a server determines their
/// number, and a search for each of them would take too long.
private struct LongNeedles {
  /// The ends of the needles with the same beginning. The length of a beginning is that of its needle, rounded by
  /// `PolynomialHash.rounded`, so that few lengths are looked up at each position.
  private var ends: [UInt64: SortedNeedles] = [:]
  /// The number of needles with each length of a beginning.
  private var counts: [Int: Int] = [:]
  /// These lengths, in descending order.
  private var lengths: [Int] = []
  /// The number of needles with the same first `NeedleSet.longCount` bytes.
  private var prefixes: [UInt64: Int] = [:]
  /// A Bloom filter of these prefixes, which avoids most lookups.
  private var filter: [UInt64] = []

  private static let filterBits = 1 << 14

  var isEmpty: Bool { lengths.isEmpty }

  var longest: Int { lengths.first ?? 0 }

  mutating func insert(_ needle: [UInt8]) {
    let length = PolynomialHash.rounded(needle.count)
    ends[Self.key(needle, length), default: SortedNeedles()].insert(Array(needle[length...]))
    counts[length, default: 0] += 1
    if counts[length] == 1 {
      lengths.insert(length, at: lengths.firstIndex { $0 < length } ?? lengths.endIndex)
    }
    let prefix = Self.key(needle, NeedleSet.longCount)
    prefixes[prefix, default: 0] += 1
    if filter.isEmpty { filter = Array(repeating: 0, count: Self.filterBits / 64) }
    let (word, bit) = Self.place(of: prefix)
    filter[word] |= bit
  }

  mutating func remove(_ needle: [UInt8]) {
    let length = PolynomialHash.rounded(needle.count)
    let key = Self.key(needle, length)
    let end = Array(needle[length...])
    guard ends[key]?.contains(end) == true else { return }
    ends[key]?.remove(end)
    if ends[key]?.isEmpty == true { ends[key] = nil }
    Self.decrease(&prefixes, Self.key(needle, NeedleSet.longCount))
    Self.decrease(&counts, length)
    if counts[length] == nil { lengths.removeAll { $0 == length } }
    if isEmpty { filter = [] }
  }

  /// The end of the longest needle that begins at a position; `nil` if there is none.
  ///
  /// - Parameter comparisons: reduced by the number of lookups and of bytes that were compared.
  func end(at start: Int, in text: TextHashes, _ comparisons: inout Int) -> Int? {
    let rest = text.count - start
    guard rest >= NeedleSet.longCount, !isEmpty else { return nil }
    let prefix = Self.key(text, start, NeedleSet.longCount)
    let (word, bit) = Self.place(of: prefix)
    guard filter[word] & bit != 0, prefixes[prefix] != nil else { return nil }
    for length in lengths where length <= rest {
      comparisons -= 1
      // The needles with a shorter beginning are shorter.
      if let ends = ends[Self.key(text, start, length)],
        let end = ends.end(at: start + length, in: text.text, &comparisons)
      {
        return end
      }
    }
    return nil
  }

  private static func key(_ needle: [UInt8], _ length: Int) -> UInt64 {
    PolynomialHash.fingerprint(PolynomialHash.hash(needle.prefix(length)), length: length)
  }

  private static func key(_ text: TextHashes, _ start: Int, _ length: Int) -> UInt64 {
    PolynomialHash.fingerprint(text.hash(at: start, length: length), length: length)
  }

  private static func place(of key: UInt64) -> (word: Int, bit: UInt64) {
    let index = Int(key % UInt64(filterBits))
    return (index / 64, 1 << UInt64(index % 64))
  }

  private static func decrease<Key>(_ counts: inout [Key: Int], _ key: Key) {
    let count = counts[key, default: 0]
    counts[key] = count > 1 ? count - 1 : nil
  }
}
