/// The round that the next run of a manifest executes: the open one, or a new one.
package struct NextRound: Hashable, Sendable {
  package var number: Int64
  /// Whether the run continues the open round.
  package var continues: Bool

  /// - Parameters:
  ///   - latest: the last round in `ferry.db`.
  ///   - used: the last round in the manifest's journals, or 0 if they contain none. If that round is missing
  ///     from `ferry.db`, then `ferry.db` is new or an old copy, and it is unknown whether the round was
  ///     open. Therefore, the next round comes after it.
  ///   - shared: the open round of the work that runs once, if this is the round of a shard. A shard stays in that
  ///     round, even if it has nothing left to do in it.
  package init(latest: RoundRow?, used: Int64, shared: Int64? = nil) {
    if let shared {
      number = max(shared, latest?.number ?? 0, used)
      continues = latest?.number == number
    } else if let latest, latest.closedAt == nil, latest.number >= used {
      number = latest.number
      continues = true
    } else {
      // A damaged journal may contain any number.
      number = min(max(latest?.number ?? 0, used), .max - 1) + 1
      continues = false
    }
  }
}
