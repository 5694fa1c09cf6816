import Testing

@testable import FerryPlan

/// The items that have begun, compared with a dictionary that receives the same changes.
@Suite struct `Active items` {
  private func progress(_ step: Int) -> ItemProgress {
    ItemProgress(stage: step.isMultiple(of: 2) ? .unallocated : .allocated(nil))
  }

  @Test func `random changes have the same effects as on a dictionary`() {
    var random = SeededRandom(seed: 18)
    var active = ActiveItems()
    var expected: [Int: (progress: ItemProgress, requests: UInt32, begunAt: Instant)] = [:]
    for step in 0..<2_000 {
      let item = Int.random(in: 0..<40, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        active.set(progress(step), of: item)
        expected[item, default: (progress(step), 0, Instant(nanoseconds: 0))].progress = progress(step)
      case 2:
        active[attempts: item]?.requests += 1
        expected[item]?.requests += 1
      case 3:
        active.set(begunAt: Instant(nanoseconds: Int64(step)), of: item)
        expected[item]?.begunAt = Instant(nanoseconds: Int64(step))
      default:
        active.remove(item)
        expected[item] = nil
      }
      #expect(active.count == expected.count && active.isEmpty == expected.isEmpty)
      #expect(active.contains(item) == (expected[item] != nil))
      #expect(active.progress(of: item) == expected[item]?.progress)
      #expect(active.begunAt(of: item) == expected[item]?.begunAt)
      #expect(active[attempts: item]?.requests == expected[item]?.requests)
    }
    #expect(active.items == expected.keys.sorted())
  }

  @Test func `an item that begins again has no history`() {
    var active = ActiveItems()
    active.set(progress(0), of: 7)
    active[attempts: 7]?.retries = 3
    active[attempts: 7]?.hostQueues[.commit] = 1
    active.remove(7)
    #expect(active[attempts: 7] == nil)
    active.set(progress(0), of: 7)
    #expect(active[attempts: 7]?.retries == 0)
    #expect(active[attempts: 7]?.hostQueues == [:])
  }

  @Test func `a copy is independent`() {
    var active = ActiveItems()
    active.set(progress(0), of: 1)
    let copy = active
    active[attempts: 1]?.requests = 5
    active.set(progress(1), of: 1)
    #expect(copy[attempts: 1]?.requests == 0)
    #expect(copy.progress(of: 1) == progress(0))
  }
}
