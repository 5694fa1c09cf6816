/// The items of an upload that have begun and have not ended, each in a slot of an array.
///
/// A slot is changed in place. A dictionary of the items would move the whole item out and in for each change, of which
/// a request causes about ten.
struct ActiveItems: Sendable {
  private var slots: [ActiveItem] = []
  private var slotByItem: [Int: Int] = [:]
  /// Slots of items that have ended.
  private var free: [Int] = []
  /// The item that was changed last. One event concerns one item, so most lookups are for this one.
  private var last = (item: -1, slot: -1)

  var count: Int { slotByItem.count }
  var isEmpty: Bool { slotByItem.isEmpty }
  /// The items in ascending order.
  var items: [Int] { slotByItem.keys.sorted() }

  func contains(_ item: Int) -> Bool { slot(of: item) != nil }

  private func slot(of item: Int) -> Int? { item == last.item ? last.slot : slotByItem[item] }

  func progress(of item: Int) -> ItemProgress? { slot(of: item).map { slots[$0].progress } }

  /// The time at which the item began in this launch.
  func begunAt(of item: Int) -> Instant? { slot(of: item).map { slots[$0].begunAt } }

  /// Changes the state of an item, which begins unless it has begun already.
  mutating func set(_ progress: ItemProgress, of item: Int) {
    if let slot = slot(of: item) {
      slots[slot].progress = progress
      last = (item, slot)
      return
    }
    let slot: Int
    if let unused = free.popLast() {
      slot = unused
      slots[slot] = ActiveItem(progress: progress)
    } else {
      slot = slots.count
      slots.append(ActiveItem(progress: progress))
    }
    slotByItem[item] = slot
    last = (item, slot)
  }

  /// The queue of an item's step, if only a capture determined the origin of the step.
  func hostQueue(of item: Int, _ step: Step.Kind) -> Int? {
    slot(of: item).flatMap { slots[$0].attempts?.hostQueues[step] }
  }

  mutating func set(begunAt moment: Instant, of item: Int) {
    if let slot = slot(of: item) { slots[slot].begunAt = moment }
  }

  mutating func remove(_ item: Int) {
    guard let slot = slotByItem.removeValue(forKey: item) else { return }
    // Releases what the item's history refers to.
    slots[slot] = ActiveItem(progress: ItemProgress(stage: .unallocated))
    free.append(slot)
    if last.item == item { last = (-1, -1) }
  }

  /// Records that the next window of a budget begins.
  mutating func beginWindow() {
    for slot in slotByItem.values {
      let useful = slots[slot].attempts?.usefulBytes ?? 0
      slots[slot].attempts?.earlierBytes = useful
    }
  }

  /// The attempts at an item; `nil` if it has not begun, or has ended. An assignment to an item that is not active has
  /// no effect.
  subscript(attempts item: Int) -> AttemptHistory? {
    _read {
      if let slot = slot(of: item) {
        yield slots[slot].attempts
      } else {
        yield nil
      }
    }
    _modify {
      if let slot = slot(of: item) {
        last = (item, slot)
        yield &slots[slot].attempts
      } else {
        var none: AttemptHistory?
        yield &none
      }
    }
  }
}

/// An item that has begun but has not ended.
private struct ActiveItem: Sendable {
  var progress: ItemProgress
  /// Never `nil`. The type is that of the subscript, which changes it in place.
  var attempts: AttemptHistory? = AttemptHistory()
  var begunAt = Instant(nanoseconds: 0)
}
