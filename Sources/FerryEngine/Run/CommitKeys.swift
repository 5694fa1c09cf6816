import FerryJournal
import FerryPlan

/// Determines the idempotency key of each commit whose intent is about to be recorded, and what waits for the intent.
///
/// This is a class, because each use of a struct with a plan would copy it.
final class CommitKeys {
  private let plan: Plan
  /// The rounds, by manifest.
  private let rounds: [Int64]
  /// By node.
  private let held: [JournalWrite.HeldByIntent]

  /// - Parameter rounds: the rounds, by manifest.
  init(_ plan: Plan, rounds: [Int64]) {
    self.plan = plan
    self.rounds = rounds
    held = plan.nodes.map { node in
      guard case .upload(let work) = node.work, let commit = work.commit else { return .connection }
      let connections = plan.sessions[node.session.index].maxConnectionsPerHost
      let limit =
        commit.repeatability == .once
        ? IntentLimit.steps(connections: connections) : IntentLimit.commits(connections: connections)
      return .requestOnly(group: limit / 2)
    }
  }

  /// What waits for the intent of a commit. Meanwhile, the scheduler uses the connections for other requests, until the
  /// `IntentLimit` is reached. The intents are synced when there are half as many.
  func heldByIntent(of node: NodeID) -> JournalWrite.HeldByIntent { held[node.index] }

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
