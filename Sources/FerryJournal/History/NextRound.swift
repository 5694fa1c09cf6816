/// The round that the next run of a manifest carries out: the open one, or a new one.
package struct NextRound: Hashable, Sendable {
  package var number: Int64
  /// Whether it goes on with the one that is open.
  package var continues: Bool

  /// - Parameters:
  ///   - latest: the last one that `ferry.db` knows.
  ///   - used: the last one that the manifest's journals name; 0 where they name none. One that `ferry.db` does not
  ///     know shows that it is new or an old copy: whether that round was open is lost, so the next one is behind it.
  package init(latest: RoundRow?, used: Int64) {
    if let latest, latest.closedAt == nil, latest.number >= used {
      number = latest.number
      continues = true
    } else {
      // A journal that is damaged may name any number.
      number = min(max(latest?.number ?? 0, used), .max - 1) + 1
      continues = false
    }
  }
}
