import FerryJournal
import FerryManifest
import FerryPlan

/// Compares additional files of a run with the items that the journal has recorded for them.
extension SessionJournal {
  /// The files that have to be read before they are reconciled, because their size and modification time do not show
  /// whether they changed.
  func contentQuestions(
    about files: FileColumns, of node: NodeRow
  ) throws(JournalError) -> ContentQuestions {
    var questions = ContentQuestions(listing: files)
    try forEachItem(node: node.id, of: files) { item, path throws(JournalError) in
      let known = try item.known
      path.withUnsafeBytes { questions.meet(known, delivered: item.digest, path: $0) }
    }
    return questions
  }

  /// Reconciles files with their items.
  ///
  /// - Parameters:
  ///   - contents: the results of reading the files; empty if the upload does not compare contents.
  ///   - submitted: the submitted files to which the files belong; `nil` for a listing.
  ///   - now: the present time.
  ///   - nextRow: the next free row of the journal; advanced by the number of new items.
  func reconcile(
    _ files: FileColumns, of node: NodeRow, deliver: Upload.Deliver, contents: [ContentComparison],
    round: Int64, submitted: SubmittedFiles? = nil, at now: Instant, nextRow: inout Int64
  ) throws(JournalError) -> Reconciliation {
    var reconciliation = Reconciliation(
      listing: files, deliver: deliver, contents: contents, round: round, nextRow: nextRow)
    try forEachItem(node: node.id, of: files) { item, path throws(JournalError) in
      var known = try item.known
      // The others remain for the next run.
      if known.state == .done { known.isSubmittedAnew = submitted?.isOther(item, at: now) ?? false }
      reconciliation.meet(known, path: path)
    }
    reconciliation.finish()
    nextRow = reconciliation.nextRow
    return reconciliation
  }
}
