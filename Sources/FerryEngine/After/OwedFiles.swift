import FerryJournal
import FerryManifest
import FerryPlan

/// Executes, before a run, the `after` actions that earlier runs did not complete.
enum OwedFiles {
  /// The number of files that share one sync of their folders and of the journal.
  private static let batch = 4096

  /// Executes the pending `after` actions of the selected uploads.
  ///
  /// - Parameter isStopped: checked before each file; the remaining files stay pending.
  /// - Returns: the results, by node.
  static func settle(
    _ plan: Plan, _ journals: SessionJournals, _ selection: Selection, listers: [Int: FileLister],
    unless isStopped: () -> Bool
  ) throws -> [Int: PostDeliveryMetrics] {
    var metrics: [Int: PostDeliveryMetrics] = [:]
    // An upload has one row for each server to which its files were sent.
    for (index, rows) in try journals.uploadRows(of: plan).sorted(by: { $0.key < $1.key })
    where selection.contains(NodeID(index)) {
      let node = plan.nodes[index]
      guard let journal = journals.all[node.session.index], let lister = listers[index] else { continue }
      for row in rows {
        try settle(
          node.after, row: row.id, in: journal, lister: lister, unless: isStopped,
          &metrics[index, default: PostDeliveryMetrics()])
      }
    }
    return metrics
  }

  /// Executes the pending `after` actions of one node, and records the results in the journal.
  ///
  /// - Parameters:
  ///   - row: the node's row in the journal.
  ///   - lister: the lister of the upload's files.
  private static func settle(
    _ after: Upload.After, row: Int64, in journal: SessionJournal, lister: FileLister,
    unless isStopped: () -> Bool, _ metrics: inout PostDeliveryMetrics
  ) throws {
    var owed: [DeliveredFile] = []
    try journal.forEachOwed(node: row) { owed.append(DeliveredFile($0)) }
    guard !owed.isEmpty else { return }
    // `delivery` is `nil` if the manifest now specifies `keep`.
    let delivery = AfterDelivery(after, of: lister)
    for start in stride(from: 0, to: owed.count, by: batch) where !isStopped() {
      var results: [(DeliveredFile, AfterResult)] = []
      for file in owed[start..<min(start + batch, owed.count)] {
        // Check before each file: at the end of a very long path, deleting or moving a file takes
        // milliseconds.
        if isStopped() { break }
        results.append((file, delivery?.carryOut(file) ?? AfterResult(state: .kept)))
      }
      let isSynced = delivery?.sync() ?? true
      for (file, result) in results { metrics.count(result, of: file.path) }
      guard isSynced else { continue }
      try journal.settle(
        results.compactMap { file, result in
          result.state == .owed && file.isTried ? nil : (file.row, result.state)
        })
    }
  }
}
