import FerryJournal
import FerryPlan

/// Reports requests that may have been executed.
extension Launch {
  /// Adds to the record the details of requests that may have been executed.
  ///
  /// - Parameter rows: the journal rows of the nodes, including those of manifests that have joined the run.
  func tellAmbiguities(
    _ record: inout RunRecord, _ scheduler: Scheduler, _ journals: SessionJournals, rows: [NodeRow?],
    former: [NodeID: FormerRequests.Entry]
  ) throws {
    // The record contains the items in the order of `metrics.notes`.
    for (index, note) in scheduler.metrics.notes.enumerated() where note.state == .ambiguous {
      let id = note.ref.node
      guard let row = rows[id.index], let path = scheduler.path(of: note.ref),
        let journal = journals.all[jobs.plan.nodes[id.index].session.index]
      else { continue }
      let finder = AmbiguityFinder(
        session: journal.identifier, state: state, row: row, node: jobs.own(id), isDurable: journal.isDurable)
      try journal.item(node: row.id, path: Array(path)) { item in
        record.items[index].ambiguity = finder.ambiguity(of: try SessionJournal.ambiguous(item))
      }
    }
    let folder = try folderOfSingles
    for index in record.nodes.indices
    where record.nodes[index].state == .ambiguous && !record.nodes[index].kind.hasItems {
      let id = NodeID(index)
      if let entry = former[id] {
        record.nodes[index].ambiguity =
          AmbiguityFinder(session: entry.session, state: folder, row: entry.row, node: jobs.own(id)).ambiguity
        continue
      }
      guard let row = rows[index],
        let journal = journals.all[jobs.plan.nodes[index].session.index],
        let known = try journal.nodes.first(where: { $0.id == row.id })
      else { continue }
      record.nodes[index].ambiguity =
        AmbiguityFinder(
          session: journal.identifier, state: folder, row: known, node: jobs.own(id),
          isDurable: journal.isDurable
        ).ambiguity
    }
  }

  /// The state folder whose journals have the outcomes of requests and fetches. A shard uses those of `setup`.
  private var folderOfSingles: StateDirectory {
    get throws(JournalError) {
      switch jobs.all.first?.part {
      case .items(let shard): try state.sibling(.once(count: shard.count))
      case .setup, .finish, nil: state
      }
    }
  }
}
