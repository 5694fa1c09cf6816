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
  private let selects: ([UInt8]) -> Bool
  /// The real paths of both roots.
  private let root: [UInt8]
  private let otherRoot: [UInt8]

  /// - Parameters:
  ///   - lister: that of the upload whose files are checked.
  ///   - otherLister: that of the other upload.
  /// - Throws: `ListingFailure` if a root cannot be opened.
  init(
    _ lister: FileLister, other: NodeID, _ work: UploadWork, _ otherLister: FileLister, row: NodeRow?,
    journal: SessionJournal?
  ) throws {
    (root, otherRoot) = (try lister.folder().real, try otherLister.folder().real)
    (self.other, self.row, self.journal, deliver) = (other, row, journal, work.deliver)
    switch (lister.source, otherLister.source) {
    case (_, .globs(let include, let exclude)):
      let (include, exclude) = (try GlobMatcher(include), try GlobMatcher(exclude))
      selects = { include.matches($0) && !exclude.matches($0) }
    case (.list(let list, _), .list(let otherList, _)) where list == otherList && root == otherRoot:
      selects = { _ in true }
    case (_, .list("-", _)), (_, .items): selects = { _ in false }
    case (_, .list):
      // If the list can no longer be read, it may contain every file.
      let paths = (try? otherLister.list(journal, row).files).map { files in
        Set((0..<files.count).map { Array(files.path($0)) })
      }
      selects = { paths?.contains($0) ?? true }
    }
  }

  /// Returns the files without those that the other upload has not sent in the same version.
  func sent(_ files: FileColumns, _ scheduler: Scheduler) throws(JournalError) -> FileColumns {
    var sent = FileColumns()
    for file in 0..<files.count where try isSent(file, of: files, scheduler) { sent.append(file, of: files) }
    return sent
  }

  private func isSent(
    _ file: Int, of files: FileColumns, _ scheduler: Scheduler
  ) throws(JournalError) -> Bool {
    guard let path = otherPath(of: files.path(file)) else { return true }
    var named = FileColumns()
    named.append(path: path, size: files.sizes[file], modified: files.modified[file])
    if let isSent = scheduler.hasDelivered(0, of: named, by: other) { return isSent }
    var isSent = !selects(path)
    guard let row, let journal, row.id != 0 else { return isSent }
    try journal.meet(node: row.id, path: path) { item throws(JournalError) in
      // With `deliver: once`, a file that was delivered is not sent again if it changes.
      let isSame =
        deliver == .once || item.size == files.sizes[file] && item.modified == files.modified[file]
      isSent = try item.state == .done && isSame
    }
    return isSent
  }

  /// The path of a file relative to the root of the other upload; `nil` if the file is not inside that root.
  private func otherPath(of path: some Collection<UInt8>) -> [UInt8]? {
    if root == otherRoot { return Array(path) }
    let whole = (root == [0x2F] ? root : root + [0x2F]) + path
    let folder = otherRoot == [0x2F] ? otherRoot : otherRoot + [0x2F]
    return whole.starts(with: folder) ? Array(whole.dropFirst(folder.count)) : nil
  }
}
