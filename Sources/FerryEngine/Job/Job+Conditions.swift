import FerryManifest
import FerryPlan

extension Job {
  /// What the machine has for this job. `notice` is told of what is only assumed, where a session cares.
  func conditions(
    network: Conditions.Network?, power: Conditions.Power?, _ notice: (String) -> Void
  ) -> DeviceConditions {
    var probe = ConditionsProbe(
      .init(network: network ?? manifest.conditions.network, power: power ?? manifest.conditions.power))
    let (conditions, notices) = probe.look(asksForExpense: plan.sessions.contains { !$0.allowsExpensive })
    if plan.sessions.contains(where: \.asksForConditions) { for line in notices { notice(line) } }
    return conditions
  }
}
