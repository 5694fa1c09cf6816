/// What a launch finds of a node when it begins.
package enum NodeStart: Sendable {
  /// Not among those that `--only` names.
  case notSelected
  /// A token, or a fetch or request that this round has still to carry out.
  case open
  case upload(ItemTable, Reconciliation.Settled)
  /// It ended in this round.
  case closed(NodeOutcome)
  /// A fetch whose interval has not passed; it counts as succeeded.
  case notDue(until: Instant)
  /// A fetch whose interval is `never`; it counts as succeeded.
  case switchedOff
  /// An unrepeatable request whose intent is on disk and whose outcome is not.
  case intended
}

/// What is fixed for one launch.
package struct LaunchOptions: Sendable {
  /// At most so many items are begun.
  package var limit: Int?
  /// What the machine has.
  package var conditions: DeviceConditions
  /// From this moment nothing more is started, and running requests have their grace.
  package var deadline: Instant?
  /// What asked the launch to stop before it began: nothing is started.
  package var stop: StopCause?
  /// How long running requests may go on after a stop.
  package var grace: Duration
  package var launch: LaunchKind
  /// How long it waits with nothing to do, for a delay, a budget's next window or other conditions.
  package var patience: Duration
  /// The time zones that the budgets name.
  package var zones: [String: CalendarZone]
  /// Decides every jitter.
  package var seed: UInt64

  package init(
    limit: Int? = nil, conditions: DeviceConditions = .init(), deadline: Instant? = nil,
    stop: StopCause? = nil, grace: Duration = .seconds(5), launch: LaunchKind = .background,
    patience: Duration = .zero,
    zones: [String: CalendarZone] = [:], seed: UInt64
  ) {
    self.limit = limit
    self.conditions = conditions
    self.deadline = deadline
    self.stop = stop
    self.grace = grace
    self.launch = launch
    self.patience = patience
    self.zones = zones
    self.seed = seed
  }
}
