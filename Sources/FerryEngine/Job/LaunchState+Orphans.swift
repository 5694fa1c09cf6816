import FerryJournal
import FerryPlan

/// Upload IDs that will not be used.
extension LaunchState {
  /// Of one upload, a launch releases so many at most: they are held in memory.
  private static let mostOrphans = 10_000

  /// Finds those that earlier launches left and that the present steps can release.
  mutating func findOrphans(
    of id: NodeID, _ work: UploadWork, _ row: NodeRow?, _ journal: SessionJournal?
  ) throws(JournalError) {
    guard let abandon = work.abandon, let row, let journal, row.id != 0 else { return }
    let found = try journal.releasableOrphans(node: row.id, limit: Self.mostOrphans)
      .filter { abandon.lackedCapture(of: $0) == nil }
    orphans[id.index] = found.isEmpty ? nil : found
  }

  var orphanCounts: [NodeID: Int] {
    Dictionary(uniqueKeysWithValues: orphans.map { (NodeID($0.key), $0.value.count) })
  }

  /// How many upload IDs a run drops as it begins.
  var dropCounts: [NodeID: Int] { drops.reduce(into: [:]) { $0[$1.node, default: 0] += 1 } }

  /// How many a run releases that finds all this: those that it drops itself are no orphans yet.
  var releaseCounts: [NodeID: Int] {
    drops.reduce(into: orphanCounts) { if $1.isReleased { $0[$1.node, default: 0] += 1 } }
  }

  /// Before a run: makes orphans of the upload IDs of files that start over, and notes from where on those that it
  /// allocates may count. Its items hold none of them any more.
  mutating func dropUploadIDs(
    of plan: Plan, in journals: SessionJournals, at now: Instant
  ) throws(JournalError) {
    for (session, journal) in journals.all.enumerated() {
      try journal?.dropUploadIDs(
        drops.filter { $0.session == session }.map { ($0.row, $0.reason) }, at: now)
    }
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work, work.allocate != nil, let row = rows[index],
        let journal = journals.all[node.session.index]
      else { continue }
      try journal.setCountingPoint(work.countingPoint, node: row.id)
      if !drops.isEmpty, case .upload = starts[index] {
        try findOrphans(of: NodeID(index), work, row, journal)
      }
    }
  }
}
