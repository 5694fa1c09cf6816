import FerryPlan

/// Determines the idempotency key of each commit whose intent is about to be recorded.
struct CommitKeys {
  private let plan: Plan
  /// The rounds, by manifest.
  private let rounds: [Int64]

  /// - Parameter rounds: the rounds, by manifest.
  init(_ plan: Plan, rounds: [Int64]) {
    self.plan = plan
    self.rounds = rounds
  }

  /// The key to send with the item's next commit; `nil` if the manifest does not specify one.
  ///
  /// The key of an earlier intent is kept: all commits of one delivery have the same key, even if the round,
  /// the name of the header field or another setting from which the key is computed has changed since.
  func key(of ref: ItemRef, _ known: ItemValues, _ scheduler: Scheduler) -> CommitKey? {
    let node = plan.nodes[ref.node.index]
    guard let item = ref.item, case .upload(let work) = node.work,
      let header = work.commit?.idempotencyHeader
    else { return nil }
    if let value = known.commitKey?.value { return CommitKey(header: header, value: value) }
    let isOfRound = work.deliver == .everyRun && work.allocate == nil
    return scheduler.withItems(of: ref.node) { table in
      let key = IdempotencyKey(
        manifest: plan.manifests[node.manifest.index], upload: node.name,
        origin: work.first.origin?.description ?? "", path: Array(table.files.path(item)),
        size: table.files.sizes[item], modified: table.files.modified[item], captures: known.allocate,
        sha256: work.comparesContent ? known.sha256 : nil,
        round: isOfRound ? rounds[node.manifest.index] : nil)
      return CommitKey(header: header, value: key.text)
    }
  }
}
