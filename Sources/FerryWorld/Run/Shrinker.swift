/// Reduces a failing scenario to a readable size.
package struct Shrinker {
  /// The number of scenarios tried.
  package private(set) var tries = 0
  /// The number of scheduler events in all of the tried scenarios.
  private var events = 0
  private let most: Int
  private let mostEvents: Int

  package init(most: Int = 3_000, mostEvents: Int = 2_000_000) {
    self.most = most
    self.mostEvents = mostEvents
  }

  private var hasTime: Bool { tries < most && events < mostEvents }

  /// Returns the smallest scenario found that breaks the same rule.
  package mutating func shrink(_ scenario: Scenario) -> Scenario {
    guard let rule = WorldRun.outcome(of: scenario)?.violation?.rule else { return scenario }
    var best = scenario
    var plan = best.manifest.plan
    var hasShrunk = true
    while hasShrunk, hasTime {
      hasShrunk = false
      for candidate in Simplification.all(of: best) where hasTime {
        // An earlier candidate of this pass may already have made this change.
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
