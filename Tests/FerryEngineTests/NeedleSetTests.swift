import FerryPlan
import Testing

@testable import FerryEngine

struct NeedleSetTests {
  private func matches(_ needles: NeedleSet, _ text: [UInt8]) -> [Range<Int>] {
    needles.matches(in: TextHashes(text, longest: needles.longest))
  }

  /// Needles of all lengths, many of which are beginnings of others, while they are inserted and removed.
  @Test(arguments: 1...40)
  func findsTheLongestNeedleAtEachPosition(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let base = (0..<600).map { _ in UInt8.random(in: 0x61...0x62, using: &random) }
    var set = NeedleSet()
    var needles: [[UInt8]] = []
    for _ in 0..<60 {
      if needles.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
        let start = [0, 0, Int.random(in: 0..<500, using: &random)].randomElement(using: &random) ?? 0
        let count =
          [1, 31, 32, 33, 127, 128, 129, 130, 200, 255, 256, 257, 300].randomElement(using: &random) ?? 1
        var needle = Array(base[start..<min(600, start + count)])
        if Bool.random(using: &random) { needle[needle.count - 1] = 0x63 }
        needles.append(needle)
        set.insert(needle)
      } else {
        let needle = needles.remove(at: Int.random(in: needles.indices, using: &random))
        set.remove(needle)
      }
      set.remove(Array("never inserted, and longer than thirty-two bytes".utf8))
    }
    let text = base + (needles.randomElement(using: &random) ?? []) + base.prefix(150)
    let expected = text.indices.compactMap { start in
      needles.filter { text[start...].starts(with: $0) }.map(\.count).max().map { start..<start + $0 }
    }
    #expect(matches(set, text) == expected)
  }

  @Test func aNeedleRemainsUntilItHasBeenRemovedAsOftenAsItWasInserted() {
    for needle in [Array("short".utf8), Array(repeating: 0x61, count: 300)] {
      var set = NeedleSet()
      for _ in 0..<2 { set.insert(needle) }
      set.remove(needle)
      #expect(matches(set, needle) == [0..<needle.count])
      set.remove(needle)
      #expect(matches(set, needle).isEmpty)
    }
  }

  /// A server determines the number of needles and the text. A search for each needle would take 200 times as long.
  @Test(arguments: ["https://uploads.example.com/files/", "x"])
  func theTimeDoesNotDependOnTheNumberOfNeedles(_ repeated: String) {
    let needles = (0..<4_000).map { index in
      Array("https://uploads.example.com/files/\(index)-\(String(repeating: "z", count: index % 50))".utf8)
    }
    let text = Array(String(repeating: repeated, count: 20_000 / repeated.utf8.count).utf8)
    let times = [20, 4_000].map { count in
      var set = NeedleSet()
      for needle in needles.prefix(count) { set.insert(needle) }
      return ThreadTime.measure { #expect(matches(set, text).isEmpty) }
    }
    #expect(times[1] < times[0] * 20 + .milliseconds(100), "\(times)")
  }

  /// A server determines the lengths of the needles, too. A complete search would take quadratic time.
  @Test func theTimeIsLimitedAndTheRestOfARepetitiveTextCountsAsFound() {
    var set = NeedleSet()
    for count in 1...600 { set.insert(Array(repeating: 0x61, count: 20 * count) + [0x62]) }
    let needle = Array("a needle that is longer than thirty-two bytes".utf8)
    set.insert(needle)
    let text = needle + Array(repeating: 0x61, count: 12_000)
    var found: [Range<Int>] = []
    let time = ThreadTime.measure { found = matches(set, text) }
    #expect(time < .seconds(10), "\(time)")
    #expect(found.first == 0..<needle.count)
    #expect(found.last?.upperBound == text.count)
  }
}
