import FerryPlan

/// Runs worlds and collects their totals, and a shrunk scenario and history for each world that broke a
/// rule.
package struct Campaign: Sendable {
  /// A world that broke a rule.
  package struct Failure: Sendable {
    package var seed: UInt64
    package var violation: Violation
    package var scenario: Scenario
    package var history: [String]
  }

  package private(set) var worlds = 0
  package private(set) var events = 0
  package private(set) var actions = 0
  package private(set) var requests = 0
  package private(set) var launches = 0
  package private(set) var deaths = 0
  package private(set) var simulated = Duration.zero
  package private(set) var failures: [Failure] = []
  /// The manifest and plan of the last world.
  private var known: (manifest: ManifestSpec, plan: Plan)?

  package init() {}

  /// Runs the world for a seed.
  ///
  /// - Parameter isTwice: whether to run the world twice, to check that the same seed produces the same
  ///   history.
  package mutating func live(_ seed: UInt64, isTwice: Bool = false, shrinks: Bool = true) {
    let scenario = Scenario(seed: seed)
    if known?.manifest != scenario.manifest { known = scenario.manifest.plan.map { (scenario.manifest, $0) } }
    guard let plan = known?.plan, var outcome = WorldRun.outcome(of: scenario, plan: plan) else {
      let mistakes = scenario.manifest.mistakes.joined(separator: "; ")
      return fail(scenario, Violation(rule: .stuck, message: "no manifest: \(mistakes)"), shrinks: false)
    }
    worlds += 1
    events += outcome.counters.events
    actions += outcome.counters.actions
    requests += outcome.counters.requests
    launches += outcome.counters.launches
    deaths += outcome.counters.deaths
    simulated += outcome.simulated
    if isTwice, let again = WorldRun.outcome(of: scenario, plan: plan), again.hash != outcome.hash {
      outcome.violation = Violation(rule: .sameHistory, message: "\(outcome.hash) and \(again.hash)")
    }
    if let violation = outcome.violation { fail(scenario, violation, shrinks: shrinks) }
  }

  private mutating func fail(_ scenario: Scenario, _ violation: Violation, shrinks: Bool) {
    var shrinker = Shrinker()
    let small = shrinks ? shrinker.shrink(scenario) : scenario
    let told = WorldRun.outcome(of: small, tellsHistory: true)
    failures.append(
      Failure(
        seed: scenario.seed, violation: told?.violation ?? violation, scenario: small,
        history: told?.history ?? []))
  }

  package static func += (a: inout Campaign, b: Campaign) {
    a.worlds += b.worlds
    a.events += b.events
    a.actions += b.actions
    a.requests += b.requests
    a.launches += b.launches
    a.deaths += b.deaths
    a.simulated += b.simulated
    a.failures += b.failures
  }
}
