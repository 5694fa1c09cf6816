import Testing

@testable import FerryPlan

struct ReadyTests {
  /// Without this order, the parts of files that have begun would alternate, and each would take as long as all of them.
  @Test func stepsThatPrecedeOthersAreOrderedByRetriesAndThenByItem() {
    let steps: [(retries: Int, item: Int?)] = [
      (.max, 9), (3, 9), (1, 0), (0, nil), (0, 1), (0, 2), (0, .max),
    ]
    let sequences = steps.map { Ready.sequence(retries: $0.retries, item: $0.item) }
    #expect(sequences == sequences.sorted() && Set(sequences).count == steps.count)
    #expect(sequences.allSatisfy { $0 < Ready.firstSequence })
    let ready = steps.indices.map { index in
      Ready(
        ref: ItemRef(NodeID(0), steps[index].item), step: .transfer, priority: 1, sequence: sequences[index])
    }
    #expect(ready == ready.sorted() && ready.map(\.sequence) == sequences)
    #expect(ready.allSatisfy { $0.priority == 1 })
  }
}
