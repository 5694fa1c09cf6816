import FerryManifest
import FerryPlan

extension Jobs {
  /// The machine's conditions for these jobs, whose `conditions` are equal. If the conditions affect any session,
  /// `notice` receives a message about each assumed condition.
  func conditions(
    network: Conditions.Network?, power: Conditions.Power?, _ notice: (String) -> Void
  ) -> DeviceConditions {
    let declared = all[0].manifest.conditions
    var probe = ConditionsProbe(.init(network: network ?? declared.network, power: power ?? declared.power))
    let (conditions, notices) = probe.look(asksForExpense: plan.sessions.contains { !$0.allowsExpensive })
    if plan.sessions.contains(where: \.asksForConditions) { for line in notices { notice(line) } }
    return conditions
  }
}

extension Job {
  /// The machine's conditions for this job alone.
  func conditions(
    network: Conditions.Network?, power: Conditions.Power?, _ notice: (String) -> Void
  ) -> DeviceConditions {
    Jobs(self).conditions(network: network, power: power, notice)
  }
}
