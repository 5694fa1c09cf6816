import FerryPlan

/// Passes over all parts of a divided manifest.
///
/// The work that runs once begins a pass when it opens a round (`setup`), and the shards execute the same pass until that
/// round is closed (`finish`). A shard that runs at another time opens its own round. The numbers of rounds do not show
/// this: two parts may have rounds with the same number, although only one of them belongs to the pass.
extension RunHistory {
  /// What the manifest's other parts determine about the next round of this one.
  struct OtherParts {
    /// The open round of the work that runs once, if this is the history of a shard.
    var shared: RoundRow?
    /// The last round of the shards, if this is the history of the work that runs once.
    var lastRound: Int64 = 0
    /// Whether a new round begins a pass.
    var beginsPass = false
  }

  /// The round that the next run of the manifest executes.
  package func nextRound(manifest: String, used: Int64) throws(JournalError) -> NextRound {
    let others = try otherParts(of: manifest)
    return NextRound(
      latest: try latestRound(manifest: manifest), used: used, shared: others.shared, others: others.lastRound
    )
  }

  /// The open round of the work that runs once, which all shards share; `nil` if that work is not in a round.
  ///
  /// - Parameter state: the state folder of a shard.
  package static func sharedRound(
    of manifest: String, in state: StateDirectory
  ) throws(JournalError) -> RoundRow? {
    guard case .shard(let shard) = try state.storedPart else { return nil }
    let round = try lastRound(of: manifest, in: state.sibling(.once(count: shard.count)))
    return round.flatMap { $0.closedAt == nil && $0.pass != nil ? $0 : nil }
  }

  func otherParts(of manifest: String) throws(JournalError) -> OtherParts {
    switch try state.storedPart {
    case nil: return OtherParts()
    case .shard: return OtherParts(shared: try Self.sharedRound(of: manifest, in: state))
    case .once:
      var others = OtherParts(beginsPass: true)
      for part in try state.otherParts {
        // The pass identifies the round, and equal numbers are only for people. Therefore, a shard whose database is
        // damaged or locked does not matter.
        let round = try? Self.lastRound(of: manifest, in: part)
        others.lastRound = max(others.lastRound, round?.number ?? 0)
      }
      return others
    }
  }

  private static func lastRound(
    of manifest: String, in state: StateDirectory
  ) throws(JournalError) -> RoundRow? {
    let history = try openForReading(in: state)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    return try history.latestRound(manifest: manifest)
  }
}
