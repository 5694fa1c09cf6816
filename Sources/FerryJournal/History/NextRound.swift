/// The round that the next run of a manifest executes: the open one, or a new one.
package struct NextRound: Hashable, Sendable {
  package var number: Int64
  /// Whether it continues the open round.
  package var continues: Bool

  /// - Parameters:
  ///   - latest: the last round that `ferry.db` knows.
  ///   - used: the last round that the manifest's journals name; 0 if they name none. If `ferry.db` does not
  ///     know that round, `ferry.db` is new or an old copy. Whether the round was open is then lost, so the
  ///     next round comes after it.
  package init(latest: RoundRow?, used: Int64) {
    if let latest, latest.closedAt == nil, latest.number >= used {
      number = latest.number
      continues = true
    } else {
      // A damaged journal may name any number.
      number = min(max(latest?.number ?? 0, used), .max - 1) + 1
      continues = false
    }
  }
}
