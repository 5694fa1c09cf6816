/// The round that the next run of a manifest executes: an earlier one, or a new one.
package struct NextRound: Hashable, Sendable {
  package var number: Int64
  /// Whether the run continues the last round in `ferry.db`.
  package var continues: Bool
  /// The pass to which the round belongs; `nil` if the round is new and does not belong to an existing pass.
  package var pass: String?

  /// - Parameters:
  ///   - latest: the last round in `ferry.db`.
  ///   - used: the last round in the manifest's journals, or 0 if they contain none. If that round is missing
  ///     from `ferry.db`, then `ferry.db` is new or an old copy, and it is unknown whether the round was
  ///     open. Therefore, the next round comes after it.
  ///   - shared: the open round of the work that runs once, if this is the round of a shard. A shard stays in its round
  ///     of that pass, even if it has nothing left to do in it. It does not continue another round as a round of the
  ///     pass, whatever the number of that round is.
  ///   - others: the last round of the manifest's other parts, if this is the round of the work that runs once. A new
  ///     round comes after it, so that the round has the same number in all parts.
  package init(latest: RoundRow?, used: Int64, shared: RoundRow? = nil, others: Int64 = 0) {
    let isCurrent: Bool
    if let shared {
      isCurrent = latest?.pass == shared.pass
    } else {
      isCurrent = latest.map { $0.closedAt == nil } ?? false
    }
    if let latest, isCurrent, latest.number >= used {
      (number, continues, pass) = (latest.number, true, latest.pass)
    } else {
      // A damaged journal may contain any number.
      let last = min(max(latest?.number ?? 0, used, others), .max - 1)
      (number, continues, pass) = (max(last + 1, shared?.number ?? 0), false, shared?.pass)
    }
  }
}
