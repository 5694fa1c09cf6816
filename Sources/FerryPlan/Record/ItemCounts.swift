/// The number of items by outcome.
package struct ItemCounts: Hashable, Codable, Sendable {
  package var done = 0
  package var failed = 0
  package var ambiguous = 0
  package var cancelled = 0
  /// Items that have not ended and remain for a later launch.
  package var waiting = 0
  /// Items that were delivered earlier and are not delivered again.
  package var unchanged = 0
  /// Items of an upload that was skipped because of the outcomes of its `needs`; `nil` if there are none. They
  /// remain for the next round.
  package var skipped: Int?

  package init() {}

  package static func += (a: inout ItemCounts, b: ItemCounts) {
    a.done +|= b.done
    a.failed +|= b.failed
    a.ambiguous +|= b.ambiguous
    a.cancelled +|= b.cancelled
    a.waiting +|= b.waiting
    a.unchanged +|= b.unchanged
    if let more = b.skipped { a.skipped = (a.skipped ?? 0) +| more }
  }
}
