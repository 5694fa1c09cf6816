import FerryPlan
import FerryWorld
import Testing

struct WorldTests {
  @Test(arguments: 0..<4 as Range<UInt64>)
  func randomWorldsBreakNoRule(block: UInt64) {
    var campaign = Campaign()
    for seed in (block * 100)..<(block * 100 + 100) {
      campaign.live(seed, isTwice: seed % 4 == 0)
      for failure in campaign.failures {
        Issue.record("seed \(failure.seed)\n\(failure.history.joined(separator: "\n"))")
        return
      }
    }
  }
}
