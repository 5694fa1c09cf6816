/// Makes a failing scenario small, for people to read.
package struct Shrinker {
  /// How many scenarios were tried.
  package private(set) var tries = 0
  /// Of the scheduler, in all of them.
  private var events = 0
  private let most: Int
  private let mostEvents: Int

  package init(most: Int = 3_000, mostEvents: Int = 2_000_000) {
    self.most = most
    self.mostEvents = mostEvents
  }

  private var hasTime: Bool { tries < most && events < mostEvents }

  /// The smallest scenario that was found to break the same rule.
  package mutating func shrink(_ scenario: Scenario) -> Scenario {
    guard let rule = WorldRun.outcome(of: scenario)?.violation?.rule else { return scenario }
    var best = scenario
    var plan = best.manifest.plan
    var hasShrunk = true
    while hasShrunk, hasTime {
      hasShrunk = false
      for candidate in Simplification.all(of: best) where hasTime {
        // Earlier candidates of this pass may have taken it already.
        guard let next = candidate(best), next != best else { continue }
        tries += 1
        let nextPlan = next.manifest == best.manifest ? plan : next.manifest.plan
        guard let nextPlan, let outcome = WorldRun.outcome(of: next, plan: nextPlan) else { continue }
        events += outcome.counters.events
        guard outcome.violation?.rule == rule else { continue }
        best = next
        plan = nextPlan
        hasShrunk = true
      }
    }
    return best
  }
}
