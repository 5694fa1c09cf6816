import FerryJournal
import FerryPlan
import FerryTransfer

extension LaunchState {
  /// Reads an upload's delivered files if their size and modification time do not show whether they changed. Returns
  /// the results in the order of the listing; empty if no file needs to be read. For a download batch, reports the
  /// missing files without reading any.
  mutating func answers(
    _ id: NodeID, _ work: UploadWork, _ row: NodeRow?, _ journal: SessionJournal?, _ listing: Listing?,
    root: SourceRoot?, _ stopCheck: StopCheck
  ) throws -> [ContentComparison] {
    if let listing, let missing = work.missing(of: listing.files, beneath: root, stopCheck) { return missing }
    guard work.comparesContent, let listing, let row, let journal, row.id != 0 else { return [] }
    var questions = ContentQuestions(listing: listing.files)
    let isAll = try stopCheck.forEachRow { check in
      try journal.forEachItem(node: row.id) { item in
        try check()
        let known = try item.known
        item.withPath { questions.meet(known, delivered: item.digest, path: $0) }
      }
    }
    // If the run was stopped, no contents are compared.
    guard isAll else { return [] }
    if let root { contents?.answer(&questions, of: listing.files, root: root) }
    confirmed[id.index] = questions.confirmed
    return questions.answers
  }
}

extension ItemRow {
  /// The digest of the last sent content, if known.
  var digest: ContentDigest? { sha256.flatMap { ContentDigest($0) } }
}
