/// A set of part numbers, counted from 1.
package struct PartSet: Hashable, Sendable {
  private var words: [UInt64] = []
  package private(set) var count = 0

  package init() {}

  package func contains(_ number: Int) -> Bool {
    let (word, bit) = (number - 1).quotientAndRemainder(dividingBy: 64)
    return words.indices.contains(word) && words[word] & 1 << UInt64(bit) != 0
  }

  /// Adds a number. Returns whether the set did not contain it.
  @discardableResult
  mutating func insert(_ number: Int) -> Bool {
    precondition(number >= 1, "parts are counted from 1")
    guard !contains(number) else { return false }
    let (word, bit) = (number - 1).quotientAndRemainder(dividingBy: 64)
    if word >= words.count { words += Array(repeating: 0, count: word + 1 - words.count) }
    words[word] |= 1 << UInt64(bit)
    count += 1
    return true
  }

  mutating func remove(_ number: Int) {
    guard contains(number) else { return }
    let (word, bit) = (number - 1).quotientAndRemainder(dividingBy: 64)
    words[word] &= ~(1 << UInt64(bit))
    count -= 1
  }

  /// The smallest number that is in neither set.
  func firstMissing(_ other: PartSet) -> Int {
    for index in 0..<max(words.count, other.words.count) {
      let word =
        (words.indices.contains(index) ? words[index] : 0)
        | (other.words.indices.contains(index) ? other.words[index] : 0)
      if word != .max { return index * 64 + (~word).trailingZeroBitCount + 1 }
    }
    return max(words.count, other.words.count) * 64 + 1
  }
}
