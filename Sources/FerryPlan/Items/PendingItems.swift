/// Items that have not begun, in start order. They are stored as a few ranges, regardless of the number of
/// items.
struct PendingItems: Sendable {
  /// The ranges in reverse order: the next item is the first item of the last range.
  private var ranges: [Range<Int>] = []
  private(set) var count = 0

  init() {}

  init(_ range: Range<Int>) { append(range) }

  /// Creates the list of these items, in this order.
  init(_ items: some Sequence<Int>) {
    for item in items {
      count += 1
      if let last = ranges.indices.last, ranges[last].upperBound == item {
        ranges[last] = ranges[last].lowerBound..<(item + 1)
      } else {
        ranges.append(item..<(item + 1))
      }
    }
    ranges.reverse()
  }

  var isEmpty: Bool { ranges.isEmpty }
  var first: Int? { ranges.last?.lowerBound }

  /// Appends a range after all others.
  mutating func append(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    count += range.count
    if let behind = ranges.first, behind.upperBound == range.lowerBound {
      ranges[0] = behind.lowerBound..<range.upperBound
    } else {
      ranges.insert(range, at: 0)
    }
  }

  /// Inserts items before all others, in their order.
  mutating func prepend(_ other: PendingItems) {
    ranges += other.ranges
    count += other.count
  }

  /// Appends items after all others.
  mutating func append(_ other: PendingItems) {
    ranges = other.ranges + ranges
    count += other.count
  }

  mutating func removeFirst() -> Int? {
    guard let range = ranges.last else { return nil }
    count -= 1
    if range.count == 1 { ranges.removeLast() } else { ranges[ranges.count - 1].removeFirst() }
    return range.lowerBound
  }

  /// All items, in order.
  var items: some Sequence<Int> { ranges.reversed().lazy.flatMap(\.self) }
}
