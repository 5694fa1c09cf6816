import FerryPlan

/// A seeded source of random choices.
struct RandomSource {
  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// Returns a random number in 0 ..< `count`.
  mutating func roll(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

  mutating func roll(_ range: ClosedRange<Int>) -> Int { range.lowerBound + roll(range.count) }

  /// Returns `true` with a probability of 1 in `times`.
  mutating func once(in times: Int) -> Bool { roll(times) == 0 }

  mutating func one<Value>(of values: [Value]) -> Value { values[roll(values.count)] }

  mutating func seed() -> UInt64 { random.next() }
}
