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
  /// How long running requests may go on after a stop.
  package var grace: Duration
  /// Decides every jitter.
  package var seed: UInt64

  package init(
    limit: Int? = nil, conditions: DeviceConditions = .init(), grace: Duration = .seconds(5), seed: UInt64
  ) {
    self.limit = limit
    self.conditions = conditions
    self.grace = grace
    self.seed = seed
  }
}
