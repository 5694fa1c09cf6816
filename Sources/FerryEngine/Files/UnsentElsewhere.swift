import FerryJournal
import FerryManifest
import FerryPlan

/// Finds the files of an upload that another upload, which the first one needs, selects but has not sent. If the first
/// upload sent and then deleted or moved such a file, the other one would never send it.
///
/// The list of the first upload may be newer than the files of the other one.
struct UnsentElsewhere {
  private let other: NodeID
  private let row: NodeRow?
  private let journal: SessionJournal?
  private let deliver: Upload.Deliver
  /// The patterns of the other upload; `nil` if it has the same list.
  private let globs: (include: GlobMatcher, exclude: GlobMatcher)?

  /// - Returns: `nil` if the uploads do not select files from the same folder, or have different lists.
  init?(
    _ lister: FileLister, other: NodeID, _ work: UploadWork, _ otherLister: FileLister, row: NodeRow?,
    journal: SessionJournal?
  ) throws(ListingFailure) {
    guard lister.root == otherLister.root else { return nil }
    switch (lister.source, otherLister.source) {
    case (.list, .globs(let include, let exclude)):
      globs = (try GlobMatcher(include), try GlobMatcher(exclude))
    case (.list(let list, _), .list(let otherList, _)) where list == otherList: globs = nil
    default: return nil
    }
    (self.other, self.row, self.journal, deliver) = (other, row, journal, work.deliver)
  }

  /// Returns the files without those that the other upload has not sent in the same version.
  func sent(_ files: FileColumns, _ scheduler: Scheduler) throws(JournalError) -> FileColumns {
    var isSent = (0..<files.count).map { scheduler.hasDelivered($0, of: files, by: other) }
    if let row, let journal, row.id != 0 {
      for file in 0..<files.count where isSent[file] == nil {
        try journal.meet(node: row.id, path: Array(files.path(file))) { item throws(JournalError) in
          // With `deliver: once`, a file that was delivered is not sent again if it changes.
          let isSame =
            deliver == .once
            || item.size == files.sizes[file] && item.modified == files.modified[file]
          isSent[file] = try item.state == .done && isSame
        }
      }
    }
    var sent = FileColumns()
    for file in 0..<files.count where isSent[file] ?? !isSelected(Array(files.path(file))) {
      sent.append(file, of: files)
    }
    return sent
  }

  private func isSelected(_ path: [UInt8]) -> Bool {
    globs.map { $0.include.matches(path) && !$0.exclude.matches(path) } ?? true
  }
}
