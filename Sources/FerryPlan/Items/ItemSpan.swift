/// The work of one launch on an item.
package struct ItemSpan: Hashable, Sendable {
  /// The time at which the launch began the item.
  package var begunAt: Instant
  /// The time at which the item ended in the launch.
  package var endedAt: Instant
  /// The number of requests that were made for the item and have ended, successfully or not.
  package var requests: UInt32
}

/// The spans of an upload's items, in one column. The column takes no memory until a span is added.
struct ItemSpans: Sendable {
  private var spans: ContiguousArray<ItemSpan> = []

  /// A span without requests marks an item that has no span.
  private static let absent = ItemSpan(
    begunAt: Instant(nanoseconds: 0), endedAt: Instant(nanoseconds: 0), requests: 0)

  subscript(item: Int) -> ItemSpan? {
    get { item < spans.count && spans[item].requests > 0 ? spans[item] : nil }
    set {
      if item >= spans.count {
        // Items usually end in the order of the column.
        spans.reserveCapacity(max(item + 1, min(spans.count * 2, 1 << 20)))
        spans.append(contentsOf: repeatElement(Self.absent, count: item + 1 - spans.count))
      }
      spans[item] = newValue ?? Self.absent
    }
  }
}
