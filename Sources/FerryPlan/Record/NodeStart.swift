/// The state of a node when a launch begins.
package enum NodeStart: Sendable {
  /// The node is not selected by `--only`.
  case notSelected
  /// A token, or a fetch or request that has not completed in this round.
  case open
  case upload(ItemTable, Reconciliation.Settled)
  /// An upload of a manifest that has joined the launch: it sends only the files that are submitted to it, and is not
  /// selected until there are any. It has no `needs`.
  case submissions
  /// The node has ended in this round; the failure is the reason why it did not succeed.
  case closed(NodeOutcome, RecordedFailure? = nil)
  /// A fetch whose interval has not passed, or whose stored document is still fresh. It counts as succeeded.
  /// If its last attempt failed, it counts as failed or remains open instead.
  case notDue(until: Instant, after: FailedFetch? = nil)
  /// A fetch with the interval `never`; it is treated as succeeded.
  case switchedOff
  /// A fetch whose `cache_policy` uses the stored document; it is treated as succeeded.
  case stored
  /// A fetch whose `cache_policy` does not allow a request although no document is stored. It fails.
  case notStored
  /// An upload whose items have not all been sent yet by other processes, or a request or fetch whose outcome is unknown until
  /// another process ends. It remains for a later launch.
  case left(RecordedFailure)
  /// An upload that other processes have skipped, and the numbers of its items. If all nodes that it needs have succeeded
  /// since, it remains for a later launch for the stated reason; otherwise, it is skipped.
  case skipped(ItemCounts, remaining: RecordedFailure)
  /// An unrepeatable request whose intent is on disk but whose outcome is not.
  case intended
}

/// Options that do not change during a launch.
package struct LaunchOptions: Sendable {
  /// The maximum number of items that the launch may begin.
  package var limit: Int?
  /// The machine's network and power source at the start.
  package var conditions: DeviceConditions
  /// After this time, nothing is started, and running requests may use the grace period to complete.
  package var deadline: Instant?
  /// How long running requests may continue after a stop.
  package var grace: Duration
  package static let defaultGrace = Duration.seconds(5)
  package var launch: LaunchKind
  /// How long an idle launch waits for a delay, a budget's next window or a change of conditions.
  package var patience: Duration
  /// Whether the exit code ignores canceled work (`--cancelled-ok`).
  package var acceptsCancelled: Bool
  /// Whether the report lists every item; `nil` if each manifest specifies it.
  package var reportsEveryItem: Bool?
  /// The time zones named by the budgets.
  package var zones: [String: CalendarZone]
  /// The seed for all jitter.
  package var seed: UInt64

  package init(
    limit: Int? = nil, conditions: DeviceConditions = .init(), deadline: Instant? = nil,
    grace: Duration = defaultGrace, launch: LaunchKind = .background, patience: Duration = .zero,
    acceptsCancelled: Bool = false, reportsEveryItem: Bool? = nil, zones: [String: CalendarZone] = [:],
    seed: UInt64
  ) {
    self.limit = limit
    self.conditions = conditions
    self.deadline = deadline
    self.grace = grace
    self.launch = launch
    self.patience = patience
    self.acceptsCancelled = acceptsCancelled
    self.reportsEveryItem = reportsEveryItem
    self.zones = zones
    self.seed = seed
  }
}
