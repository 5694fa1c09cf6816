import FerryJournal
import FerryPlan

/// Reports why items were canceled.
extension Launch {
  /// Adds to the record the reasons why items of its rounds were canceled, in this run or earlier. Items that no run
  /// has begun are not listed one by one.
  ///
  /// - Parameter rows: the journal rows of the nodes, including those of manifests that have joined the run.
  func tellCancellations(
    _ record: inout RunRecord, rounds: [Int64], _ journals: SessionJournals, rows: [NodeRow?]
  ) throws(JournalError) {
    var known: [Int: [SessionJournal.CancelledItems]] = [:]
    for index in record.nodes.indices where record.nodes[index].items?.cancelled ?? 0 > 0 {
      let node = jobs.plan.nodes[index]
      guard let row = rows[index], let journal = journals.all[node.session.index] else { continue }
      if known[node.session.index] == nil { known[node.session.index] = try journal.cancelledItems() }
      record.nodes[index].cancellations = known[node.session.index]?.records(
        node: row.id, round: rounds[node.manifest.index])
    }
  }
}

extension [SessionJournal.CancelledItems] {
  /// At most 100 reasons for which items of a node were canceled in a round; `nil` if no items were canceled.
  func records(node: Int64, round: Int64) -> [RunRecord.CancellationRecord]? {
    let records = filter { $0.node == node && $0.round == round }.prefix(100).map {
      RunRecord.CancellationRecord(code: $0.failure.code, message: $0.failure.message, items: $0.count)
    }
    return records.isEmpty ? nil : records
  }
}
