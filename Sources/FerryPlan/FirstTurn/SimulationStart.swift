/// The initial state of a simulation: the state that a launch would find now.
package struct SimulationStart: Sendable {
  package let plan: Plan
  /// The manifest's path.
  package let path: String
  package let moment: Instant
  package let launch: LaunchKind
  package let conditions: DeviceConditions
  /// The time zones of the budgets, by name.
  package let zones: [String: CalendarZone]
  package let budgets: [BudgetUse]
  /// Bytes per second of one connection, as measured by the last runs of the job; `nil` if no run has measured it.
  package let measured: Double?
  /// The state of each node of the plan, in the plan's order.
  package let starts: [NodeStart]
  /// The indices of the uploads and download batches whose list a fetch writes during the launch.
  package let listsLater: Set<Int>
  package let intervals: [NodeID: Duration]
  package let delays: [SessionID: ResumeState]
  package let foreground: [SessionID: Instant]

  package init(
    plan: Plan, path: String, moment: Instant, launch: LaunchKind, conditions: DeviceConditions,
    zones: [String: CalendarZone], budgets: [BudgetUse], measured: Double?, starts: [NodeStart],
    listsLater: Set<Int>, intervals: [NodeID: Duration], delays: [SessionID: ResumeState],
    foreground: [SessionID: Instant]
  ) {
    self.plan = plan
    self.path = path
    self.moment = moment
    self.launch = launch
    self.conditions = conditions
    self.zones = zones
    self.budgets = budgets
    self.measured = measured
    self.starts = starts
    self.listsLater = listsLater
    self.intervals = intervals
    self.delays = delays
    self.foreground = foreground
  }
}
