import FerryJournal
import FerryPlan

/// Upload IDs that will not be used.
extension LaunchState {
  /// The maximum number of upload IDs that a launch releases per upload, because they are held in memory.
  private static let mostOrphans = 10_000

  /// Finds the orphans of earlier launches that the current steps can release.
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

  /// The number of upload IDs that a run drops when it starts, by node.
  var dropCounts: [NodeID: Int] { drops.reduce(into: [:]) { $0[$1.node, default: 0] += 1 } }

  /// The number of upload IDs that a run with this state releases, by node. It includes those that the run drops
  /// itself, which are not orphans yet.
  var releaseCounts: [NodeID: Int] {
    drops.reduce(into: orphanCounts) { if $1.isReleased { $0[$1.node, default: 0] += 1 } }
  }

  /// Turns the upload IDs of files that start over into orphans, and records from which point on an upload with a
  /// newly allocated ID may count as delivered. Called before a run; its items no longer hold the dropped IDs.
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
